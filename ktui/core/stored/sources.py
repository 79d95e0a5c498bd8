"""A resource in all sources: its clients (audit log), its routes (metrics), its size (etcd)."""

from __future__ import annotations

from msgspec import Struct, structs

from ktui.contract.events import Prefix
from ktui.contract.events.live import ResourceAsked
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.live.routes import routes_of
from ktui.core.state import State

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
        routes = routes_of(live, name, WINDOW)
        found.append(
            ResourceSources(name, live.asked.get(name), routes, with_own_estimate(stored.get(name), routes))
        )
    busy = [row for row in found if row.asked is not None or (row.routes is not None and row.routes.lists)]
    return sorted(
        busy, key=lambda row: (-(row.cost or 0), -(row.stored.bytes if row.stored else 0), row.resource)
    )


def with_own_estimate(stored: Prefix | None, routes: ResourceRoutes | None) -> Prefix | None:
    """Return the stored objects with the apiserver's own estimate of their bytes (1.34+), which is of all
    objects, in place of one from a sample."""
    if stored is None or stored.exact or routes is None or not routes.size_bytes:
        return stored
    size = round(routes.size_bytes)
    return structs.replace(stored, bytes=size, low=size, high=size)
