"""The routes of a scraped server's resources, for screens and reports."""

from __future__ import annotations

from ktui.core.live.replica import ReplicaRow
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.live.state import LiveState


def routes_of(live: LiveState, resource: str, seconds: float | None = None) -> ResourceRoutes | None:
    """Return a resource's routes over the last `seconds` (None: everything kept).

    None if no replica reports the resource, or if its first sum is made in one of the next frames.
    """
    rows = [row for row in live.replicas.values() if resource in row.resources]
    return live.sums.of(resource, rows, seconds) if rows else None


def all_routes(live: LiveState, seconds: float | None = None) -> list[ResourceRoutes]:
    """Return the routes of every resource, first the one whose LISTs read most objects."""

    def make() -> list[ResourceRoutes]:
        found = [routes_of(live, resource, seconds) for resource in live.resources if resource]
        rows = [row for row in found if row is not None]
        return sorted(rows, key=lambda row: (-(row.fetched or 0), -(row.lists or 0), row.resource))

    listed: list[ResourceRoutes] = live.sums.listed(("routes", seconds), live.touched, make)
    return listed


def at_replica(
    live: LiveState, row: ReplicaRow, resource: str, seconds: float | None = None
) -> ResourceRoutes | None:
    """Return a resource's routes at one replica, as `routes_of` does for all replicas."""
    return live.sums.of(resource, [row], seconds)
