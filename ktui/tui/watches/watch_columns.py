"""Rows and columns of the Watches screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ktui.core.format import duration, integer, rate, revision_within, short_count
from ktui.core.rows import badge_of_route
from ktui.core.state import State, WatcherRow
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.widgets.lines import figure, resource_runs

KEPT_SECONDS = 60.0  # how long a closed WATCH is shown


class Health(StrEnum):
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


@dataclass(frozen=True, slots=True)
class WatchLine:
    """A WATCH as shown; replaced when any cell changes."""

    row: WatcherRow
    age: str
    seconds: int = field(compare=False)  # since it was opened
    per_second: float  # events delivered per second

    @property
    def id(self) -> int:
        return self.row.id

    @property
    def health(self) -> Health:
        row = self.row
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


def watch_lines(state: State) -> list[WatchLine]:
    """Return the open WATCHes, oldest first, then those closed within the last minute, newest first."""
    recent = (
        row
        for row in reversed(state.closed_watchers)
        if row.closed is not None and state.now - row.closed.at <= KEPT_SECONDS
    )
    return [_line(row, state) for row in (*state.watchers.values(), *recent)]


def _line(row: WatcherRow, state: State) -> WatchLine:
    until = row.closed.at if row.closed is not None else state.now
    seconds, counter = max(0.0, until - row.opened.at), state.watcher_rates.get(row.id)
    speed = counter.per_second(state.now) if counter is not None else 0.0
    return WatchLine(row, duration(seconds), int(seconds), round(speed, 1))


# Each state has its own glyph, not only its own colour.
SIGNS = {
    Health.OPEN: ("●", "$foreground"),
    Health.CATCHING_UP: ("◐", "$route-wait"),
    Health.LIVE: ("●", "$success"),
    Health.SLOW: ("▲", "bold $warning"),
    Health.FULL: ("▲", "bold $error"),
    Health.CUT_OFF: ("✕", "bold $error"),
    Health.CLOSED: ("○", "$ink-muted"),
}


_SINCE, _BUFFER = 10, 11  # cells


def _ink(line: WatchLine, style: str = "$foreground") -> str:
    """Return `style`, or muted for a closed WATCH."""
    return style if line.row.closed is None else "$ink-muted"


def _scope(line: WatchLine) -> Cell:
    scope = scope_of(line.row)
    form = line.row.opened.form
    text = (scope, "$ink-muted") if scope else ("all", "$ink-faint")
    return (text, (f" as {form}" if form else "", "$ink-faint"))


def _since(line: WatchLine) -> Cell:
    since = line.row.opened.since
    if not since:
        return ("unset", "$ink-faint")
    known = since.isdecimal() and len(since) < 19
    return (revision_within(int(since), _SINCE) if known else since, _ink(line))


def _buffer(line: WatchLine) -> Cell:
    row = line.row
    if row.closed is not None or not row.capacity:
        return NOTHING
    style = SIGNS[line.health][1] if row.buffered * 2 >= row.capacity else "$foreground"
    waiting, most = integer(row.buffered), f"/{integer(row.capacity)}"
    if len(waiting) + len(most) > _BUFFER:
        waiting, most = short_count(row.buffered), f"/{short_count(row.capacity)}"
    return (waiting, style if row.buffered else "$ink-faint"), (most, "$ink-muted")


def _shared(line: WatchLine) -> Cell:
    row = line.row
    total = row.made + row.shared
    return (f"{row.shared / total:.0%}", _ink(line)) if total else NOTHING


def _health(line: WatchLine) -> Cell:
    health, closed = line.health, line.row.closed
    word = health.value
    if closed is not None and closed.cause:
        word = f"{word}: {closed.cause}" if health is Health.CUT_OFF else closed.cause
    glyph, style = SIGNS[health]
    return (f"{glyph} {word}", style)


WATCHES: tuple[Column[WatchLine], ...] = (
    Column("route", "", lambda line: (badge_of_route(line.row.opened.route).letter,
                                      _ink(line, badge_of_route(line.row.opened.route).style)),
           width=1, priority=0, about="source of the initial events: C cache, E etcd"),
    Column("client", "client", lambda line: (line.row.opened.client, _ink(line)), width=12, flex=2, wish=15,
           priority=0, most=28, about="the client: first word of the User-Agent"),
    Column("resource", "resource", lambda line: resource_runs(line.row.resource, _ink(line)), width=12,
           flex=4, priority=0, most=44, wish=22, about="the watched resource"),
    Column("scope", "scope", _scope, width=8, flex=2, most=70, priority=2, wish=26,
           about="namespace and selectors, if any; the format of the answer"),
    Column("since", "since RV", _since, lambda line: line.row.opened.since, _SINCE, align="right", priority=5,
           about="the resourceVersion that it started after", unit="rv"),
    figure("age", "age", lambda line: line.seconds, "how long it has been open", width=6, priority=2,
           unit="s", cell=lambda line: (line.age, "$ink-muted")),
    figure("buffer", "buffer", lambda line: line.row.buffered,
           "events waiting for the client, and the limit", width=_BUFFER, cell=_buffer),
    figure("delivered", "events", lambda line: line.row.delivered, "events sent to it", width=7, priority=0,
           whole=True, style=_ink),
    figure("bookmarks", "bookmarks", lambda line: line.row.bookmarks, "bookmarks sent to it", width=9,
           priority=6, whole=True, style=_ink),
    figure("rate", "rate", lambda line: line.per_second, "events a second sent to it now", width=7,
           priority=4, cell=lambda line: (rate(line.per_second), "$ink-muted")
           if line.row.closed is None and line.per_second else NOTHING),
    figure("shared", "shared", lambda line: line.row.shared,
           "events that were already encoded for another watcher", width=6, priority=5, cell=_shared),
    Column("state", "state", _health, lambda line: line.health.value, width=13, flex=3, priority=0, most=24,
           about="live, catching up, slow, cut off, or why it closed"),
)  # fmt: skip
