"""Figures summed over replicas, kept until the next scrape. A screen spreads the work over its frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from ktui.core.live.routes import ResourceRoutes
    from ktui.core.live.state import ReplicaRow

A_FRAME = 48  # series of one replica that are summed between two frames: about 1 ms


class Sum(msgspec.Struct, frozen=True, gc=False):
    """One resource over some replicas: of which scrapes, and in which round it was made."""

    scrapes: tuple[float, ...]
    round: int
    routes: ResourceRoutes


class Sums(msgspec.Struct):
    """Sums by resource, window and replicas; lists of them by what they are of."""

    kept: dict[Any, Sum] = msgspec.field(default_factory=dict)
    lists: dict[Any, tuple[tuple[int, int], Any]] = msgspec.field(default_factory=dict)
    left: int | None = None  # series that may still be summed before the next frame; None: any number
    spent: bool = False  # nothing was left for a sum that was asked for
    late: bool = False  # a sum was asked for that is not of the last scrape
    round: int = 0  # within one every sum is made at most once, so that frequent scrapes delay none for ever
    made: int = 0

    def begin_frame(self, most: int) -> bool:
        """Allow `most` series more. Whether the frame before showed sums of an earlier scrape, or left some
        out, so that it has to be painted again."""
        late, spent = self.late, self.spent
        self.late, self.spent, self.left = False, False, most
        self.round += not spent
        return late

    def of(
        self,
        resource: str,
        rows: list[ReplicaRow],
        seconds: float | None,
        make: Callable[[str, list[ReplicaRow], float | None], ResourceRoutes],
    ) -> ResourceRoutes | None:
        """The sum of the last scrapes; beyond what this frame may sum that of earlier ones, None: no such."""
        key = (resource, seconds, *(row.name for row in rows))
        scrapes = tuple(row.resources[resource].last.at for row in rows)
        found = self.kept.get(key)
        if found is not None and found.scrapes == scrapes:
            return found.routes
        if self.left is not None:
            if found is not None and found.round == self.round:
                self.late = True
                return found.routes
            if self.left <= 0:
                self.late = self.spent = True
                return found.routes if found is not None else None
            self.left -= len(rows)
        self.made += 1
        found = self.kept[key] = Sum(scrapes, self.round, make(resource, rows, seconds))
        return found.routes

    def listed(self, key: Any, touched: int, make: Callable[[], Any], whole: bool = False) -> Any:
        """What `make` lists, made again only after another event or sum; if `whole`, when no sum waits."""
        found = self.lists.get(key)
        if found is None or (found[0] != (touched, self.made) and not (whole and self.spent)):
            listed = make()
            found = self.lists[key] = ((touched, self.made), listed)
        return found[1]

    def clear(self) -> None:
        """Other replicas: nothing kept is of use."""
        self.kept.clear()
        self.lists.clear()
