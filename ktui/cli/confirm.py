"""Asking before a real control plane is made to work hard."""

from __future__ import annotations

import sys

from ktui.cli.exits import USAGE


class Declined(Exception):
    """The user, or the lack of one, said no; the message is one clear sentence."""

    status = USAGE


def confirm(question: str, *, yes: bool) -> None:
    """Go on only with `--yes` or with a y at the terminal; else Declined."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Declined(f"{question}; say --yes if that is meant")
    print(f"ktui: {question}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Declined("nothing was fired")
