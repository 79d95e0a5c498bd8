"""Columns of the Cache screen's tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from ktui.contract.cache_documents import CachedEvent, CachedObject
from ktui.contract.events import CacheStatus, Prefix
from ktui.core.format import integer, rate, revision_within, short_bytes, short_count, within
from ktui.core.state import CacheRow, State
from ktui.core.table.columns import NOTHING, Cell, Column, Run
from ktui.tui.cache.rv_progress import by_size, lag_style
from ktui.tui.charts.bars import bar, share_of
from ktui.tui.widgets.lines import figure, resource_runs

# Each state has its own glyph, not only its own colour.
STATES = {
    "ready": ("●", "$rv-cache"),
    "initializing": ("◐", "$route-wait"),
    "reinitializing": ("↻", "$route-wait"),
    "cold": ("○", "$ink-muted"),
    "disabled": ("⊘", "$ink-muted"),
    "stale": ("◌", "$warning"),
}


def is_loading(cache: CacheStatus) -> bool:
    return cache.state in ("initializing", "reinitializing")


def loaded_share(cache: CacheStatus) -> float | None:
    """Return the share loaded so far (0–1); None if it is not loading, or the total is unknown."""
    if not is_loading(cache) or cache.expected <= 0:
        return None
    return min(1.0, cache.loaded / cache.expected)


def window(row: CacheRow) -> int:
    """Return how many revisions before the current one a WATCH can start at; 0 without an event buffer."""
    return max(0, row.rv - row.cache.oldest_rv) if row.cache.oldest_rv else 0


SHARE_STEPS = 28  # steps in which shares are drawn, so that one more byte does not repaint every line


@dataclass(frozen=True, slots=True)
class CacheLine:
    """A cache, how far it is behind etcd's head, and what etcd holds under its prefix."""

    row: CacheRow
    lag: int
    prefix: Prefix | None = None
    per_second: float = 0.0  # recent events from etcd
    share: float = 0.0  # of the bytes of the largest (0–1)

    @property
    def cache(self) -> CacheStatus:
        return self.row.cache

    @property
    def resource(self) -> str:
        return self.row.resource

    @property
    def bytes(self) -> int:
        """Bytes that the cache holds, has loaded so far, or would read from etcd."""
        if is_loading(self.cache):
            return self.cache.loaded_bytes
        return self.prefix.bytes if not self.row.live and self.prefix is not None else self.cache.bytes


def cache_lines(state: State) -> list[CacheLine]:
    """Return a line for every cache, and for every resource in etcd without one (cold)."""
    prefixes = {prefix.resource: prefix for prefix in state.prefixes.values() if prefix.resource}
    cold = {resource: _cold(resource) for resource in prefixes.keys() - state.caches.keys()}
    head = state.revision
    lines = [
        CacheLine(row, row.lag(head), prefixes.get(row.resource), state.events_per_second(row.resource))
        for row in (state.caches | cold).values()
    ]
    most = max((line.bytes for line in lines), default=0) or 1
    steps = [ceil(line.bytes / most * SHARE_STEPS) for line in lines]  # a small share is still visible
    lines = [replace(line, share=step / SHARE_STEPS) for line, step in zip(lines, steps, strict=True)]
    return sorted(lines, key=_order)


@lru_cache(4096)
def _cold(resource: str) -> CacheRow:
    """Return the same row each time: rows are compared by their identity."""
    return CacheRow(CacheStatus(resource=resource, state="cold"), rv=0)


def _order(line: CacheLine) -> tuple[int, int, str]:
    """Return the sort key: the largest caches first, as on the Overview; then prefixes without one."""
    if is_loading(line.cache) or line.cache.objects:
        return 0, *by_size(line.row)
    count = line.prefix.count if line.prefix is not None else 0
    return (1 if count else 2), -count, line.resource


_EVENT_STYLES = {"ADDED": "$success", "MODIFIED": "$foreground", "DELETED": "$error"}
_EVENT_SIGNS = {"ADDED": "+", "MODIFIED": "~", "DELETED": "−"}


def state_run(row: CacheLine) -> Run:
    """Return `● ready`, or `◐ loading` while it is filled."""
    glyph, style = STATES.get(row.row.shown_state, ("?", "$error"))
    return (f"{glyph} {'loading' if is_loading(row.cache) else row.row.shown_state}", style)


def _state(row: CacheLine) -> Cell:
    (text, style), share = state_run(row), loaded_share(row.cache)
    return (text if share is None else f"{text} {share:.0%}", style)


_RV, _LAG, _OBJECTS, _WINDOW = 10, 6, 7, 17  # cells
_FULL = 12  # cells of the bar for a full event buffer


def _revision(value: int, style: str = "") -> Cell:
    return (revision_within(value, _RV), style) if value else NOTHING


def _lag(row: CacheLine) -> Cell:
    if not row.row.live:
        return NOTHING
    return (within(row.lag, _LAG), lag_style(row.lag, row.cache.waiting))


def _objects(row: CacheLine) -> Cell:
    if is_loading(row.cache):
        return (within(row.cache.loaded, _OBJECTS), "$route-wait")
    if not row.row.live and row.prefix is not None:
        return (within(row.prefix.count, _OBJECTS), "$ink-muted")
    return (within(row.cache.objects, _OBJECTS), "") if row.cache.objects else NOTHING


def _bytes(row: CacheLine) -> Cell:
    size = row.bytes
    if not size:
        return NOTHING
    if is_loading(row.cache):
        return (short_bytes(size), "$route-wait")
    guessed = not row.row.live and row.prefix is not None and not row.prefix.exact
    return (f"{'~' if guessed else ''}{short_bytes(size)}", "" if row.row.live else "$ink-muted")


def _window(row: CacheLine) -> Cell:
    cache = row.cache
    if not cache.oldest_rv:
        return NOTHING
    oldest, newest = integer(cache.oldest_rv), integer(row.row.rv)
    if len(oldest) + len(newest) >= _WINDOW:
        return (f"the last {short_count(window(row.row))}", "")
    return ((oldest, "$ink-muted"), ("–", "$ink-faint"), (newest, ""))


def _ring(row: CacheLine) -> Cell:
    cache = row.cache
    if not cache.capacity:
        return NOTHING
    return ((integer(cache.buffered), ""), (f"/{integer(cache.capacity)}", "$ink-muted"))


CACHES: tuple[Column[CacheLine], ...] = (
    Column("resource", "resource", lambda row: resource_runs(row.resource, ""), width=18, flex=1, most=56,
           wish=40, priority=0, about="the resource that it caches"),
    Column("state", "state", _state, value=lambda row: row.row.shown_state, width=13, priority=0,
           about="ready, stale (no word from etcd), loading (and how far), cold (not filled), disabled"),
    figure("rv", "RV", lambda row: row.row.rv, "revision of its last event or progress notification",
           width=_RV, priority=0, unit="rv", cell=lambda row: _revision(row.row.rv, "$rv-cache")),
    figure("lag", "behind", lambda row: row.lag, "revisions that the cache is behind etcd", width=_LAG,
           priority=0, cell=_lag),
    figure("objects", "objects",
           lambda row: row.cache.objects if row.row.live or row.prefix is None else row.prefix.count,
           "objects in the cache; in grey those in etcd", width=_OBJECTS, priority=0, cell=_objects),
    figure("bytes", "bytes", lambda row: row.bytes,
           "size of its objects as stored in etcd; ~ estimated from a sample", width=6, priority=0, unit="B",
           cell=_bytes),
    Column("share", "", lambda row: (bar(row.share, SHARE_STEPS // 2), "$chart-share"), lambda row: row.share,
           SHARE_STEPS // 2, priority=7, about="bytes as a share of the largest"),
    Column("window", "watch from", _window, lambda row: window(row.row), _WINDOW, align="right", priority=5,
           about="oldest and newest revision that a WATCH can start from", unit="rv"),
    Column("ring", "event buffer", _ring, lambda row: row.cache.buffered, 13, align="right", priority=5,
           about="events kept for WATCHes, and how many fit"),
    Column("full", "",
           lambda row: (bar(share_of(row.cache.buffered, row.cache.capacity), _FULL), "$ink-muted"),
           lambda row: share_of(row.cache.buffered, row.cache.capacity), _FULL, priority=8,
           about="how full the event buffer is"),
    figure("events", "events", lambda row: row.cache.events,
           "events received from etcd since the server started", width=7, priority=3, whole=True, style=""),
    figure("rate", "rate", lambda row: row.per_second, "events a second now", width=7, priority=6,
           shown=rate, style="$ink-muted"),
    figure("watchers", "watch", lambda row: row.cache.watchers, "open WATCHes that it serves", whole=True,
           style=""),
    figure("waiting", "wait", lambda row: row.cache.waiting, "reads waiting until it is fresh enough",
           width=4, whole=True, style="bold $route-wait"),
    figure("snapshots", "snap", lambda row: row.cache.snapshots,
           "snapshots kept for LISTs at an exact resourceVersion", width=4, priority=2, whole=True,
           style="$route-snapshot"),
)  # fmt: skip

OBJECTS: tuple[Column[CachedObject], ...] = (
    Column("namespace", "namespace", lambda row: (row.namespace or "·", "$ink-muted"),
           lambda row: row.namespace, 12, flex=1, priority=1, about="its namespace"),
    Column("name", "name", lambda row: row.name or ("…", "$ink-faint"), lambda row: row.name, 16, flex=3,
           priority=0, tail=True, copied=lambda row: f"{row.namespace}/{row.name}".lstrip("/"),
           about="its name"),
    Column("rv", "RV", lambda row: _revision(row.revision), lambda row: row.revision, _RV, align="right",
           priority=0, about="its resourceVersion: the revision of its last write", unit="rv"),
    figure("bytes", "bytes", lambda row: row.bytes, "size of the object as stored in etcd", width=6,
           priority=2, unit="B",
           cell=lambda row: (short_bytes(row.bytes) if row.revision else "", "$ink-muted")),
)  # fmt: skip

EVENTS: tuple[Column[CachedEvent], ...] = (
    Column("rv", "RV", lambda row: _revision(row.revision), lambda row: row.revision, _RV, align="right",
           priority=0, about="the revision of the event", unit="rv"),
    Column("type", "event", lambda row: (f"{_EVENT_SIGNS.get(row.type, '?')} {row.type}",
           _EVENT_STYLES.get(row.type, "")), lambda row: row.type, 10, priority=1,
           about="+ ADDED, ~ MODIFIED, − DELETED"),
    Column("object", "object", lambda row: (
        (f"{row.namespace}/" if row.namespace else "", "$ink-muted"), (row.name, "")), width=12, flex=1,
           priority=0, tail=True, about="the object that changed"),
)  # fmt: skip
