"""What a LIST of somebody's own kube-apiserver would bring: asked for first, when it is much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.client.foresight import foresee
from ktui.client.measure import verb_of
from ktui.client.target import collection_size
from ktui.core.prediction.server_assumptions import World
from ktui.kube.requestinfo import parse_path, split_url

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

MANY_OBJECTS = 5_000
MANY_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Burden:
    """What a LIST of a whole collection will bring, by a page of one."""

    path: str
    objects: int
    bytes: float


@dataclass(frozen=True, slots=True)
class Burdens:
    """Those of several LISTs that are fired together."""

    each: Sequence[Burden]

    @property
    def objects(self) -> int:
        return sum(burden.objects for burden in self.each)

    @property
    def bytes(self) -> float:
        return sum(burden.bytes for burden in self.each)

    @property
    def heavy(self) -> bool:
        """Whether somebody should agree to it first."""
        return max((b.objects for b in self.each), default=0) > MANY_OBJECTS or self.bytes > MANY_BYTES


async def burdens_of(
    client: ApiClient, paths: Sequence[str], world: World, sizes: dict[str, tuple[int, float]] | None = None
) -> Burdens:
    """Sized by pages of one, each collection once; `sizes` (objects, bytes of one) learns them by path.

    Raises ClientError.
    """
    sizes = {} if sizes is None else sizes
    found = []
    for path in paths:
        if not is_unbounded(path, world):
            continue
        collection = split_url(path)[0]
        if collection not in sizes:
            sizes[collection] = await collection_size(client, collection)
        objects, each = sizes[collection]
        found.append(Burden(path, objects, objects * each))
    return Burdens(found)


def is_unbounded(path: str, world: World) -> bool:
    """Whether a read goes over a collection of all namespaces without a limit that holds.

    One that the cache answers through its selector is not: little is read and little is sent.
    """
    plain, _ = split_url(path)
    info = parse_path(plain)
    verb, explanation = verb_of(path), foresee(path, world).explanation
    if verb == "GET" or not info.is_resource or info.namespace or explanation is None:
        return False
    request = explanation.request
    if verb == "LIST" and request.options.limit > 0 and explanation.plan.limit_honoured is not False:
        return False
    from_cache = explanation.plan.source.route == "cache"
    return not (from_cache and request.scope(world.behaviour).selective)
