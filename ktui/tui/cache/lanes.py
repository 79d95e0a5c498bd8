"""The race of revisions: etcd's head, and each watch cache behind it."""

from __future__ import annotations

from itertools import cycle

from msgspec import Struct

from ktui.core.state import CacheRow, State

LEAST_SPAN = 50  # revisions across a track
NOTED_LAG = 10  # revisions behind that are worth a colour: less is a matter of milliseconds


class Lane(Struct, frozen=True):
    """One runner: `rv` is its revision, `tick` that of its last progress notification (0: none)."""

    name: str
    rv: int
    lag: int
    tick: int = 0
    waiting: int = 0
    head: bool = False


class Race(Struct, frozen=True):
    """Lanes on one scale: the track's right end is `head`, its left end `span` revisions earlier."""

    lanes: tuple[Lane, ...]
    head: int
    span: int

    def shown(self, height: int) -> tuple[Lane, ...]:
        """As many lanes as fit: the head, those whom readers wait for, then the fullest; in their order."""
        if len(self.lanes) <= height:
            return self.lanes
        by_need = sorted(self.lanes, key=lambda lane: not (lane.head or lane.waiting))
        kept = by_need[:height]
        return tuple(lane for lane in self.lanes if lane in kept)

    def place(self, rv: int, width: int) -> int:
        """The cell (0 … width) up to which a track of `width` cells is filled at `rv`."""
        behind = min(self.span, max(0, self.head - rv))
        return width - round(behind * width / self.span)


def race_of(state: State) -> Race:
    """All caches that run, the greatest first (so that lanes keep their places)."""
    head = max([state.head.revision, *(row.rv for row in state.caches.values() if row.live)], default=0)
    runners = sorted((row for row in state.caches.values() if row.live), key=by_size)
    lanes = [Lane(row.resource, row.rv, row.lag(head), row.ticked, row.cache.waiting) for row in runners]
    longest = max((lane.lag for lane in lanes), default=0)
    return Race((Lane("etcd", head, 0, head=True), *lanes), head, nice_span(longest))


def by_size(row: CacheRow) -> tuple[int, str]:
    """Order of caches: the fullest first, then by name."""
    return (-row.cache.objects, row.resource)


def nice_span(lag: int) -> int:
    """A track's length that holds `lag` and seldom changes: 50, 100, 200, 500, 1,000 …"""
    span, steps = LEAST_SPAN, cycle((2.0, 2.0, 2.5))
    while span < lag * 1.25:
        span = int(span * next(steps))
    return span
