"""The server that the Lab asks, as far as it is known: ktui's own, or a real kube-apiserver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ktui.core.prediction import foresee
from ktui.core.prediction.server_assumptions import OWN_LEVEL, World
from ktui.core.prediction.sizes import size_of
from ktui.core.state import State
from ktui.kube.flowcontrol import PriorityLevel
from ktui.kube.resources import Resource
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.versions import DEFAULT_VERSION, Behaviour


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A kube-apiserver that the dashboard has no telemetry of; `sizes` by path, as far as they were asked."""

    world: World
    sizes: dict[str, tuple[int, float]] = field(default_factory=dict)

    def size(self, collection: str) -> tuple[int, int] | None:
        """Objects of a collection and their bytes, as JSON."""
        found = self.sizes.get(collection)
        return (found[0], round(found[0] * found[1])) if found is not None else None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the server and of the resource: its cache, its objects and bytes."""

    behaviour: Behaviour
    cache: CacheState
    size: tuple[int, int] | None
    progress: bool
    level: PriorityLevel | None


def here(state: State, resource: Resource) -> Known:
    """Raises BehaviourError."""
    cache, size = routing_state(state, resource.id), size_of(state, resource.id)
    return Known(foresee.server_behaviour(state), cache, size, state.progress, OWN_LEVEL)


def there(elsewhere: Elsewhere, resource: Resource) -> Known:
    world = elsewhere.world
    cache, size = world.routing_state(resource.id), elsewhere.size(resource.path)
    return Known(world.behaviour, cache, size, world.progress, world.level)


def server_version(state: State) -> str:
    """The minor whose rules the server follows now."""
    return state.server.kube_version if state.server is not None else DEFAULT_VERSION


def routing_state(state: State, resource_id: str) -> CacheState:
    """What the dashboard knows of a resource's cache and of etcd, as the rules want to know it."""
    head, compact = state.head.revision or None, state.head.compact or None
    known = replace(foresee.routing_state(resource_id, state), etcd_rv=head, compact_rv=compact)
    if resource_id in state.caches:
        return known
    return replace(known, readiness=Readiness.INITIALIZING)  # the first who asks starts to fill it
