"""What a prediction assumes about the server that receives the request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from msgspec import structs

from ktui.contract.events import CacheStatus
from ktui.core.prediction.sizes import ResourceSize, size_in
from ktui.core.state import State
from ktui.kube.flow_schemas import LEVELS, PriorityLevel, displayed_level
from ktui.kube.gates import DEFAULT_VERSION
from ktui.kube.requestinfo import parse_path, split_url
from ktui.kube.routing.cache_state import AssumedRevision, CacheState, Readiness
from ktui.kube.versions import Behaviour, behaviour_of

OWN_LEVEL = displayed_level(LEVELS["exempt"])
"""The priority level of ktui's own requests to its server, whose token has the rights of an administrator."""

_READINESS = {each.value: each for each in Readiness}


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions about a server and one of its resources.

    `size` is None if unknown. `level` is the priority level of the requester, None if
    unknown. `assumed`: the state of the cache is unknown, and counts as ready.
    """

    behaviour: Behaviour
    cache: CacheState
    size: ResourceSize | None = None
    level: PriorityLevel | None = None
    assumed: bool = False

    @property
    def max_seats(self) -> int | None:
        return self.level.max_seats if self.level is not None else None


@dataclass(frozen=True, slots=True)
class ServerAssumptions:
    """Assumptions about a server: its rules, and its caches by resource id.

    `assumed`: the state of the caches is unknown, and counts as ready. `sizes` has, for each collection
    path that was measured, the number of objects and the bytes of one as JSON.
    """

    behaviour: Behaviour
    progress: bool = True
    caches: dict[str, CacheStatus] = field(default_factory=dict)
    compact: int = 0
    assumed: bool = False
    level: PriorityLevel | None = None
    sizes: dict[str, tuple[int, float]] = field(default_factory=dict)

    def of(self, resource_id: str, collection: str = "") -> Assumptions:
        """Return the assumptions about one resource, with the measured size of `collection` (a path)."""
        count, each = self.sizes.get(collection, (-1, 0.0))
        size = ResourceSize(count, round(count * each)) if count >= 0 else None
        cache = self.caches.get(resource_id)
        if self.assumed:
            state = CacheState(cache_rv=AssumedRevision(0), progress=self.progress)
        elif cache is not None:
            state = _routing_state(cache, cache.rv, progress=self.progress, compact=self.compact or None)
        else:  # it was never used: the first request fills it
            state = CacheState(readiness=Readiness.INITIALIZING, progress=self.progress)
        return Assumptions(self.behaviour, state, size, self.level, self.assumed)

    def average_bytes(self, path: str) -> float:
        """Average stored size of the objects of `path`; 0 if unknown."""
        cache = self.caches.get(resource_id_of(path))
        return cache.bytes / cache.objects if cache is not None and cache.objects else 0.0


def _routing_state(cache: CacheStatus, rv: int, *, progress: bool, compact: int | None = None) -> CacheState:
    """Return a cache's state from telemetry.

    `rv` is the newest revision that the cache has, `compact` etcd's compacted revision.
    """
    readiness = _READINESS.get(cache.state, Readiness.INITIALIZING)  # `cold`
    return CacheState(
        readiness=readiness, cache_rv=rv, progress=progress, compact_rv=compact,
        oldest_snapshot_rv=cache.oldest_rv if cache.snapshots else None, oldest_watch_rv=cache.oldest_rv,
    )  # fmt: skip


def logged(state: State, resource_id: str) -> Assumptions:
    """Return the assumptions about the dashboard's server for a request in its log. Raises BehaviourError.

    etcd's revisions are left out: they have changed since that request.
    """
    row = state.caches.get(resource_id)
    cache = CacheState(cache_rv=AssumedRevision(0), progress=state.progress)
    if row is not None:
        cache = _routing_state(row.cache, row.rv, progress=state.progress)
    return Assumptions(server_behaviour(state), cache, size_in(state, resource_id))


def present(state: State, resource_id: str) -> Assumptions:
    """Return the assumptions about the dashboard's server for a request sent now. Raises BehaviourError.

    A kube-apiserver that is only scraped fills its caches before it is ready.
    """
    found = logged(state, resource_id)
    if state.server is not None and state.server.scraped:
        return replace(found, assumed=True)
    cache = structs.replace(
        found.cache, etcd_rv=state.head.revision or None, compact_rv=state.head.compact or None
    )
    if resource_id not in state.caches:  # the first request starts to fill it
        cache = structs.replace(cache, readiness=Readiness.INITIALIZING)
    return replace(found, cache=cache, level=OWN_LEVEL)


def server_behaviour(state: State) -> Behaviour:
    """Return the rules that the server follows now. Raises BehaviourError for an unknown version or gate."""
    server = state.server
    return behaviour_of(server.kube_version, server.feature_gates) if server is not None else behaviour_of()


def server_version(state: State) -> str:
    """Return the Kubernetes version (`1.34`) whose rules the server follows now."""
    return state.server.kube_version if state.server is not None else DEFAULT_VERSION


def resource_id_of(path: str) -> str:
    """Return the id of a path's resource in telemetry: `pods`, `leases.coordination.k8s.io`; "" for none."""
    return parse_path(split_url(path)[0]).resource_id
