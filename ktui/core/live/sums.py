"""Figures summed over replicas, kept until the next scrape. A screen spreads the work over its frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ktui.core.live.replica import ReplicaRow
from ktui.core.live.resource_routes import ResourceRoutes, summed_routes

A_FRAME = 100  # series of one replica that are summed between two frames: 2 ms


class Sum(msgspec.Struct, frozen=True, gc=False):
    """One resource over some replicas, and of which scrapes."""

    scrapes: tuple[float, ...]
    routes: ResourceRoutes


class Sums(msgspec.Struct):
    """Sums by resource, window and replicas; lists of them by what they are of."""

    kept: dict[Any, Sum] = msgspec.field(default_factory=dict)
    lists: dict[Any, tuple[tuple[int, int], Any]] = msgspec.field(default_factory=dict)
    waiting: dict[Any, tuple[str, list[ReplicaRow], float | None]] = msgspec.field(default_factory=dict)
    in_frames: bool = False  # whether what is asked for is made in the next frames, instead of at once
    made: int = 0

    def begin_frame(self, most: int) -> bool:
        """Make sums that wait, of about `most` series. Whether to show them: when none waits
        any more, and the first ones at once."""
        self.in_frames = True
        worth_it = False
        while self.waiting and most > 0:
            key = next(iter(self.waiting))
            resource, rows, seconds = self.waiting.pop(key)
            worth_it = worth_it or key not in self.kept or not self.waiting
            self._make(key, resource, rows, seconds)
            most -= len(rows)
        return worth_it

    def of(self, resource: str, rows: list[ReplicaRow], seconds: float | None) -> ResourceRoutes | None:
        """The sum of the last scrapes; in frames that of earlier ones until it is made, None: no such."""
        key = (resource, seconds, *(row.name for row in rows))
        found = self.kept.get(key)
        if found is not None and found.scrapes == _scrapes(resource, rows):
            return found.routes
        if not self.in_frames:
            return self._make(key, resource, rows, seconds)
        self.waiting.setdefault(key, (resource, rows, seconds))
        return found.routes if found is not None else None

    def _make(self, key: Any, resource: str, rows: list[ReplicaRow], seconds: float | None) -> ResourceRoutes:
        self.made += 1
        routes = summed_routes(resource, rows, seconds)
        self.kept[key] = Sum(_scrapes(resource, rows), routes)
        return routes

    def listed(self, key: Any, touched: int, make: Callable[[], Any], whole: bool = False) -> Any:
        """What `make` lists, made again only after another event or sum; if `whole`, when no sum waits."""
        found = self.lists.get(key)
        if found is None or (found[0] != (touched, self.made) and not (whole and self.waiting)):
            listed = make()
            found = self.lists[key] = ((touched, self.made), listed)
        return found[1]

    def clear(self) -> None:
        """Other replicas: nothing kept is of use."""
        self.kept.clear()
        self.waiting.clear()
        self.lists.clear()


def _scrapes(resource: str, rows: list[ReplicaRow]) -> tuple[float, ...]:
    return tuple([row.resources[resource].last.at for row in rows])
