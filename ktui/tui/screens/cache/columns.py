"""Columns of the Cache screen's tables."""

from __future__ import annotations

from ktui.tui.model.cache_lines import CacheLine
from ktui.tui.model.cache_view import GLYPHS, CachedObject, RingEvent, is_loading, loaded_share, window
from ktui.tui.model.format import integer, rate, short_bytes
from ktui.tui.widgets.columns import Cell, Column

STATE_STYLES = {
    "ready": "$rv-cache",
    "initializing": "$route-wait",
    "reinitializing": "$route-wait",
    "cold": "$ink-muted",
    "disabled": "$ink-muted",
}
_EVENT_STYLES = {"ADDED": "$success", "MODIFIED": "$foreground", "DELETED": "$error"}
_EVENT_SIGNS = {"ADDED": "+", "MODIFIED": "~", "DELETED": "−"}


def _resource(row: CacheLine) -> Cell:
    """The plural name first: where room is short the group is what gets cut."""
    plural, dot, group = row.resource.partition(".")
    return ((plural, ""), (f"{dot}{group}", "$ink-muted"))


def _state(row: CacheLine) -> Cell:
    state = row.cache.state
    share = loaded_share(row.cache)
    word = f"loading {share:.0%}" if share is not None else "loading" if is_loading(row.cache) else state
    return (f"{GLYPHS.get(state, '?')} {word}", STATE_STYLES.get(state, "$error"))


def _number(value: int, style: str = "") -> Cell:
    return (integer(value), style) if value else ("–", "$ink-faint")


def _lag(row: CacheLine) -> Cell:
    if not row.row.live:
        return ("–", "$ink-faint")
    return (integer(row.lag), "$rv-lag" if row.lag else "$ink-muted")


def _objects(row: CacheLine) -> Cell:
    if is_loading(row.cache):
        return (integer(row.cache.loaded), "$route-wait")
    if not row.row.live and row.prefix is not None:
        return (integer(row.prefix.count), "$ink-muted")
    return _number(row.cache.objects)


def _objects_value(row: CacheLine) -> int:
    return row.prefix.count if not row.row.live and row.prefix is not None else row.cache.objects


def _bytes_value(row: CacheLine) -> int:
    if is_loading(row.cache):
        return row.cache.loaded_bytes
    return row.prefix.bytes if not row.row.live and row.prefix is not None else row.cache.bytes


def _bytes(row: CacheLine) -> Cell:
    size = _bytes_value(row)
    if not size:
        return ("–", "$ink-faint")
    if is_loading(row.cache):
        return (short_bytes(size), "$route-wait")
    guessed = not row.row.live and row.prefix is not None and not row.prefix.exact
    return (f"{'~' if guessed else ''}{short_bytes(size)}", "" if row.row.live else "$ink-muted")


def _window(row: CacheLine) -> Cell:
    cache = row.cache
    if not cache.oldest_rv:
        return ("–", "$ink-faint")
    return ((integer(cache.oldest_rv), "$ink-muted"), ("–", "$ink-faint"), (integer(row.row.rv), ""))


def _ring(row: CacheLine) -> Cell:
    cache = row.cache
    if not cache.capacity:
        return ("–", "$ink-faint")
    return ((integer(cache.buffered), ""), (f"/{integer(cache.capacity)}", "$ink-muted"))


CACHES: tuple[Column[CacheLine], ...] = (
    Column("resource", "resource", _resource, lambda row: row.resource, width=18, flex=1, priority=0),
    Column("state", "state", _state, value=lambda row: row.cache.state, width=13, priority=0),
    Column("rv", "rv", lambda row: _number(row.row.rv, "bold $rv-cache"), lambda row: row.row.rv, 9,
           align="right", priority=0, descending=True),
    Column("lag", "lag", _lag, lambda row: row.lag, 5, align="right", priority=0, descending=True),
    Column("objects", "objects", _objects, _objects_value, 7, align="right", priority=0, descending=True),
    Column("bytes", "bytes", _bytes, _bytes_value, 6, align="right", priority=0, descending=True),
    Column("window", "window", _window, lambda row: window(row.row), 17, align="right", priority=4),
    Column("ring", "ring", _ring, lambda row: row.cache.buffered, 13, align="right", priority=5),
    Column("events", "events", lambda row: _number(row.cache.events), lambda row: row.cache.events, 7,
           align="right", priority=3, descending=True),
    Column("rate", "rate", lambda row: (rate(row.row.events_per_second), "$ink-muted"),
           lambda row: row.row.events_per_second, 7, align="right", priority=6, descending=True),
    Column("watchers", "watch", lambda row: _number(row.cache.watchers), lambda row: row.cache.watchers, 5,
           align="right", priority=1, descending=True),
    Column("waiting", "wait", lambda row: _number(row.cache.waiting, "bold $route-wait"),
           lambda row: row.cache.waiting, 4, align="right", priority=1, descending=True),
    Column("snapshots", "snap", lambda row: _number(row.cache.snapshots, "$route-snapshot"),
           lambda row: row.cache.snapshots, 5, align="right", priority=2, descending=True),
)  # fmt: skip

OBJECTS: tuple[Column[CachedObject], ...] = (
    Column("namespace", "namespace", lambda row: (row.namespace or "–", "$ink-muted"),
           lambda row: row.namespace, 12, flex=1, priority=1),
    Column("name", "name", lambda row: row.name or ("…", "$ink-faint"), lambda row: row.name, 16, flex=3,
           priority=0),
    Column("rv", "rv", lambda row: _number(row.rv), lambda row: row.rv, 9, align="right", priority=0),
    Column("bytes", "bytes", lambda row: (short_bytes(row.bytes) if row.rv else "", "$ink-muted"),
           lambda row: row.bytes, 6, align="right", priority=2),
)  # fmt: skip

RING: tuple[Column[RingEvent], ...] = (
    Column("rv", "rv", lambda row: _number(row.rv), lambda row: row.rv, 9, align="right", priority=0),
    Column("type", "event", lambda row: (f"{_EVENT_SIGNS.get(row.type, '?')} {row.type}",
           _EVENT_STYLES.get(row.type, "")), lambda row: row.type, 10, priority=1),
    Column("object", "object", lambda row: (
        (f"{row.namespace}/" if row.namespace else "", "$ink-muted"), (row.name, "")), width=12, flex=1,
           priority=0),
)  # fmt: skip
