"""Find LISTs of whole collections, and their sizes: the user has to confirm large ones on a real server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.client.measure import verb_of
from ktui.client.target import collection_size
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.core.prediction.prediction import predict_path
from ktui.kube.requestinfo import parse_path, split_url

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

MANY_OBJECTS = 5_000
MANY_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class UnboundedList:
    """A LIST of a whole collection, with its size estimated from a page of one object."""

    path: str
    objects: int
    bytes: float


@dataclass(frozen=True, slots=True)
class UnboundedLists:
    """LISTs that are sent together."""

    each: Sequence[UnboundedList]

    @property
    def objects(self) -> int:
        return sum(item.objects for item in self.each)

    @property
    def bytes(self) -> float:
        return sum(item.bytes for item in self.each)

    @property
    def large(self) -> bool:
        """True if the user has to confirm."""
        return max((item.objects for item in self.each), default=0) > MANY_OBJECTS or self.bytes > MANY_BYTES


async def unbounded_lists(
    client: ApiClient, paths: Sequence[str], server: ServerAssumptions
) -> UnboundedLists:
    """Return the unbounded LISTs among `paths` with their sizes, which are kept in `server.sizes`.

    Raises ClientError.
    """
    found = []
    for path in paths:
        if not is_unbounded(path, server):
            continue
        collection = split_url(path)[0]
        if collection not in server.sizes:
            server.sizes[collection] = await collection_size(client, collection)
        objects, each = server.sizes[collection]
        found.append(UnboundedList(path, objects, objects * each))
    return UnboundedLists(found)


def is_unbounded(path: str, server: ServerAssumptions) -> bool:
    """True if a read covers a collection of all namespaces without an effective limit.

    A read with a selector that the cache answers counts as bounded: it reads and sends little.
    """
    plain, _ = split_url(path)
    info = parse_path(plain)
    verb, explanation = verb_of(path), predict_path(path, server.of).explanation
    if verb == "GET" or not info.is_resource or info.namespace or explanation is None:
        return False
    request = explanation.request
    if verb == "LIST" and request.options.limit > 0 and explanation.plan.limit_honoured is not False:
        return False
    from_cache = explanation.plan.source.route == "cache"
    return not (from_cache and request.scope(server.behaviour).selective)
