"""Totals of a survey of what is stored, and a resource in all sources: clients, routes, size."""

from __future__ import annotations

from msgspec import Struct, field, structs

from ktui.contract.etcd_documents import SurveyPage
from ktui.contract.events import Prefix
from ktui.contract.events.live import ResourceAsked
from ktui.core.live.live_state import routes_of
from ktui.core.live.resource_routes import ResourceRoutes
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
        """Add a page of one resource."""
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
