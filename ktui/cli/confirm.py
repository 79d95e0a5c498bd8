"""Ask for confirmation before putting load on a real control plane."""

from __future__ import annotations

import sys

from ktui.cli.exit_codes import USAGE
from ktui.cli.output import ask


class Declined(Exception):
    """The user declined, or could not be asked; the message is one sentence."""

    status = USAGE


def confirm(question: str, *, yes: bool) -> None:
    """Return with `--yes`, or if the user types y at the terminal. Raises Declined otherwise."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Declined(f"{question}; confirm with --yes")
    ask(f"{question}. Go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Declined("nothing was sent")
