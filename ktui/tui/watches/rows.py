"""The Watches screen's rows: WATCHes with their age, rate and state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ktui.core.format import duration
from ktui.core.state import State, WatcherRow

KEPT_SECONDS = 60.0  # how long a closed WATCH is shown


class Health(StrEnum):
    """The state of a WATCH."""

    OPEN = "open"
    CATCHING_UP = "catching up"
    LIVE = "live"
    SLOW = "slow"  # its buffer is at least half full
    FULL = "full"  # with one more event the time budget of slow watchers starts to run
    CUT_OFF = "cut off"
    CLOSED = "closed"


# Why a stream ended, and what that means for the client.
CAUSES = {
    "too slow": "it read too slowly: its buffer stayed full longer than the time budget allows",
    "cache reinitialized": "the watch cache was filled again: the client must list again",
    "etcd closed the watch": "etcd closed the underlying watch",
    "error": "an ERROR event was sent",
    "unfit event": "an event cannot be sent in the requested form (a list)",
    "timeout": "its timeout ended; clients then open the next WATCH",
    "client gone": "the client disconnected",
    "server stopping": "the server stopped",
    "server stops": "the server stopped",
}
_CUT_OFF = {"too slow", "cache reinitialized", "etcd closed the watch", "error", "unfit event"}


@dataclass(frozen=True, slots=True, eq=False)
class WatchLine:
    """A WATCH as shown; replaced when any cell changes."""

    row: WatcherRow
    age: str
    seconds: int  # since it was opened
    per_second: float  # events delivered per second

    @property
    def id(self) -> int:
        return self.row.id

    @property
    def health(self) -> Health:
        return health_of(self.row)


def health_of(row: WatcherRow) -> Health:
    if row.closed is not None:
        return Health.CUT_OFF if row.closed.cause in _CUT_OFF else Health.CLOSED
    if row.opened.observed:
        return Health.OPEN
    if row.state is None or not row.state.live:
        return Health.CATCHING_UP
    if row.capacity and row.buffered >= row.capacity:
        return Health.FULL
    return Health.SLOW if row.capacity and row.buffered * 2 >= row.capacity else Health.LIVE


def scope_of(row: WatcherRow) -> str:
    """Return `-n team-00 app=api` or `node-1`; "" for all objects."""
    opened = row.opened
    name = f"{opened.namespace}/{opened.name}" if opened.namespace and opened.name else opened.name
    place = name or (f"-n {opened.namespace}" if opened.namespace else "")
    return " ".join(filter(None, (place, opened.selector)))


class WatchLines:
    """Builds the lines from the state, and reuses each line that has not changed."""

    def __init__(self) -> None:
        self._lines: dict[int, WatchLine] = {}

    def of(self, state: State) -> list[WatchLine]:
        """Return the open WATCHes, oldest first, then those closed within the last minute, newest first."""
        recent = (
            row
            for row in reversed(state.closed_watchers)
            if row.closed is not None and state.now - row.closed.at <= KEPT_SECONDS
        )
        before, self._lines = self._lines, {}
        for row in (*state.watchers.values(), *recent):
            line = _line(row, state)
            self._lines[row.id] = _same_or(before.get(row.id), line)
        return list(self._lines.values())


def _line(row: WatcherRow, state: State) -> WatchLine:
    until = row.closed.at if row.closed is not None else state.now
    seconds = max(0.0, until - row.opened.at)
    counter = state.watcher_rates.get(row.id)
    speed = counter.per_second(state.now) if counter is not None else 0.0
    return WatchLine(row, duration(seconds), int(seconds), round(speed, 1))


def _same_or(before: WatchLine | None, now: WatchLine) -> WatchLine:
    if before is None:
        return now
    same = before.row is now.row and (before.age, before.per_second) == (now.age, now.per_second)
    return before if same else now
