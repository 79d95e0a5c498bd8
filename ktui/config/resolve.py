"""Find the effective value of a setting and its source: default, file, context, environment or option."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ktui.config.contexts import NONE, SOURCES, Context
from ktui.config.document import Config
from ktui.config.errors import ConfigError, nearest
from ktui.config.settings import CONTEXT_ENV, Setting, environment_names, read_variable


class ResolvedValue(Struct, frozen=True):
    """A value; `source` is "default", "config", "context", "env" or "flag", `where` its place in there."""

    value: Any
    source: str
    where: str = ""


class Chosen(Struct, frozen=True):
    """A context and what selected it."""

    context: Context
    source: str
    where: str


def preset(
    setting: Setting, config: Config, chosen: Chosen | None, environ: Mapping[str, str]
) -> ResolvedValue | None:
    """Return the value that replaces the default if no option is given; None if there is none.

    Raises ConfigError.
    """
    if environ.get(setting.env):
        return ResolvedValue(read_variable(setting, environ[setting.env]), "env", setting.env)
    if (
        chosen is not None
        and setting.table in ("dashboard", "server")
        and setting.dest in chosen.context.values
    ):
        return ResolvedValue(
            chosen.context.values[setting.dest], "context", chosen.context.places[setting.dest]
        )
    if setting.id in config.values:
        return ResolvedValue(
            config.values[setting.id], "config", config.file.where(setting.table, setting.name)
        )
    return None


def choose_context(
    config: Config, environ: Mapping[str, str], *, flag: str | None, given: Iterable[str]
) -> Chosen | None:
    """Return the context of `--context` (None: not given), of KTUI_CONTEXT, or of the file.

    `given` are the options on the command line, by attribute. A source among them replaces the context,
    and conflicts with `--context`. Raises ConfigError.
    """
    sources = [f"--{name}" for name in (*SOURCES, "replay", "demo") if name in given]
    name, source, where = _named(config, environ, flag)
    if name in ("", NONE):
        return None
    context = config.contexts.get(name)
    if context is None:
        raise ConfigError(
            f"{where}: there is no context {name!r} in {config.file.path}; {nearest(name, config.contexts)}"
        )
    if not sources:
        return Chosen(context, source, where)
    if source == "flag" and context.source:
        raise ConfigError(
            f"{sources[0]} and --context {name} exclude each other: the context names {context.source}"
        )
    return Chosen(context, source, where) if source == "flag" else None


def _named(config: Config, environ: Mapping[str, str], flag: str | None) -> tuple[str, str, str]:
    if flag is not None:
        return flag, "flag", "--context"
    if CONTEXT_ENV in environ:
        return environ[CONTEXT_ENV], "env", CONTEXT_ENV
    return config.context, "config", config.file.where("context")


def strange_variables(environ: Mapping[str, str]) -> list[str]:
    known = environment_names()
    return [
        f"{name} means nothing to ktui; {nearest(name, known)}"
        for name in sorted(environ)
        if name.startswith("KTUI_") and name not in known
    ]
