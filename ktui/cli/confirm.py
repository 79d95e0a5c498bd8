"""Asking before a real control plane is made to work hard."""

from __future__ import annotations

import sys

from ktui.cli.exit_codes import USAGE
from ktui.cli.output import ask


class Declined(Exception):
    """The user, or the lack of one, said no; the message is one clear sentence."""

    status = USAGE


def confirm(question: str, *, yes: bool) -> None:
    """Go on only with `--yes` or with a y at the terminal; else Declined."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Declined(f"{question}; say --yes if that is meant")
    ask(f"{question}. Go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Declined("nothing was fired")
