"""Write the manual page from the argument parsers and the table of settings.

usage: python tools/manpage.py [FILE]        (default: docs/man/ktui.1)
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ktui import __version__
from ktui.cli.main import COMMANDS, dashboard_parser, parser_of
from ktui.config.settings import SETTINGS

FILE = Path(__file__).parents[1] / "docs" / "man" / "ktui.1"

FILES = (
    ("$XDG_CONFIG_HOME/ktui/config.toml", "settings and contexts; `ktui info` shows which file it is"),
    ("$XDG_CONFIG_HOME/ktui/themes/*.toml", "themes of yours"),
    ("$XDG_STATE_HOME/ktui/crash.log", "tracebacks, where --log-file names no other place (mode 0600)"),
    ("$XDG_STATE_HOME/ktui/servers", "servers that run: how to be let in, a kubeconfig (mode 0600)"),
)
MORE_ENVIRONMENT = (
    ("KTUI_CONFIG", "the config file"),
    ("KTUI_CONTEXT", "the context to open, `none` for none"),
    ("KTUI_TOKEN", "bearer token of the server of --attach"),
    ("KUBECONFIG", "kubeconfig files, as for kubectl"),
    ("ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, ETCDCTL_USER, ETCDCTL_PASSWORD",
     "as for etcdctl, where no option and no context says otherwise"),
    ("NO_COLOR", "no colours"),
)  # fmt: skip
EXIT = (
    ("0", "done"),
    ("1", "the server answered an error, or what was begun could not be finished (a full disk)"),
    ("2", "usage, or a config that cannot be understood"),
    ("3", "no connection, or no etcd"),
    ("4, 5", "`ktui ci`: the command failed; it sent no request"),
    ("70", "crashed (a bug in ktui)"),
    ("130", "interrupted (Ctrl-C)"),
)


def page() -> str:
    """Return the whole page. It has no date, so that the same sources make the same page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    parser = dashboard_parser()
    yield f'.TH KTUI 1 "" "ktui {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"ktui \- terminal control\-plane explorer: watch cache or etcd, why, and at what cost"
    yield ".SH SYNOPSIS"
    yield ".B ktui\n.RI [ OPTION ...]\n.br\n.B ktui\n.I COMMAND\n.RI [ OPTION ...]"
    yield ".SH DESCRIPTION"
    yield text(parser.description)
    yield ".PP\nWithout a command ktui opens its dashboard."
    yield ".SH OPTIONS"
    yield from _options(parser)
    yield ".SH COMMANDS"
    for name, (_, about) in COMMANDS.items():
        yield from _command(name, about)
    yield ".SH FILES"
    yield from _list(FILES)
    yield ".SH ENVIRONMENT"
    yield "Options win over variables, and variables over the config file."
    yield from _list(MORE_ENVIRONMENT)
    yield from _list(tuple((each.env, f"{each.about} ([{each.table}] {each.name})") for each in SETTINGS))
    yield ".SH EXIT STATUS"
    yield from _list(EXIT)
    yield ".SH EXAMPLES"
    yield from _verbatim((parser.epilog or "").split("examples:\n", 1)[1].split("\n\n")[0])
    yield ".SH SEE ALSO"
    yield ".BR kubectl (1),\n.BR etcdctl (1)"


def _command(name: str, about: str) -> Iterator[str]:
    parser = parser_of(name)
    yield f".SS ktui {name}"
    yield text(parser.description or about)
    if name in ("web", "info"):
        yield ".PP\nTakes the dashboard's options beside:"
        yield from _options(parser, without={each.dest for each in dashboard_parser()._actions})
    else:
        yield from _options(parser, without={"config"})
    if parser.epilog:
        yield ".PP"
        yield from _verbatim(parser.epilog)
    for each in parser._actions:
        if isinstance(each, argparse._SubParsersAction):
            yield from _parts(name, each)


def _parts(name: str, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> Iterator[str]:
    """Yield the options of a command's subcommands."""
    for choice in commands._choices_actions:
        parser = commands.choices[choice.dest]
        yield f".SS ktui {name} {choice.dest}"
        about = choice.help or ""
        yield text(f"{about[:1].upper()}{about[1:]}. {parser.description or ''}")
        yield from _options(parser)


def _options(
    parser: argparse.ArgumentParser, without: frozenset[str] | set[str] = frozenset()
) -> Iterator[str]:
    for group in parser._action_groups:
        for action in group._group_actions:
            shown = action.help != argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)
            if shown and action.dest not in {*without, "help", "version"}:
                yield from _option(parser, action)


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> Iterator[str]:
    value = _metavar(action)
    names = ", ".join(rf"\fB{roff(name)}\fR" for name in action.option_strings)
    yield ".TP"
    yield " ".join(filter(None, (names, value)))
    about = (action.help or "") % {**vars(action), "prog": parser.prog}
    yield text(about)


def _metavar(action: argparse.Action) -> str:
    """Return the value's name after an option, or the name of an argument."""
    if action.nargs == 0:
        return ""
    name = action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper()
    shown = rf"\fI{roff(str(name))}\fR"
    if action.nargs == "?":
        return f"[{shown}]"
    return f"{shown} ..." if action.nargs == "+" else shown


def _list(rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, about in rows:
        yield f".TP\n.B {roff(name)}\n{text(about)}"


def _verbatim(block: str) -> Iterator[str]:
    yield ".nf"
    yield from (_safe_line(roff(line)) for line in block.splitlines())
    yield ".fi"


def text(words: str | None) -> str:
    """Return words as a paragraph."""
    return _safe_line(re.sub(r"`([^`]+)`", r"\\fB\1\\fR", roff(" ".join((words or "").split()))))


def roff(words: str) -> str:
    """Escape text for roff; dashes remain ASCII, so that they can be copied."""
    return words.replace("\\", r"\e").replace("-", r"\-").replace("…", "...")


def _safe_line(line: str) -> str:
    """Protect a line: an initial dot or quote would be a roff request, an empty line a warning."""
    return rf"\&{line}" if line.startswith((".", "'")) or not line else line


def main(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
