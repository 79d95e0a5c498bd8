"""The predicted route of each shape of request under each version, and how LISTs move between versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from ktui.audit.group import AuditGroup, SlowGroup
from ktui.core.format import percent
from ktui.core.prediction.sizes import Sizes, estimate
from ktui.core.ranking.remedy import Burden
from ktui.core.ranking.shape import RequestShape, canonical
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.resources import BUILTIN
from ktui.kube.routing.cache_state import CacheState, assumed_state
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.versions import Behaviour

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
# Served by metrics-server, Prometheus and KEDA adapters, and the Operator Lifecycle Manager.
_METRICS = "metrics.k8s.io"
_NEVER_STORED = frozenset((_METRICS, "packages.operators.coreos.com"))
_BUILTIN = frozenset((*(resource.group for resource in BUILTIN.all()), "extensions"))  # the last: up to 1.21


class _ApiServiceSpec(msgspec.Struct):
    group: str = ""
    service: dict[str, msgspec.Raw] | None = None


class _ApiService(msgspec.Struct):
    spec: _ApiServiceSpec = msgspec.field(default_factory=_ApiServiceSpec)


class _ApiServices(msgspec.Struct):
    items: list[_ApiService] = []


@dataclass(frozen=True, slots=True)
class AggregatedGroups:
    """Aggregated APIs: groups whose requests kube-apiserver passes on to another server.

    Such a server has storage of its own (or none), so neither routes nor advice of kube-apiserver apply.
    `named`: by the user or by APIServices. `custom`: those of all CustomResourceDefinitions, None if unknown.
    """

    named: frozenset[str] = frozenset()
    custom: frozenset[str] | None = None

    def has(self, resource_id: str) -> bool:
        """True if another server serves a resource (`pods.metrics.k8s.io`)."""
        group = resource_id.partition(".")[2]
        if group in self.named or group in _NEVER_STORED or group.endswith(f".{_METRICS}"):
            return True
        return self.custom is not None and group not in self.custom and group not in _BUILTIN


NOT_AGGREGATED = AggregatedGroups()
"""Only the groups that no kube-apiserver stores."""


def groups_of(named: Iterable[str], crds: bytes = b"", services: bytes = b"") -> AggregatedGroups:
    """Return the groups for names of the user, and for the LISTs of CRDs and APIServices as JSON.

    A LIST that cannot be read says nothing.
    """
    aggregated = {spec.group for spec in _specs(services) or () if spec.service is not None}
    custom = _specs(crds)
    return AggregatedGroups(
        frozenset({*named, *aggregated} - _BUILTIN),
        None if custom is None else frozenset(spec.group for spec in custom),
    )


def _specs(items: bytes) -> list[_ApiServiceSpec] | None:
    try:
        return [item.spec for item in decode_json(items, _ApiServices).items] if items else None
    except DocumentError:
        return None


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
    costs: tuple[Burden | None, ...]
    others: tuple[GroupPrediction, ...] = ()
    elsewhere: bool = False

    def route(self, version: int = 0) -> str:
        """Return `cache`, `etcd`, `none` (refused, or failed before a read), EITHER or ELSEWHERE."""
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
        self, versions: Sequence[Behaviour], sizes: Sizes, *, progress: bool,
        earlier: Sequence[Behaviour] = (), aggregated: AggregatedGroups = NOT_AGGREGATED,
    ) -> None:  # fmt: skip
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
        if (found := self._known.get((shape, query))) is None:
            path = group.example.partition("?")[0]
            examples = [group.example] if query else [path + more for more in _QUERIES[shape.verb]]
            found, *others = (self._predict(example, shape) for example in examples)
            if others and not found.elsewhere:
                found = GroupPrediction(found.plans, (None,) * len(found.costs), tuple(others))
            self._known[shape, query] = found
        return found

    def request(self, group: AuditGroup) -> tuple[ReadRequest, CacheState]:
        """Return the group's example, parsed, and the assumed state of cache and etcd."""
        return assume_ready(group.example, progress=self._progress)

    def _predict(self, example: str, shape: RequestShape) -> GroupPrediction:
        request, state = assume_ready(example, progress=self._progress)
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


BY_BYTES = "estimated bytes"
BY_TIME = "count × latency"


def ranked(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> tuple[list[AuditGroup], str]:
    """Return the groups, most expensive first, and the measure: bytes if any size is known, else time."""

    def measures(group: AuditGroup) -> tuple[float, int, int]:
        cost = predictions.of(group).costs[0]
        return (group.count * cost.processed if cost else 0.0), group.cost, group.count

    known = any(predictions.of(group).costs[0] is not None for group in groups)
    return sorted(groups, key=measures, reverse=True), BY_BYTES if known else BY_TIME


def ranked_slow(groups: Iterable[SlowGroup]) -> list[SlowGroup]:
    return sorted(groups, key=lambda group: (group.cost, group.count), reverse=True)


@dataclass(frozen=True, slots=True)
class VersionShare:
    """LISTs by route under one version; `refused` fail. Moves are relative to the selected version.

    `unknown`: LISTs whose route depends on a query string that was not logged; they are in no share.
    `etcd_bytes` is the estimated number of bytes that LISTs read from etcd, `cache_bytes` of objects that
    they test in the cache; None without sizes.
    """

    version: str
    cache: int
    etcd: int
    refused: int
    moved_to_cache: int
    moved_to_etcd: int
    etcd_bytes: float | None
    cache_bytes: float | None
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """The later version that moves most LISTs off etcd, the earliest if several do. Shares are 0 to 1.

    `bytes_share` is of the estimated bytes of all LISTs of known size, None without sizes.
    """

    from_version: str
    to_version: str
    requests_share: float
    bytes_share: float | None

    def sentence(self) -> str:
        """The move as a sentence: `1.30 → 1.34 moves 81% of your LIST requests from etcd to the cache`."""
        of_bytes = ""
        if self.bytes_share is not None:
            of_bytes = f" ({percent(self.bytes_share)} of their bytes, estimated)"
        return (
            f"{self.from_version} → {self.to_version} moves {percent(self.requests_share)} of your "
            f"LIST requests{of_bytes} from etcd to the cache"
        )


def shares(groups: Iterable[AuditGroup], predictions: VersionPredictions) -> list[VersionShare]:
    """Return one row per version, in the order of `predictions.every`."""
    lists = [
        (group.count, predicted)
        for group in groups
        if group.key.shape.verb == "list" and not (predicted := predictions.of(group)).elsewhere
    ]
    rows = []
    for i, behaviour in enumerate(predictions.every):
        counts, moved = Counter[str](), Counter[tuple[str, str]]()
        known = [(count, cost) for count, predicted in lists if (cost := predicted.costs[i]) is not None]
        for count, predicted in lists:
            counts[predicted.route(i)] += count
            moved[predicted.route(), predicted.route(i)] += count
        rows.append(
            VersionShare(
                behaviour.version, counts["cache"], counts["etcd"], refused=counts["none"],
                moved_to_cache=moved["etcd", "cache"], moved_to_etcd=moved["cache", "etcd"],
                etcd_bytes=sum(count * cost.etcd for count, cost in known) if known else None,
                cache_bytes=sum(count * cost.cached for count, cost in known) if known else None,
                unknown=counts[EITHER],
            )
        )  # fmt: skip
    return rows


def best_move(
    groups: Sequence[AuditGroup], predictions: VersionPredictions, rows: Sequence[VersionShare]
) -> Move | None:
    """Return the move to mention; None if no later version moves any LIST off etcd."""
    total = rows[0].cache + rows[0].etcd + rows[0].refused
    best = max(range(len(rows)), key=lambda i: (rows[i].moved_to_cache, -i))
    moved = rows[best].moved_to_cache
    if not (total and moved):
        return None
    share = _bytes_share(groups, predictions, best)
    return Move(rows[0].version, rows[best].version, moved / total, share)


def _bytes_share(groups: Sequence[AuditGroup], predictions: VersionPredictions, to: int) -> float | None:
    moved = total = 0.0
    for group in groups:
        predicted = predictions.of(group)
        if group.key.shape.verb != "list" or (cost := predicted.costs[0]) is None:
            continue
        read = group.count * cost.processed
        total += read
        if predicted.route() == "etcd" and predicted.route(to) == "cache":
            moved += read
    return moved / total if total else None
