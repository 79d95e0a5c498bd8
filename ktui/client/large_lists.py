"""LISTs of whole collections: their sizes, which a user confirms, and costs, from one object of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ktui.client.target import collection_size
from ktui.core.lab.form import verb_of
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.core.prediction.prediction import predict, predict_path, resource_id
from ktui.core.prediction.sizes import ResourceSize, estimate
from ktui.core.ranking.remedy import Burden
from ktui.kube.explain import Explanation
from ktui.kube.requestinfo import parse_path, split_url
from ktui.kube.routing.request import RequestError, parse_request

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.client.target import Target

MANY_OBJECTS = 5_000
MANY_BYTES = 100_000_000


class UnboundedLists(NamedTuple):
    """LISTs of whole collections that are sent together: objects and estimated bytes of each."""

    each: Sequence[tuple[int, float]]

    @property
    def objects(self) -> int:
        return sum(objects for objects, _ in self.each)

    @property
    def bytes(self) -> float:
        return sum(size for _, size in self.each)

    @property
    def large(self) -> bool:
        """True if the user has to confirm."""
        return any(objects > MANY_OBJECTS for objects, _ in self.each) or self.bytes > MANY_BYTES


async def unbounded_lists(
    client: ApiClient, paths: Sequence[str], server: ServerAssumptions
) -> UnboundedLists:
    """Return the unbounded LISTs among `paths`; sizes are kept in `server.sizes`. Raises ClientError."""
    found = []
    for path in paths:
        if not is_unbounded(path, server):
            continue
        collection = split_url(path)[0]
        if collection not in server.sizes:
            server.sizes[collection] = await collection_size(client, collection)
        objects, each = server.sizes[collection]
        found.append((objects, objects * each))
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


class ListEstimate(NamedTuple):
    """The prediction for a LIST of a collection with `size` (bytes as JSON), read from a page of one object.

    `cost` is in bytes of these objects; None if nothing can be estimated. `returned` are the objects of the
    answer's first page; None if a selector decides.
    """

    collection: str
    size: ResourceSize
    explanation: Explanation
    cost: Burden | None
    seats: int | None
    assumed: bool  # the state of the server's cache is not known, and counts as ready

    @property
    def objects_read(self) -> int | None:
        """The objects that the server takes from etcd or its cache."""
        if self.cost is None:
            return None
        return round(self.cost.processed / self.size.average) if self.size.average else 0

    @property
    def returned(self) -> int | None:
        request = self.explanation.request
        if self.explanation.plan.error is not None:
            return 0
        if request.scope(self.explanation.behaviour).selective:
            return None
        limit = request.options.limit
        honoured = limit > 0 and self.explanation.plan.limit_honoured is not False
        return min(self.size.count, limit) if honoured else self.size.count

    def document(self) -> dict[str, Any]:
        """Return the JSON object of `ktui list --estimate --json`; a null is not known."""
        cost, returned = self.cost, self.returned
        return {
            "collection": {
                "path": self.collection, "objects": self.size.count, "bytes": self.size.bytes,
                "bytes_each": round(self.size.average),
            },
            "estimated": {
                "objects_read": self.objects_read, "etcd_bytes": None if cost is None else round(cost.etcd),
                "cache_bytes": None if cost is None else round(cost.cached), "returned": returned,
                "returned_bytes": None if returned is None else round(returned * self.size.average),
                "seats": self.seats,
            },
            "predicted": {**self.explanation.document(), "cache_assumed_ready": self.assumed},
        }  # fmt: skip


async def estimate_list(target: Target, path: str) -> ListEstimate:
    """Estimate the LIST of `path`: one page of one object is read.

    Raises RequestError if it is not a LIST, RefusedError if the server refuses the page, ClientError.
    """
    from ktui.client.api import Received  # it imports httpx, which the first frame does not need

    request = parse_request(path)
    if request.verb != "list":
        raise RequestError(f"{path} is a {request.verb.upper()}: an estimate is made of a LIST")
    server = await target.assumptions()
    collection = split_url(path)[0]
    objects, each = await collection_size(target.client, collection)
    if not objects:  # empty, or refused: then this raises the reason
        async for _ in target.client.read(f"{collection}?limit=1", "application/json", Received()):
            pass
    server.sizes[collection] = objects, each
    resource = resource_id(request)
    assumed = server.of(resource, collection)
    predicted = predict(request, assumed)
    assert predicted.explanation is not None and assumed.size is not None
    cost = estimate(request, predicted.explanation.plan, server.behaviour, resource, {resource: assumed.size})
    return ListEstimate(
        collection, assumed.size, predicted.explanation, cost, predicted.seats, assumed.assumed
    )
