"""One resource by all sources: who asks (audit log), how it was served (metrics), what is stored (etcd)."""

from __future__ import annotations

from msgspec import Struct

from ktui.contract.events import Prefix
from ktui.contract.events.live import ResourceAsked
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.live.routes import routes_of
from ktui.core.state import State

WINDOW = 60.0  # seconds that the metrics' rates look back


class ResourceSources(Struct, frozen=True):
    """None where a source says nothing of the resource."""

    resource: str
    asked: ResourceAsked | None
    routes: ResourceRoutes | None
    stored: Prefix | None

    @property
    def cost(self) -> float | None:
        """Bytes that LISTs made the server read a second, by the mean size in etcd; None where either is
        not known."""
        stored, routes = self.stored, self.routes
        fetched = routes.per_second(routes.fetched) if routes is not None else None
        if not fetched:
            return fetched
        return fetched * stored.bytes / stored.count if stored is not None and stored.bytes else None

    @property
    def lists_per_second(self) -> float:
        """By the audit log, over all of it that was read."""
        return self.asked.lists / self.asked.span if self.asked is not None and self.asked.span else 0.0


def joined(state: State) -> list[ResourceSources]:
    """Every resource that metrics or the log name, most expensive first."""
    live = state.live
    stored = {item.resource: item for item in state.prefixes.values() if item.resource}
    found = [
        ResourceSources(name, live.asked.get(name), routes_of(live, name, WINDOW), stored.get(name))
        for name in {*live.resources, *live.asked}
        if name
    ]
    busy = [row for row in found if row.asked is not None or (row.routes is not None and row.routes.lists)]
    return sorted(
        busy, key=lambda row: (-(row.cost or 0), -(row.stored.bytes if row.stored else 0), row.resource)
    )
