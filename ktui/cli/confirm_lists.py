"""Ask for confirmation before expensive LISTs of a real kube-apiserver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ktui.cli.confirm import confirm
from ktui.client.large_lists import unbounded_lists
from ktui.core.format import integer, long_bytes
from ktui.core.prediction.assumptions import ServerAssumptions

if TYPE_CHECKING:
    from ktui.client.target import Target


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
