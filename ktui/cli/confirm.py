"""Ask for confirmation before putting load on a real control plane, as expensive LISTs do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ktui.cli.output import ask
from ktui.client.large_lists import unbounded_lists
from ktui.core.format import integer, long_bytes
from ktui.core.prediction.assumptions import ServerAssumptions

if TYPE_CHECKING:
    from ktui.client.target import Target


class Declined(Exception):
    """The user declined, or could not be asked; the message is one sentence."""


def confirm(question: str, *, yes: bool) -> None:
    """Return with `--yes`, or if the user types y at the terminal. Raises Declined otherwise."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Declined(f"{question}; confirm with --yes")
    ask(f"{question}. Go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Declined("nothing was sent")


async def ask_before(target: Target, paths: Iterable[str], server: ServerAssumptions, *, yes: bool) -> None:
    """Raise Declined unless the user agrees to LISTs that are predicted to be large."""
    if not target.real:
        return
    found = await unbounded_lists(target.client, list(paths), server)
    if not found.large:
        return
    count = len(found.each)
    what = "this LIST goes" if count == 1 else f"these {count} LISTs go"
    confirm(
        f"{what} over {integer(found.objects)} objects (about {long_bytes(found.bytes)} as JSON) "
        f"of {target.client.connection.url}",
        yes=yes,
    )
