"""The columns of the Overview's table of watch caches."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ktui.core.format import integer, within
from ktui.core.request_view import short_resource
from ktui.core.state import CacheRow, State
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.cache.rv_progress import by_size, lag_style
from ktui.tui.widgets.lines import figure

STATES = {
    "ready": ("●", "$route-cache"),
    "initializing": ("◐", "$route-wait"),
    "reinitializing": ("◐", "$route-wait"),
    "cold": ("○", "$ink-muted"),
    "disabled": ("–", "$ink-muted"),
    "stale": ("◌", "$warning"),
}
_LAG = 6  # cells


class CacheSummary(Struct, frozen=True):
    """A line of the table: the cache's row, its revisions behind etcd, and its events per second."""

    row: CacheRow
    lag: int
    per_second: float = 0.0


def cache_lines(state: State, before: Sequence[CacheSummary] = ()) -> list[CacheSummary]:
    """Return all caches, largest first; unchanged lines of `before` are reused and not painted again."""
    known = {line.row.resource: line for line in before}
    made = []
    for row in sorted(state.caches.values(), key=by_size):
        line = CacheSummary(row, row.lag(state.head.revision), state.events_per_second(row.resource))
        old = known.get(row.resource)
        made.append(old if old is not None and old.row is row and old == line else line)
    return made


def _name(line: CacheSummary) -> Cell:
    return (short_resource(line.row.resource), "$foreground" if line.row.live else "$ink-muted")


def _lag(line: CacheSummary) -> Cell:
    if not line.row.live:
        return (_progress(line.row), "$ink-muted")
    return (within(line.lag, _LAG), lag_style(line.lag, line.row.cache.waiting))


def _progress(row: CacheRow) -> str:
    """Return a cache's progress until it serves reads: a percentage while it fills, else its state."""
    cache = row.cache
    if cache.state in ("initializing", "reinitializing"):
        return f"{100 * cache.loaded // cache.expected}%" if cache.expected else "…"
    return "cold" if cache.state == "cold" else "off"


def _rv(line: CacheSummary) -> Cell:
    return (integer(line.row.rv) if line.row.live else "", "$ink-muted")


def _waiting(line: CacheSummary) -> Cell:
    waiting = line.row.cache.waiting
    return (str(waiting), "bold $route-wait") if waiting else NOTHING


COLUMNS: tuple[Column[CacheSummary], ...] = (
    Column("state", "", lambda line: STATES.get(line.row.shown_state, ("?", "$warning")),
           lambda line: line.row.shown_state, width=1, priority=0, known=tuple(STATES),
           about="● ready, ◌ stale, ◐ filling, ○ cold, – without a watch cache"),
    Column("resource", "resource", _name, lambda line: line.row.resource, width=16, flex=1, priority=0,
           about="the resource that it caches; filters take it with its group"),
    Column("rv", "RV", _rv, lambda line: line.row.rv, width=9, align="right", priority=3, descending=True,
           unit="rv", about="revision of its last event or progress notification"),
    figure("lag", "behind", lambda line: line.lag, "revisions that the cache is behind etcd", width=_LAG,
           priority=0, cell=_lag),
    figure("objects", "objects", lambda line: line.row.cache.objects, "objects in the cache", width=7),
    figure("bytes", "bytes", lambda line: line.row.cache.bytes, "size of its objects in etcd", width=6,
           priority=5, unit="B", style="$ink-muted"),
    figure("watchers", "watch", lambda line: line.row.cache.watchers, "WATCHes that it serves", priority=6),
    figure("waiting", "wait", lambda line: line.row.cache.waiting, "reads waiting until it is fresh enough",
           width=4, priority=4, cell=_waiting),
    figure("events", "ev/s", lambda line: line.per_second, "events a second from etcd now",
           priority=7, cell=lambda line: (f"{line.per_second:.1f}", "$ink-muted")),
)  # fmt: skip
