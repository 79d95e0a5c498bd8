"""What the cache under the cursor is doing, in words."""

from __future__ import annotations

from textual.content import Content

from ktui.tui.model.cache_lines import CacheLine
from ktui.tui.model.cache_view import GLYPHS, is_loading, loaded_share
from ktui.tui.model.format import integer, long_bytes, many
from ktui.tui.model.state import CacheState
from ktui.tui.screens.cache.columns import STATE_STYLES
from ktui.tui.widgets.bars import TRACK, bar
from ktui.tui.widgets.lines import line, lines, pad


def about(row: CacheLine, width: int, head: int) -> Content:
    """What the cache under the cursor is doing, in words."""
    state = row.cache.state
    if state == "cold":
        return _about_cold(row)
    if state == "disabled":
        rule = "every GET, LIST and WATCH of it is answered by etcd"
        return lines([_head(row, "no watch cache"), line((rule, "$ink-muted"))])
    if is_loading(row.cache):
        return _about_loading(row, width)
    return _about_ready(row, head)


def _about_cold(row: CacheLine) -> Content:
    prefix = row.prefix
    cost = "all of it is read from etcd, in pages"
    if prefix is not None:
        size = f", {'' if prefix.exact else '~'}{long_bytes(prefix.bytes)}" if prefix.bytes else ""
        cost = f"{integer(prefix.count)} keys{size} are read from etcd, in pages"
    return lines([_head(row, "nobody has asked for it yet"), _keyed("w", "warms it: ", cost)])


def _about_loading(row: CacheLine, width: int) -> Content:
    cache = row.cache
    again = "being filled from etcd" if cache.state == "initializing" else "being filled from etcd again"
    parts = [_head(row, again), _progress(cache, width)]
    if cache.error:
        parts.append(line((cache.error, "$error")))
    else:
        parts.append(line(("until then LISTs wait, go to etcd or get a 429, by version", "$ink-muted")))
    parts.append(_keyed("x", "cancels it: the cache is cold again", ""))
    return lines(parts)


def _progress(cache: CacheState, width: int) -> Content:
    share = loaded_share(cache)
    if not cache.loaded and share is None and not cache.error:
        return line(("waits for its turn: an etcd is not read for many caches at once", "$route-wait"))
    read = f" · {long_bytes(cache.loaded_bytes)} read" if cache.loaded_bytes else ""
    if share is None:
        return line((f"{integer(cache.loaded)} objects so far{read}", "$route-wait"))
    room = max(10, min(60, width - 48))
    done = bar(share, room)
    return line(
        (done, "$route-wait"),
        (TRACK * (room - len(done)), "$ink-faint"),
        (f" {share:4.0%}", "bold $route-wait"),
        (f"  {integer(cache.loaded)} of {integer(cache.expected)} objects{read}", "$foreground"),
    )


def _about_ready(row: CacheLine, head: int) -> Content:
    cache = row.cache
    behind = f"{integer(row.lag)} behind etcd's head {integer(head)}" if row.lag else "level with etcd's head"
    parts = [
        _head(row, ""),
        _labelled(
            "holds",
            (f"{many(cache.objects, 'object')}, {long_bytes(cache.bytes)} at rv ", "$foreground"),
            (integer(row.row.rv), "bold $rv-cache"),
            (f" · {behind}", "$rv-lag" if row.lag else "$ink-muted"),
        ),
        _labelled(
            "ring",
            (f"{integer(cache.buffered)} of {integer(cache.capacity)} events", "$foreground"),
            (" · a WATCH may start from rv ", "$ink-muted"),
            (integer(cache.oldest_rv), "$foreground"),
        ),
        _labelled(
            "now",
            (f"watchers {integer(cache.watchers)} · ", "$foreground"),
            (f"waiting {integer(cache.waiting)}", "bold $route-wait" if cache.waiting else "$foreground"),
            (f" · snapshots {integer(cache.snapshots)}", "$foreground"),
            (f" · progress requests {integer(cache.progress_requests)}", "$foreground"),
        ),
    ]
    parts.append(line((cache.error, "$error")) if cache.error else _keyed("enter", "objects and events", ""))
    return lines(parts)


def _head(row: CacheLine, what: str) -> Content:
    state = row.cache.state
    badge = (f"{GLYPHS.get(state, '?')} {state}", STATE_STYLES.get(state, "$error"))
    return line((row.resource, "bold $ink-strong"), ("  ", ""), badge, (f"  {what}", "$ink-muted"))


def _labelled(label: str, *parts: tuple[str, str]) -> Content:
    return line((pad(label, 6), "$ink-muted"), *parts)


def _keyed(key: str, what: str, rest: str) -> Content:
    return line((pad(key, 6), "bold $accent"), (what, "$foreground"), (rest, "$ink-muted"))
