"""What is asked of somebody's own kube-apiserver is asked for first, when it is much."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ktui.cli.confirm import confirm
from ktui.client.burden import burdens_of
from ktui.core.format import integer, long_bytes
from ktui.core.prediction.server_assumptions import World

if TYPE_CHECKING:
    from ktui.client.target import Target


async def ask_before(target: Target, paths: Iterable[str], world: World, *, yes: bool) -> None:
    """Declined unless the user agrees to LISTs of a real apiserver that are predicted to be large."""
    if not target.real:
        return
    burdens = await burdens_of(target.client, list(paths), world)
    if not burdens.heavy:
        return
    count = len(burdens.each)
    what = "this LIST goes" if count == 1 else f"these {count} LISTs go"
    confirm(
        f"{what} over {integer(burdens.objects)} objects (about {long_bytes(burdens.bytes)} as JSON) "
        f"of {target.client.connection.url}",
        yes=yes,
    )
