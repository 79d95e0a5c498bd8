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
    """Return what replaces the default if no option is given; None if nothing. Raises ConfigError."""
    if environ.get(setting.env):
        return ResolvedValue(read_variable(setting, environ[setting.env]), "env", setting.env)
    context, dest = chosen.context if chosen is not None else None, setting.dest
    if context is not None and setting.table in ("dashboard", "server") and dest in context.values:
        return ResolvedValue(context.values[dest], "context", context.places[dest])
    if setting.id in config.values:
        where = config.file.where(setting.table, setting.name)
        return ResolvedValue(config.values[setting.id], "config", where)
    return None


def choose_context(
    config: Config, environ: Mapping[str, str], *, flag: str | None, given: Iterable[str]
) -> Chosen | None:
    """Return the context of `--context` (None: not given), of KTUI_CONTEXT, or of the file.

    `given` are the options on the command line, by attribute. A source among them replaces the context,
    and conflicts with `--context`. Raises ConfigError.
    """
    sources = [f"--{name}" for name in (*SOURCES, "replay", "demo") if name in given]
    name, source, where = config.context, "config", config.file.where("context")
    if flag is not None:
        name, source, where = flag, "flag", "--context"
    elif CONTEXT_ENV in environ:
        name, source, where = environ[CONTEXT_ENV], "env", CONTEXT_ENV
    if name in ("", NONE):
        return None
    context = config.contexts.get(name)
    if context is None:
        hint = nearest(name, config.contexts)
        raise ConfigError(f"{where}: there is no context {name!r} in {config.file.path}; {hint}")
    if not sources:
        return Chosen(context, source, where)
    if source == "flag" and context.source:
        both = f"{sources[0]} and --context {name} exclude each other"
        raise ConfigError(f"{both}: the context names {context.source}")
    return Chosen(context, source, where) if source == "flag" else None


def strange_variables(environ: Mapping[str, str]) -> list[str]:
    known = environment_names()
    return [
        f"{name} means nothing to ktui; {nearest(name, known)}"
        for name in sorted(environ)
        if name.startswith("KTUI_") and name not in known
    ]
