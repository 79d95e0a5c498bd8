"""What a LIST would cost, from one object of its collection: the LIST itself is not sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ktui.client.api import Received
from ktui.client.target import collection_size
from ktui.core.prediction.prediction import predict, resource_id
from ktui.core.prediction.sizes import EstimatedCost, ResourceSize, estimate
from ktui.kube.explain import Explanation
from ktui.kube.requestinfo import split_url
from ktui.kube.routing.request import RequestError, parse_request

if TYPE_CHECKING:
    from ktui.client.target import Target


@dataclass(frozen=True, slots=True)
class ListEstimate:
    """The prediction for a LIST of a collection with `size` (bytes as JSON), read from a page of one object.

    `cost` is in bytes of these objects; None if nothing can be estimated. `returned` are the objects of the
    answer's first page; None if a selector decides.
    """

    collection: str
    size: ResourceSize
    explanation: Explanation
    cost: EstimatedCost | None
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
                "path": self.collection,
                "objects": self.size.count,
                "bytes": self.size.bytes,
                "bytes_each": round(self.size.average),
            },
            "estimated": {
                "objects_read": self.objects_read,
                "etcd_bytes": None if cost is None else round(cost.etcd),
                "cache_bytes": None if cost is None else round(cost.cached),
                "returned": returned,
                "returned_bytes": None if returned is None else round(returned * self.size.average),
                "seats": self.seats,
            },
            "predicted": {**self.explanation.document(), "cache_assumed_ready": self.assumed},
        }


async def estimate_list(target: Target, path: str) -> ListEstimate:
    """Estimate the LIST of `path`: one page of one object is read.

    Raises RequestError if it is not a LIST, RefusedError if the server refuses the page, ClientError.
    """
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
