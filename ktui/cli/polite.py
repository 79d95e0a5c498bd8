"""What is asked of somebody's own kube-apiserver is asked for first, when it is much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.cli.confirm import confirm
from ktui.cli.units import size
from ktui.client.foresight import World, foresee
from ktui.client.measure import verb_of
from ktui.client.target import collection_size
from ktui.kube.requestinfo import parse_path, split_url

if TYPE_CHECKING:
    from ktui.client.target import Target

MANY_OBJECTS = 5_000
MANY_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Burden:
    """What a LIST of a whole collection will bring, by a page of one."""

    path: str
    objects: int
    bytes: float


async def ask_before(target: Target, paths: Iterable[str], world: World, *, yes: bool) -> None:
    """Declined unless the user agrees to LISTs of a real apiserver that are predicted to be large."""
    if not target.real:
        return
    burdens = [await _burden(target, path) for path in paths if is_unbounded(path, world)]
    objects, total = sum(b.objects for b in burdens), sum(b.bytes for b in burdens)
    if max((b.objects for b in burdens), default=0) <= MANY_OBJECTS and total <= MANY_BYTES:
        return
    what = "this LIST goes" if len(burdens) == 1 else f"these {len(burdens)} LISTs go"
    confirm(
        f"{what} over {objects:,} objects (about {size(total)} as JSON) of {target.client.connection.url}",
        yes=yes,
    )


def is_unbounded(path: str, world: World) -> bool:
    """Whether a LIST goes over a collection of all namespaces without a limit that holds.

    One that the cache answers through its selector is not: little is read and little is sent.
    """
    plain, _ = split_url(path)
    info = parse_path(plain)
    explanation = foresee(path, world).explanation
    if verb_of(path) != "LIST" or not info.is_resource or info.namespace or explanation is None:
        return False
    request = explanation.request
    if request.options.limit > 0 and explanation.decision.limit_honoured is not False:
        return False
    from_cache = explanation.decision.route.public == "cache"
    return not (from_cache and request.selects(world.behaviour))


async def _burden(target: Target, path: str) -> Burden:
    objects, each = await collection_size(target.client, path)
    return Burden(path, objects, objects * each)
