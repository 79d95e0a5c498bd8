"""The description of a command as data, and the types of its options' values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, NamedTuple

Part = Callable[[Any], None]  # adds an option, a group or subcommands to a parser or to a group


def option(form: str, about: str = argparse.SUPPRESS, **more: Any) -> Part:
    """Return an option or an argument. `form` is as help shows it: `--top N`, `-i --screen` (a switch),
    `path PATH`.

    Without `about` it is not shown. `more` are argparse's parameters.
    """
    words = form.split()
    names = [word for word in words if word.startswith("-")] or words[:1]
    if len(names) < len(words):
        more = {"metavar": words[-1], **more}
    elif not more.keys() & {"action", "choices"}:
        more = {"action": "store_true", **more}
    return lambda to: to.add_argument(*names, help=about, **more)


def yes_or_no(form: str, about: str, default: bool | None = None) -> Part:
    """Return an option with a `--no-` form."""
    return option(form, about, action=argparse.BooleanOptionalAction, default=default)


def group(title: str, *parts: Part) -> Part:
    """Return options under a title."""
    return lambda to: add_all(to.add_argument_group(title), parts)


def one_of(*parts: Part) -> Part:
    """Return options that exclude each other."""
    return lambda to: add_all(to.add_mutually_exclusive_group(), parts)


def add_all(to: Any, parts: Iterable[Part]) -> None:
    for add in parts:
        add(to)


CONFIG = option(
    "--config FILE",
    "the config file (default: KTUI_CONFIG, or ktui/config.toml in $XDG_CONFIG_HOME or ~/.config)",
    default="",
)


class CliCommand(NamedTuple):
    """A command. `work` is the name of a function of its arguments that returns the exit status.

    `settings`: options have settings in the config file, so that the command takes `--config`.
    """

    work: str
    description: str
    parts: Iterable[Part]
    epilog: str | None = None
    usage: str | None = None
    settings: bool = True

    def run(self, args: argparse.Namespace) -> int:
        module, _, name = self.work.rpartition(".")
        status: int = getattr(import_module(module), name)(args)
        return status

    def add_to(self, subparsers: Any, name: str, about: str) -> argparse.ArgumentParser:
        """Add the command's parser; `about` is one line."""
        parser: argparse.ArgumentParser = subparsers.add_parser(
            name, help=about, description=self.description, epilog=self.epilog, usage=self.usage
        )
        add_all(parser, (*self.parts, *([CONFIG] if self.settings else [])))
        return parser


def subcommands(dest: str, commands: Mapping[str, tuple[str, CliCommand]]) -> Part:
    """Return commands of a command, by name: their line in its help, their description, their options."""

    def add(to: Any) -> None:
        subparsers = to.add_subparsers(dest=dest, required=True, metavar="|".join(commands))
        for name, (about, command) in commands.items():
            command.add_to(subparsers, name, about)

    return add


# Types of values.

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_NUMBER = r"([0-9]{1,6}(?:\.[0-9]{1,3})?)"  # patterns are compiled when an option is given: `re` keeps them
_WHOLE = r"([0-9]{1,6})"
LONGEST = 24 * 3600.0
LONGEST_DAYS = 366


def _in_seconds(text: str, pattern: str) -> float | None:
    """Return a time that `pattern` matches as number and unit (none: seconds) in seconds, else None."""
    found = re.fullmatch(pattern, text.strip())
    return float(found[1]) * _UNITS[found[2] or "s"] if found else None


def seconds(text: str) -> float:
    """Parse `30s`, `5m`, `1h`, or a number of seconds. Raises ArgumentTypeError."""
    value = _in_seconds(text, _NUMBER + "(ms|s|m|h)?") or 0.0
    if not 0 < value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a day: write it like 30s or 5m")
    return value


def long_seconds(text: str) -> float:
    """Parse `90m`, `48h`, `7d`: up to a year. Raises ArgumentTypeError."""
    value = _in_seconds(text, _WHOLE + "(s|m|h|d)") or 0.0
    if not 0 < value <= LONGEST_DAYS * _UNITS["d"]:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a year: write it like 48h or 7d")
    return value


def moment(text: str) -> int:
    """Parse `2026-11-23T10:00:00Z`, `2026-11-23`, or `90m` (before now): microseconds since 1970, UTC without
    a zone. Raises ArgumentTypeError."""
    if (ago := _in_seconds(text, _WHOLE + "(s|m|h|d)")) is not None:
        at = datetime.now(UTC) - timedelta(seconds=ago)
    else:
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a time: write it like 2026-11-23T10:00:00Z, or 2h for two hours ago"
            ) from None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1e6)


_SIZE = r"(?i)([0-9]{1,6}(?:\.[0-9]{1,3})?)([KMGT])(i?)B?"


def size(text: str) -> int:
    """Parse `500MB`, `2GB`, `2Gi`: bytes, by 1000 or with an i by 1024. Raises ArgumentTypeError."""
    found = re.fullmatch(_SIZE, text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write it like 500MB or 2GB")
    unit = 1024 if found[3] else 1000
    return round(float(found[1]) * float(unit) ** ("KMGT".index(found[2].upper()) + 1))


def count(text: str) -> int:
    """Parse a positive number; thousands separators are allowed. Raises ArgumentTypeError."""
    try:
        number = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return number
