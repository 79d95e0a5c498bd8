"""What etcd alone shows: LISTs that clients could send, with their predicted cost, and totals of a survey.

Predicted from the number and bytes of the keys in etcd, for a kube-apiserver whose watch caches are ready.
No request is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field, structs

from ktui.contract.etcd_documents import SurveyPage
from ktui.contract.events import Prefix
from ktui.contract.events.live import ResourceAsked
from ktui.core.live.live_state import routes_of
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.prediction.assumptions import Assumptions
from ktui.core.prediction.prediction import compared_rules, seats_by_size
from ktui.core.prediction.sizes import ResourceSize, Sizes, estimate
from ktui.core.references import Selection
from ktui.core.state import State
from ktui.kube.resources import BUILTIN
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, parse_request
from ktui.kube.versions import Behaviour

MOST_RESOURCES = 40  # the largest by bytes
PAGE = 500
# The query of each form. {rv}: a revision that etcd still has, but of which the caches have no snapshot.
FORMS = (
    "resourceVersion={rv}&resourceVersionMatch=Exact",
    "",
    "labelSelector=app%3Dweb",
    f"limit={PAGE}",
    "resourceVersion=0",
)


class VersionCost(Struct, frozen=True):
    """One LIST under one version. `seats` None: unknown."""

    version: str
    route: str  # Source: "cache", "cache_snapshot", "etcd", "none"
    objects: int  # read in the cache or from etcd
    etcd_bytes: int
    cache_bytes: int
    seats: int | None

    @property
    def bytes(self) -> int:
        return self.etcd_bytes + self.cache_bytes


class PossibleList(Struct, frozen=True):
    """One LIST over all namespaces; `costs` by version, `own` the cost under the server's version."""

    resource: str
    target: str
    stored: ResourceSize
    exact: bool  # True if the bytes were read, False if extrapolated
    costs: tuple[VersionCost, ...]
    own: VersionCost

    @property
    def selection(self) -> Selection:
        return Selection("LIST", self.target, "predicted from what is stored")


def possible_lists(
    prefixes: Sequence[Prefix], own: Behaviour, revision: int, *, progress: bool = True,
    group_versions: Mapping[str, str] | None = None,
) -> Iterator[PossibleList]:  # fmt: skip
    """Yield each form of a LIST of each resource, largest resource first; each step takes a millisecond.

    `group_versions` has the version of each custom API group; groups that it lacks are left out.
    """
    sizes = {item.resource: ResourceSize(item.count, item.bytes) for item in prefixes if item.resource}
    rules = compared_rules(own)
    cache = CacheState(progress=progress, cache_rv=revision, oldest_watch_rv=revision)
    largest = sorted(prefixes, key=lambda item: (-item.bytes, -item.count, item.prefix))
    paths = [(item, _path(item.resource, group_versions or {})) for item in largest if item.count]
    for item, path in [pair for pair in paths if pair[1]][:MOST_RESOURCES]:
        size = sizes[item.resource]
        for form in FORMS:
            target = f"{path}?{form.format(rv=revision)}".rstrip("?")
            request = parse_request(target, "list")
            costs = tuple(_cost(request, item.resource, sizes, behaviour, cache) for behaviour in rules)
            yield PossibleList(item.resource, target, size, item.exact, costs, costs[rules.index(own)])


def most_expensive(lists: Sequence[PossibleList]) -> list[PossibleList]:
    """Sort by the bytes read under the server's version, then by those from etcd, then by seats."""
    return sorted(lists, key=lambda item: (-item.own.bytes, -item.own.etcd_bytes, -(item.own.seats or 0)))


def _path(resource_id: str, group_versions: Mapping[str, str]) -> str:
    plural, _, group = resource_id.partition(".")
    known = next((resource for resource in BUILTIN.preferred() if resource.id == resource_id), None)
    if known is not None:
        return known.path
    version = group_versions.get(group, "")
    return f"/apis/{group}/{version}/{plural}" if version else ""


def _cost(
    request: ReadRequest, resource: str, sizes: Sizes, behaviour: Behaviour, cache: CacheState
) -> VersionCost:
    size = sizes[resource]
    plan = predict(request, cache, behaviour)
    cost = estimate(request, plan, behaviour, resource, sizes)
    if cost is None or plan.error is not None:
        return VersionCost(behaviour.version, "none", 0, 0, 0, None)
    objects = round(cost.processed / size.average) if size.bytes else size.count
    seats = seats_by_size(request, behaviour, Assumptions(behaviour, cache, size, assumed=True))
    read = min(objects, size.count), round(cost.etcd), round(cost.cached)
    return VersionCost(behaviour.version, plan.source.value, *read, seats)


WINDOW = 60.0  # seconds that the metrics' rates look back


class ResourceSources(Struct, frozen=True):
    """What each source knows of a resource; None if it knows nothing."""

    resource: str
    asked: ResourceAsked | None
    routes: ResourceRoutes | None
    stored: Prefix | None

    @property
    def cost(self) -> float | None:
        """Bytes per second that LISTs read: objects read times their mean size in etcd; None if unknown."""
        stored, routes = self.stored, self.routes
        fetched = routes.per_second(routes.fetched) if routes is not None else None
        if not fetched:
            return fetched
        return fetched * stored.bytes / stored.count if stored is not None and stored.bytes else None

    @property
    def lists_per_second(self) -> float:
        """LISTs per second, averaged over the part of the audit log that was read; 0.0 without one."""
        return self.asked.lists / self.asked.span if self.asked is not None and self.asked.span else 0.0


def joined(state: State) -> list[ResourceSources]:
    """Return every resource in the metrics or the audit log that is read, most expensive first."""
    live = state.live
    stored = {item.resource: item for item in state.prefixes.values() if item.resource}
    found = []
    for name in filter(None, {*live.resources, *live.asked}):
        routes, asked = routes_of(live, name, WINDOW), live.asked.get(name)
        if asked is not None or (routes is not None and routes.lists):
            found.append(ResourceSources(name, asked, routes, with_own_estimate(stored.get(name), routes)))
    return sorted(
        found, key=lambda row: (-(row.cost or 0), -(row.stored.bytes if row.stored else 0), row.resource)
    )


def with_own_estimate(stored: Prefix | None, routes: ResourceRoutes | None) -> Prefix | None:
    """Return the stored objects with the apiserver's own estimate of their bytes (1.34+), which is of all
    objects, in place of one from a sample."""
    if stored is None or stored.exact or routes is None or not routes.size_bytes:
        return stored
    size = round(routes.size_bytes)
    return structs.replace(stored, bytes=size, low=size, high=size)


LARGEST = 200  # keys kept


class Weight(Struct):
    """What the survey read of one resource."""

    resource: str
    keys: int = 0
    bytes: int = 0
    managed_bytes: int = 0
    skipped: int = 0  # Secrets that were not read

    @property
    def managed_share(self) -> float:
        return self.managed_bytes / self.bytes if self.bytes else 0.0

    @property
    def average(self) -> float:
        return self.bytes / self.keys if self.keys else 0.0


class LargeObject(Struct, frozen=True):
    """One of the largest keys, and the resource whose prefix it is under."""

    resource: str
    key: str
    bytes: int


class Survey(Struct):
    """The totals of all pages read so far."""

    weights: dict[str, Weight] = field(default_factory=dict)
    largest: list[LargeObject] = field(default_factory=list)
    keys: int = 0
    bytes: int = 0

    def add(self, resource: str, page: SurveyPage) -> None:
        weight = self.weights.setdefault(resource, Weight(resource))
        weight.keys += page.keys
        weight.bytes += page.bytes
        weight.managed_bytes += page.managed_bytes
        weight.skipped += page.skipped
        self.keys += page.keys
        self.bytes += page.bytes
        found = [*self.largest, *(LargeObject(resource, item.key, item.bytes) for item in page.largest)]
        self.largest = sorted(found, key=lambda item: (-item.bytes, item.key))[:LARGEST]

    def heaviest(self) -> list[Weight]:
        """Return the resources, those with most bytes of managedFields first."""
        return sorted(self.weights.values(), key=lambda item: (-item.managed_bytes, item.resource))
