"""A server's rules and the state of its caches, as the routing rules want to know them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.contract.events import CacheState
from ktui.kube.flowcontrol import LEVELS, PriorityLevel, told_level
from ktui.kube.requestinfo import parse_path, split_url
from ktui.kube.routing.cache_state import CacheState as RoutingState
from ktui.kube.routing.cache_state import Readiness
from ktui.kube.versions import Behaviour

OWN_LEVEL = told_level(LEVELS["exempt"])
"""The priority level of what we ask ktui's own server: its token makes an administrator."""

_READINESS = {
    "ready": Readiness.READY,
    "reinitializing": Readiness.REINITIALIZING,
    "disabled": Readiness.DISABLED,
}


def routing_state_of(
    cache: CacheState, rv: int, *, progress: bool, compact: int | None = None
) -> RoutingState:
    """A cache as telemetry tells of it. `rv` is the newest that was heard of, `compact` etcd's."""
    return RoutingState(
        readiness=_READINESS.get(cache.state, Readiness.INITIALIZING),
        cache_rv=rv,
        progress=progress,
        oldest_snapshot_rv=cache.oldest_rv if cache.snapshots else None,
        oldest_watch_rv=cache.oldest_rv,
        compact_rv=compact,
    )


@dataclass(frozen=True, slots=True)
class World:
    """A server's rules and the present state of its caches by resource id.

    `assumed` says that the caches could not be looked at: then they count as ready. `level` is
    the priority level under which our own requests fall, None where nobody tells.
    """

    behaviour: Behaviour
    progress: bool = True
    caches: dict[str, CacheState] = field(default_factory=dict)
    compact: int = 0
    assumed: bool = False
    level: PriorityLevel | None = None

    def routing_state(self, resource_id: str) -> RoutingState:
        """Of one cache. One that was never asked for starts with the first who asks."""
        if self.assumed:
            return RoutingState(progress=self.progress)
        cache = self.caches.get(resource_id)
        if cache is None:
            return RoutingState(readiness=Readiness.INITIALIZING, progress=self.progress)
        return routing_state_of(cache, cache.rv, progress=self.progress, compact=self.compact or None)

    def average_bytes(self, path: str) -> float:
        """Mean stored size of the objects that `path` asks for; 0 when unknown."""
        cache = self.caches.get(resource_id_of(path))
        return cache.bytes / cache.objects if cache is not None and cache.objects else 0.0


def resource_id_of(path: str) -> str:
    """`pods`, `leases.coordination.k8s.io`: names a path's resource as telemetry does; "" for none."""
    return parse_path(split_url(path)[0]).resource_id
