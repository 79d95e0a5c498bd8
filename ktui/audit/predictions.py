"""The predicted route of each shape of request under each version, computed once per shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ktui.audit.group import AuditGroup
from ktui.audit.other_servers import NOT_AGGREGATED, AggregatedGroups
from ktui.core.prediction.cost import EstimatedCost, estimate
from ktui.core.prediction.sizes import Sizes
from ktui.core.ranking.canonical import canonical
from ktui.core.ranking.shape import RequestShape
from ktui.kube.routing.assumed_state import assumed_state
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.versions import Behaviour

ASSUMED = (
    "watch caches are ready, and revisions and page tokens that a request names are the newest (a log "
    "does not say how old they were)"
)


EITHER = "cache or etcd"
"""The route of a request that depends on its query string, which was not logged."""
ELSEWHERE = "another server"
"""The route of a request of an aggregated API."""
_QUERIES = {
    "list": ("", "?resourceVersion=0", "?limit=500", "?limit=500&resourceVersion=0"),
    "get": ("", "?resourceVersion=0"),
    "watch": ("?watch=true", "?watch=true&resourceVersion=0", "?watch=true&resourceVersion=1"),
}


@dataclass(frozen=True, slots=True)
class GroupPrediction:
    """Plans and estimated costs of requests of one shape, in the order of `VersionPredictions.every`.

    `others`: predictions for other possible query strings, if the log leaves them out. `elsewhere`: another
    server answers, whose rules are not known; then plans and costs do not apply.
    """

    plans: tuple[Plan, ...]
    costs: tuple[EstimatedCost | None, ...]
    others: tuple[GroupPrediction, ...] = ()
    elsewhere: bool = False

    def route(self, version: int = 0) -> str:
        """Return `cache`, `etcd`, `none` (refused, or failed before anything was read), EITHER or
        ELSEWHERE."""
        routes = self.routes(version)
        return routes[0] if len(routes) == 1 else EITHER

    def routes(self, version: int = 0) -> tuple[str, ...]:
        """Return all possible routes, sorted."""
        if self.elsewhere:
            return (ELSEWHERE,)
        plan = self.plans[version]
        route = plan.source.route if plan.error is None else "none"
        return tuple(sorted({route, *(other.routes(version)[0] for other in self.others)}))


class VersionPredictions:
    """`versions`: the selected one first. `progress`: etcd's progress notifications can be trusted."""

    def __init__(
        self,
        versions: Sequence[Behaviour],
        sizes: Sizes,
        *,
        progress: bool,
        earlier: Sequence[Behaviour] = (),
        aggregated: AggregatedGroups = NOT_AGGREGATED,
    ) -> None:
        self.versions = versions
        self.every = (*versions, *earlier)
        self._sizes = sizes
        self._progress = progress
        self._aggregated = aggregated
        self._known: dict[tuple[RequestShape, bool], GroupPrediction] = {}

    @property
    def earlier(self) -> list[tuple[int, Behaviour]]:
        """The versions before the selected one, with their indexes in `every`."""
        first = len(self.versions)
        return list(enumerate(self.every[first:], first))

    def of(self, group: AuditGroup) -> GroupPrediction:
        """Return the prediction for the group, made from its example."""
        _, shape, query = group.key
        if (shape, query) not in self._known:
            request, state = self.request(group)
            self._known[shape, query] = (
                self._predict(request, state, shape) if query else self._without_query(group, shape)
            )
        return self._known[shape, query]

    def request(self, group: AuditGroup) -> tuple[ReadRequest, CacheState]:
        """Return the group's example, parsed, and the assumed state of cache and etcd."""
        return assume_ready(group.example, progress=self._progress)

    def _without_query(self, group: AuditGroup, shape: RequestShape) -> GroupPrediction:
        path = group.example.partition("?")[0]
        examples = [assume_ready(path + query, progress=self._progress) for query in _QUERIES[shape.verb]]
        first, *others = (self._predict(request, state, shape) for request, state in examples)
        if first.elsewhere:
            return first
        return GroupPrediction(first.plans, (None,) * len(first.costs), tuple(others))

    def _predict(self, request: ReadRequest, state: CacheState, shape: RequestShape) -> GroupPrediction:
        plans = tuple(predict(request, state, behaviour) for behaviour in self.every)
        if self._aggregated.has(shape.resource):
            return GroupPrediction(plans, (None,) * len(plans), elsewhere=True)
        costs = tuple(
            estimate(request, plan, behaviour, shape.resource, self._sizes)
            for plan, behaviour in zip(plans, self.every, strict=True)
        )
        return GroupPrediction(plans, costs)


def assume_ready(example: str, *, progress: bool) -> tuple[ReadRequest, CacheState]:
    """Parse a group's example, and return it with the assumed state of cache and etcd for it."""
    try:
        request = parse_request(example)
    except RequestError:  # the shape is parsed without names, so it may be known when this fails
        request = parse_request(canonical(example))
    return request, assumed_state(request, progress=progress)
