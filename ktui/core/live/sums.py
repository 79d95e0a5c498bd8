"""Figures summed over replicas, kept until the next scrape. Screens spread the work over frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ktui.core.live.replica import ReplicaRow
from ktui.core.live.resource_routes import ResourceRoutes, summed_routes

A_FRAME = 100  # series of one replica that are summed per frame: 2 ms


class Sum(msgspec.Struct, frozen=True, gc=False):
    """A resource's sum over some replicas, and the times of the scrapes it was made from."""

    scrapes: tuple[float, ...]
    routes: ResourceRoutes


class Sums(msgspec.Struct):
    """Sums by resource, window and replicas, and lists derived from them by key."""

    kept: dict[Any, Sum] = msgspec.field(default_factory=dict)
    lists: dict[Any, tuple[tuple[int, int], Any]] = msgspec.field(default_factory=dict)
    waiting: dict[Any, tuple[str, list[ReplicaRow], float | None]] = msgspec.field(default_factory=dict)
    in_frames: bool = False  # True: requested sums are made in the next frames instead of at once
    made: int = 0

    def begin_frame(self, most: int) -> bool:
        """Make waiting sums of about `most` series in total. Return True if they are to be shown now:
        they include the first sum of their key, or no sum waits any more.
        """
        self.in_frames = True
        show = False
        while self.waiting and most > 0:
            key = next(iter(self.waiting))
            resource, rows, seconds = self.waiting.pop(key)
            show = show or key not in self.kept or not self.waiting
            self._make(key, resource, rows, seconds)
            most -= len(rows)
        return show

    def of(self, resource: str, rows: list[ReplicaRow], seconds: float | None) -> ResourceRoutes | None:
        """Return the sum of the last scrapes. With `in_frames` return the previous sum until the new one
        is made, None if there is no previous one.
        """
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
        """Return the cached result of `make`. It is made again after another event or sum; with `whole` only
        once no sum waits.
        """
        found = self.lists.get(key)
        if found is None or (found[0] != (touched, self.made) and not (whole and self.waiting)):
            listed = make()
            found = self.lists[key] = ((touched, self.made), listed)
        return found[1]

    def clear(self) -> None:
        """Drop everything: the set of replicas has changed."""
        self.kept.clear()
        self.waiting.clear()
        self.lists.clear()


def _scrapes(resource: str, rows: list[ReplicaRow]) -> tuple[float, ...]:
    return tuple([row.resources[resource].last.at for row in rows])
