"""A command's effective options: from its arguments, else the environment, else the config file."""

from __future__ import annotations

import argparse
import difflib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from msgspec import Struct, field

from ktui.cli.options import take_token
from ktui.cli.output import USAGE, fail, warn
from ktui.config.contexts import NONE
from ktui.config.document import Config, read_config
from ktui.config.errors import ConfigError, nearest
from ktui.config.places import CONFIG_ENV, config_file
from ktui.config.resolve import Chosen, ResolvedValue, choose_context, preset
from ktui.config.settings import SERVE, settings_of
from ktui.config.tomlfile import TomlFile

ALIKE = 0.7  # of two words: a letter more or less, or two in another order
_UNKNOWN = r"unrecognized arguments: (\S+)"


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of a text that has several, as examples; wraps the others."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


class Parser(argparse.ArgumentParser):
    """ArgumentParser with errors of one line, which its usage of twenty would hide; also of commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _HelpFormatter, **options})

    def error(self, message: str) -> NoReturn:
        text = message.removeprefix("argument ")
        if unknown := re.match(_UNKNOWN, message):
            word = unknown[1]
            options = {o.lstrip("-"): o for action in self._actions for o in action.option_strings}
            # Without the dashes, which all have in common.
            close = difflib.get_close_matches(word.partition("=")[0].lstrip("-"), options, n=1, cutoff=ALIKE)
            hint = f", did you mean {options[close[0]]}?" if close else ""
            no_option = f"there is no option {word}{hint}"
            text = no_option if word.startswith("-") else f"{word!r} is an unexpected argument"
        self.exit(fail(f"{text}; `{self.prog} --help` for details", USAGE))


# Commands that send requests to a cluster: their context never comes from the config file.
SENDING = ("list", "bench", "observe", "record", "mcp")
_UNSET = object()


class Configured(Struct, frozen=True):
    """The effective options: each value by its argument's attribute, with its source."""

    config: Config
    chosen: Chosen | None = None
    values: Mapping[str, ResolvedValue] = field(default_factory=dict)


def parse(
    parser: argparse.ArgumentParser, words: Sequence[str], command: str,
    environ: Mapping[str, str] = os.environ,
) -> argparse.Namespace:  # fmt: skip
    """Return the arguments of `command`; `.configured` has the source of each. Raises ConfigError.

    A dashboard's server (`--parent`) receives everything as options, and reads neither file nor variables.
    """
    line = _parsed(parser, words, command)
    args = line.args
    child = bool(getattr(args, "parent", None))
    environ = {} if child else environ
    given = getattr(args, "config", "") or ""
    path = config_file(environ, given)
    required = bool(given or environ.get(CONFIG_ENV))
    config = Config(TomlFile(path)) if child else read_config(path, required=required)
    chosen = _context(line, config, environ)
    values = _fill(line, config, chosen, environ)
    for warning in config.warnings:
        warn(f"warning: {warning}")
    if "token_file" in line.options:
        take_token(args, line.given)
    args.configured = Configured(config, chosen, values)
    return args


class _Line(Struct, frozen=True):
    """A parsed command line: its options by attribute, and the attributes of those that were `given`."""

    command: str
    args: argparse.Namespace
    options: Mapping[str, argparse.Action]
    given: set[str]


def _parsed(parser: argparse.ArgumentParser, words: Sequence[str], command: str) -> _Line:
    options = {action.dest: action for action in parser._actions if action.option_strings}
    # What a repeatable option appends to has to be a list or None.
    unset = {dest: None if isinstance(a, argparse._AppendAction) else _UNSET for dest, a in options.items()}
    args = parser.parse_args(words, argparse.Namespace(**unset))
    given = {dest for dest in options if getattr(args, dest) is not unset[dest]}
    for dest in options.keys() - given:
        kind, default = options[dest].type, options[dest].default
        value = kind(default) if isinstance(default, str) and callable(kind) else default
        setattr(args, dest, None if value is argparse.SUPPRESS else value)
    return _Line(command, args, options, given)


def _context(line: _Line, config: Config, environ: Mapping[str, str]) -> Chosen | None:
    """Return the chosen context of ktui's config; None if `args.context` is one of the kubeconfig."""
    args, given, command = line.args, line.given, line.command
    if not hasattr(args, "context"):
        return None
    flag = args.context if "context" in given and "kubeconfig" not in given else None
    if command in SENDING and (flag is None or "attach" in given):
        return None
    if flag not in (None, "", NONE) and flag not in config.contexts and command != SERVE:
        _check_kubeconfig_context(flag, config)
        return None
    chosen = choose_context(config, environ, flag=flag, given=given)
    if flag is not None:
        args.context = ""
    if command == SERVE and chosen is not None and chosen.context.source not in ("etcd", "snapshot"):
        if chosen.source != "flag":
            return None  # meant for the dashboard
        raise ConfigError(f"--context {flag} names neither an etcd nor a snapshot")
    return chosen


def _check_kubeconfig_context(name: str, config: Config) -> None:
    from ktui.client.connection import ClientError  # start-up time
    from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts

    try:
        names, _ = read_contexts(kubeconfig_files())
    except ClientError:
        names = []
    if name not in names:
        known = [*config.contexts, *names]
        raise ConfigError(
            f"there is no context {name!r}, neither in {config.file.path} nor in a kubeconfig; "
            f"{nearest(name, known)}"
        )


def _fill(
    line: _Line, config: Config, chosen: Chosen | None, environ: Mapping[str, str]
) -> dict[str, ResolvedValue]:
    """Set the options that were not given, and return every option's value with its source."""
    args, options, given = line.args, line.options, line.given
    found = {dest: ResolvedValue(getattr(args, dest), "default") for dest in options}
    found |= {
        dest: ResolvedValue(getattr(args, dest), "flag", options[dest].option_strings[-1]) for dest in given
    }
    if chosen is not None:
        found |= _of_context(chosen, line)
    for setting in settings_of(line.command):
        known = None if setting.dest in given else preset(setting, config, chosen, environ)
        if known is not None:
            found[setting.dest] = known
    for dest, value in found.items():
        setattr(args, dest, value.value)
    return found


def _of_context(chosen: Chosen, line: _Line) -> dict[str, ResolvedValue]:
    context = chosen.context
    values = dict(context.values)
    given = line.given - {"context"}  # its value is the name of this context
    if context.kube and "kubeconfig" not in given:
        # From here on --context is the kubeconfig's.
        values |= {"kubeconfig": values.get("kubeconfig", ""), "context": values.pop("kube_context", "")}
        if line.command in SENDING:
            values.pop("attach", None)  # they send to the kube-apiserver itself
    return {
        dest: ResolvedValue(value, "context", context.places.get(dest, chosen.where))
        for dest, value in values.items()
        if dest in line.options and dest not in given
    }
