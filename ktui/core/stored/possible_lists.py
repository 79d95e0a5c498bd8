"""The LISTs that clients could send to this cluster, with their predicted cost under several versions.

Predicted from the number and bytes of the keys in etcd, for a kube-apiserver whose watch caches are ready.
No request is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ktui.contract.events import Prefix
from ktui.core.prediction.assumptions import Assumptions
from ktui.core.prediction.prediction import VERSIONS, seats_by_size
from ktui.core.prediction.sizes import ResourceSize, Sizes, estimate
from ktui.core.selection import Selection
from ktui.kube.resources import BUILTIN
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, parse_request
from ktui.kube.versions import Behaviour, behaviour_of

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
    prefixes: Sequence[Prefix],
    own: Behaviour,
    revision: int,
    *,
    progress: bool = True,
    group_versions: Mapping[str, str] | None = None,
) -> Iterator[PossibleList]:
    """Yield each form of a LIST of each resource, largest resource first; each step takes a millisecond.

    `group_versions` has the version of each custom API group; groups that it lacks are left out.
    """
    sizes = {item.resource: ResourceSize(item.count, item.bytes) for item in prefixes if item.resource}
    behaviours = {behaviour_of(version).minor: behaviour_of(version) for version in VERSIONS}
    behaviours[own.minor] = own
    rules = [behaviours[minor] for minor in sorted(behaviours)]
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
    return VersionCost(
        behaviour.version,
        plan.source.value,
        min(objects, size.count),
        round(cost.etcd),
        round(cost.cached),
        seats,
    )
