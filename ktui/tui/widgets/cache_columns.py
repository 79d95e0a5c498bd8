"""The columns of the Overview's table of watch caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ktui.tui.model.format import integer, short_bytes, short_count
from ktui.tui.model.lanes import NOTED_LAG, by_size
from ktui.tui.model.request_view import short_resource
from ktui.tui.model.state import CacheRow, State
from ktui.tui.widgets.columns import Cell, Column

STATES = {
    "ready": ("●", "$route-cache"),
    "initializing": ("◐", "$warning"),
    "reinitializing": ("◐", "$warning"),
    "cold": ("○", "$ink-muted"),
    "disabled": ("–", "$ink-muted"),
}


@dataclass(frozen=True, slots=True)
class CacheLine:
    """A cache as its line shows it: its row and how far etcd is ahead."""

    row: CacheRow
    lag: int


def cache_lines(state: State, before: Sequence[CacheLine] = ()) -> list[CacheLine]:
    """All caches, the fullest first; lines of `before` that still hold are kept (and not painted anew)."""
    known = {line.row.resource: line for line in before}
    made = []
    for row in sorted(state.caches.values(), key=by_size):
        old, lag = known.get(row.resource), row.lag(state.head.revision)
        made.append(old if old is not None and old.row is row and old.lag == lag else CacheLine(row, lag))
    return made


def _name(line: CacheLine) -> Cell:
    return (short_resource(line.row.resource), "$foreground" if line.row.live else "$ink-muted")


def _lag(line: CacheLine) -> Cell:
    if not line.row.live:
        return (_progress(line.row), "$ink-muted")
    return (behind(line.lag), lag_style(line.lag, line.row.cache.waiting))


def behind(lag: int) -> str:
    """`−23`, `−1.7k`, `0`: at most six cells."""
    if not lag:
        return "0"
    return f"−{lag}" if lag < 1000 else f"−{short_count(lag)}"


def lag_style(lag: int, waiting: int) -> str:
    """A quiet cache lags until somebody asks for progress: only readers that wait make that a matter."""
    if waiting:
        return "$rv-lag bold"
    return "$foreground" if lag >= NOTED_LAG else "$ink-muted"


def _progress(row: CacheRow) -> str:
    """How far a cache is that does not serve yet."""
    cache = row.cache
    if cache.state in ("initializing", "reinitializing"):
        return f"{100 * cache.loaded // cache.expected}%" if cache.expected else "…"
    return "cold" if cache.state == "cold" else "off"


def _rv(line: CacheLine) -> Cell:
    return (integer(line.row.rv) if line.row.live else "", "$ink-muted")


def _count(value: int) -> Cell:
    return short_count(value) if value else ("·", "$ink-faint")


def _waiting(line: CacheLine) -> Cell:
    waiting = line.row.cache.waiting
    return (str(waiting), "bold $route-wait") if waiting else ("·", "$ink-faint")


COLUMNS: tuple[Column[CacheLine], ...] = (
    Column(
        "state",
        "",
        lambda line: STATES.get(line.row.cache.state, ("?", "$warning")),
        lambda line: line.row.cache.state,
        width=1,
        priority=0,
    ),
    Column("resource", "resource", _name, lambda line: line.row.resource, width=16, flex=1, priority=0),
    Column("rv", "rv", _rv, lambda line: line.row.rv, width=9, align="right", priority=3, descending=True),
    Column("lag", "lag", _lag, lambda line: line.lag, width=6, align="right", priority=0, descending=True),
    Column(
        "objects",
        "objs",
        lambda line: _count(line.row.cache.objects),
        lambda line: line.row.cache.objects,
        width=6,
        align="right",
        priority=1,
        descending=True,
    ),
    Column(
        "bytes",
        "bytes",
        lambda line: (short_bytes(line.row.cache.bytes), "$ink-muted"),
        lambda line: line.row.cache.bytes,
        width=6,
        align="right",
        priority=5,
        descending=True,
    ),
    Column(
        "watchers",
        "watch",
        lambda line: _count(line.row.cache.watchers),
        lambda line: line.row.cache.watchers,
        width=5,
        align="right",
        priority=6,
        descending=True,
    ),
    Column(
        "waiting",
        "W",
        _waiting,
        lambda line: line.row.cache.waiting,
        width=2,
        align="right",
        priority=4,
        descending=True,
    ),
    Column(
        "events",
        "ev/s",
        lambda line: (f"{line.row.events_per_second:.1f}", "$ink-muted"),
        lambda line: line.row.events_per_second,
        width=5,
        align="right",
        priority=7,
        descending=True,
    ),
)
