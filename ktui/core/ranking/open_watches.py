"""WATCHes count in the ranking while they are open: their cost so far, and their event rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ktui.contract.events import WatcherState
from ktui.core.format import duration, integer, long_bytes, short_count
from ktui.core.ranking.group_key import TotalCost
from ktui.core.traffic import Rate

if TYPE_CHECKING:
    from ktui.core.ranking.group_key import GroupKey
    from ktui.core.rows import RequestRow


class RankedWatch:
    """One open WATCH. `counted` is the cost that its group already includes."""

    def __init__(self, key: GroupKey, row: RequestRow, letter: str) -> None:
        self.key = key
        self.row = row
        self.letter = letter
        self.counted = TotalCost()
        self.timed = False  # True once the time until it was live is counted
        self._events = 0
        self._bytes = 0

    def grown_to(self, spent: TotalCost) -> TotalCost:
        """Return the growth since the last call; `spent` is the cost so far."""
        more, self.counted = spent.since(self.counted), spent
        return more

    def sent_since(self, state: WatcherState) -> tuple[int, int]:
        """Return events and bytes sent since the last call, without the initial events."""
        events, size = state.delivered - state.initial, state.bytes - state.initial_bytes
        more = events - self._events, size - self._bytes
        self._events, self._bytes = events, size
        return more


class Flow:
    """Events and bytes sent to the WATCHes of a group after they were live."""

    def __init__(self) -> None:
        self.opened: dict[int, float] = {}  # opening time (Unix seconds) by request id
        self._events = 0
        self._bytes = 0
        self._event_rate = Rate()
        self._byte_rate = Rate()

    def add(self, at: float, events: int, size: int) -> None:
        """Add events and bytes; readings within one second count as one, however many WATCHes there are."""
        self._events += events
        self._bytes += size
        self._event_rate.add(float(int(at)), self._events)
        self._byte_rate.add(float(int(at)), self._bytes)

    def open_at(self, now: float) -> Open | None:
        """Return the open WATCHes at the time `now`; None if none is open."""
        if not self.opened:
            return None
        return Open(
            count=len(self.opened),
            seconds=int(max(0.0, now - min(self.opened.values()))),
            events=round(self._event_rate.per_second(now), 1),
            bytes=round(self._byte_rate.per_second(now)),
        )


class Open(Struct, frozen=True):
    """The open WATCHes of a group: how many, the age of the oldest, and their rate."""

    count: int
    seconds: int
    events: float
    bytes: int

    @property
    def age(self) -> str:
        return f"{self.seconds}s" if self.seconds < 10 else duration(self.seconds)

    @property
    def speed(self) -> str:
        """`12 ev/s`, `0.4 ev/s`."""
        return f"{self.events:.1f} ev/s" if 0 < self.events < 9.95 else f"{short_count(self.events)} ev/s"

    def words(self) -> str:
        """`open for 3m, 12 ev/s`, `60 open for up to 3m, 12 ev/s`."""
        many = f"{integer(self.count)} open for up to" if self.count > 1 else "open for"
        return f"{many} {self.age}, {self.speed}"

    def brief(self) -> str:
        """`open 3m, 12 ev/s`, `60 open, 12 ev/s`."""
        return (
            f"{integer(self.count)} open, {self.speed}"
            if self.count > 1
            else f"open {self.age}, {self.speed}"
        )

    def size_words(self) -> str:
        """`1.2 kB/s`."""
        return f"{long_bytes(self.bytes)}/s"
