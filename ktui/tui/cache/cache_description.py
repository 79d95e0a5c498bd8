"""What the selected cache is doing, in words; and the clients that read its resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from textual.content import Content

from ktui.contract.events import CacheStatus
from ktui.core.format import clock_time, integer, long_bytes, many, milliseconds, safe
from ktui.core.ranking.rank_lines import RankLine, shape_runs
from ktui.core.state import State
from ktui.tui.cache.cache_columns import CacheLine, is_loading, loaded_share, state_run
from ktui.tui.cache.rv_progress import lag_style
from ktui.tui.charts.bars import TRACK, bar
from ktui.tui.keys.hints import key_of
from ktui.tui.requests.ranking_columns import route_runs
from ktui.tui.widgets.lines import labelled, line, lines, longest_that_fits, pad, wrapped


def about(row: CacheLine, head: int, width: int, height: int) -> Content:
    """Describe the cache in `row`; `head` is etcd's revision. The longest form that fits is used."""
    state = row.cache.state
    if state == "cold":
        cost = "reads all of it from etcd, in pages"
        if (prefix := row.prefix) is not None:
            size = f", {'' if prefix.exact else '~'}{long_bytes(prefix.bytes)}" if prefix.bytes else ""
            cost = f"{many(prefix.count, 'key')}{size} read from etcd, in pages"
        return lines([_head(row, "not requested yet"), _keyed("cache.warm", "warms it: ", cost)])
    if state == "disabled":
        rule = "etcd answers every GET, LIST and WATCH of it"
        return lines([_head(row, "no watch cache"), line((rule, "$ink-muted"))])
    if is_loading(row.cache):
        return _about_loading(row, width)
    return _about_ready(row, head, width, height)


def _about_loading(row: CacheLine, width: int) -> Content:
    cache = row.cache
    again = "being filled from etcd" if cache.state == "initializing" else "being filled from etcd again"
    parts = [_head(row, again), _progress(cache, width)]
    if cache.error:
        parts += wrapped(cache.error, width, "$error")
    else:
        parts.append(line(("until then LISTs wait, go to etcd or get 429, by version", "$ink-muted")))
    parts.append(_keyed("cache.cancel", "stops filling: the cache is cold again", ""))
    return lines(parts)


def _progress(cache: CacheStatus, width: int) -> Content:
    share = loaded_share(cache)
    if not cache.loaded and share is None and not cache.error:
        return line(("queued: only a few caches are filled at a time", "$route-wait"))
    read = f" · {long_bytes(cache.loaded_bytes)} read" if cache.loaded_bytes else ""
    if share is None:
        return line((f"{integer(cache.loaded)} objects so far{read}", "$route-wait"))
    room = max(10, min(60, width - 48))
    done = bar(share, room)
    return line(
        (done, "$route-wait"),
        (TRACK * (room - len(done)), "$ink-faint"),
        (f" {share:4.0%}", "bold $route-wait"),
        (f"  {integer(cache.loaded)} of {many(cache.expected, 'object')}{read}", "$foreground"),
    )


def _about_ready(row: CacheLine, head: int, width: int, height: int) -> Content:
    """Return the facts one per line, with a gap before the last if that fits, or else two per line."""
    cache, muted = row.cache, "$ink-muted"
    top, check, last = _head(row, ""), _check(cache), _last(row)
    holds, rv = _holdings(cache), [("RV ", muted), (integer(row.row.rv), "bold $rv-cache")]
    behind = f" · {many(row.lag, 'revision')} behind etcd" if row.lag else " · up to date with etcd"
    of, style = f" ({integer(head)})" if row.lag and head else "", lag_style(row.lag, cache.waiting)
    buffered = f"{integer(cache.buffered)} of {many(cache.capacity, 'event')}"
    watchable = [("a WATCH can start from RV ", muted), (integer(cache.oldest_rv), "$foreground")]
    waiting = f"{integer(cache.waiting)} waiting for it to catch up"
    readers = [
        (f"{many(cache.watchers, 'watcher')} · ", "$foreground"),
        (waiting, "bold $route-wait" if cache.waiting else "$foreground"),
    ]
    costs = f"{many(cache.snapshots, 'snapshot')} · {many(cache.progress_requests, 'progress request')}"
    tall = [
        top,
        _labelled("holds", holds),
        _labelled("", *rv, (behind + of, style)),
        _labelled("buffer", buffered),
        _labelled("", *watchable),
        _labelled("now", *readers),
        _labelled("", costs),
        *check,
    ]
    if len(tall) < height:
        return lines([*tall, *([line("")] if len(tall) + 1 < height else []), last])
    at, dot = [(" at ", muted), *rv], (" · ", muted)
    held = [_labelled("holds", holds, *at, (behind, style)), _labelled("holds", holds, *at)]
    buffer = _labelled("buffer", buffered, dot, *watchable)
    now = [_labelled("now", *readers, dot, costs), _labelled("now", *readers)]
    holding, reading = longest_that_fits(held, width), longest_that_fits(now, width)
    return lines([top, holding, buffer, reading, *check[:1], last])


_labelled = partial(labelled, 7)


def _holdings(cache: CacheStatus) -> str:
    stored = f"{many(cache.objects, 'object')}, {long_bytes(cache.bytes)} stored"
    if not cache.json_bytes and not cache.json_evicted:
        return stored
    evicted = f" ({integer(cache.json_evicted)} evicted)" if cache.json_evicted else ""
    return f"{stored} · {long_bytes(cache.json_bytes)} JSON kept{evicted}"


_CHECKS = {"success": ("= etcd", "$success"), "failure": ("≠ etcd", "bold $error")}


def _check(cache: CacheStatus) -> list[Content]:
    """Return the newest consistency check and, in a second line, its cost; [] before the first."""
    if not cache.check:
        return []
    text, style = _CHECKS.get(cache.check, ("could not be made", "$warning"))
    detail = f": {safe(cache.check_detail)}" if cache.check_detail else ""
    at = (f" at {clock_time(cache.checked_at)}", "$ink-muted")
    read = f"{many(cache.check_objects, 'object')}, {long_bytes(cache.check_bytes)} read from etcd"
    dropped = "; no snapshots until one succeeds" if cache.check == "failure" else ""
    cost = (f"{read} in {milliseconds(cache.check_ms)} ms{dropped}", "$ink-muted")
    return [_labelled("check", (text, style), at, (detail, style)), _labelled("", cost)]


def _last(row: CacheLine) -> Content:
    if row.cache.error:
        return line((row.cache.error, "$error"))
    if row.row.stale:
        since = clock_time(row.cache.stale_since)
        return line((f"no word from etcd since {since}: reads at resourceVersion=0 may be old", "$warning"))
    return _keyed("table.open", "objects and events", "")


def _head(row: CacheLine, what: str) -> Content:
    return line((row.resource, "bold $ink-strong"), ("  ", ""), state_run(row), (f"  {what}", "$ink-muted"))


def _keyed(binding: str, what: str, rest: str) -> Content:
    return line((pad(key_of(binding), 6) + " ", "bold $accent"), (what, "$foreground"), (rest, "$ink-muted"))


_ASKED, _SIZE, _LETTERS = 6, 9, 3  # cells
_CLIENT, _WHOLE_CLIENT = 14, 19  # cells of a client; the latter from _ROOMY cells of width on
_LEAST_REQUEST, _ROOMY = 10, 60


def readers_content(
    rows: Sequence[RankLine], state: State, resource: str, width: int, height: int
) -> Content:
    """Return the most expensive reads of `resource` (`rows` of the ranking, by cost), then its watchers."""
    watchers = [row for row in state.watchers.values() if row.resource == resource]
    if not rows and not watchers:
        return line(("no reads since ktui connected", "$ink-muted"))
    below = []
    if watchers:  # `watched by kubelet ×60, kube-scheduler`, the most frequent first
        clients = Counter(row.opened.client for row in watchers).most_common()
        words = [f"{client} ×{integer(count)}" if count > 1 else client for client, count in clients]
        below = [line(("watched by ", "$ink-muted"), (", ".join(words), "$foreground"))]
    room = height - len(below) - 1
    asked, size = pad("count", _ASKED, right=True), pad("processed", _SIZE + 1, right=True)
    head = line((pad("", max(0, width - _ASKED - _SIZE - 1)) + asked + size, "$ink-muted"))
    drawn = [head, *(_row(row, width) for row in rows[: max(1, room)])] if rows else []
    return lines([*drawn, *below][:height])


def _row(row: RankLine, width: int) -> Content:
    client = _WHOLE_CLIENT if width >= _ROOMY else _CLIENT
    room = max(_LEAST_REQUEST, width - _LETTERS - client - _ASKED - _SIZE - 2)
    letters, size = route_runs(row)[:2], row.spent.processed_bytes
    processed = (long_bytes(size) if size else "·").rjust(_SIZE + 1)
    what = line(*shape_runs(row.group.key.shape)) if row.group is not None else line("")
    return Content.assemble(
        line(*letters, (" " * (_LETTERS - len(letters)), ""), (pad(row.client, client) + " ", "$ink-strong")),
        what.truncate(room, ellipsis=True, pad=True),
        line(
            (integer(row.count).rjust(_ASKED), "$foreground"),
            (processed, "$ink-strong" if size else "$ink-faint"),
        ),
    )
