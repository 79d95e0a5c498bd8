"""The selected WATCH in words."""

from __future__ import annotations

import textwrap

from textual.content import Content

from ktui.core.format import duration, figure, integer, local_time, long_bytes, many, milliseconds, rate, safe
from ktui.core.state import WatcherRow
from ktui.tui.charts.bars import TRACK, bar, share_of
from ktui.tui.watches.columns import GLYPHS, STYLES
from ktui.tui.watches.rows import CAUSES, Health, WatchLine, scope_of
from ktui.tui.widgets.lines import line, lines, longest_that_fits, pad

_LABEL = 10
_BAR = 20


def about(watch: WatchLine | None, width: int, height: int) -> Content:
    """Return its client, request, progress, and if it has ended, the reason."""
    if watch is None:
        return line(("select a watcher to see its request and state", "$ink-muted"))
    row = watch.row
    rows = [
        _who(watch, width),
        *_wrapped("request", _asked(row), width),
        _labelled("open", _open(watch), width),
        _delivered(watch, width),
        *_began(watch, width),
        _labelled(
            "encoded", f"{integer(row.made)} for it alone, {integer(row.shared)} shared with others", width
        ),
        _buffer(row) if row.closed is None else _labelled("why", _why(row), width),
    ]
    return lines(rows[:height])


def _who(watch: WatchLine, width: int) -> Content:
    opened, health = watch.row.opened, watch.health
    return line(
        (opened.client, "bold $ink-strong"),
        (f"  WATCH {opened.resource}  ", "$foreground"),
        (f"{GLYPHS[health]} {health.value}", STYLES[health]),
    ).truncate(width, ellipsis=True)


def _labelled(label: str, text: str, width: int) -> Content:
    return line((pad(label, _LABEL), "$ink-muted"), (text, "$foreground")).truncate(width, ellipsis=True)


def _wrapped(label: str, text: str, width: int) -> list[Content]:
    """Return a label and its text in one line or two, as selectors may be long."""
    first, *rest = textwrap.wrap(safe(text), max(10, width - _LABEL)) or [""]
    below = [_labelled("", " ".join(rest), width)] if rest else []
    return [_labelled(label, first, width), *below]


def _asked(row: WatcherRow) -> str:
    form = f", as {row.opened.form}" if row.opened.form else ""
    since = f"since RV {row.opened.since}" if row.opened.since else "no resourceVersion"
    return f"{scope_of(row) or 'all objects'}{form}, {since}"


def _open(watch: WatchLine) -> str:
    opened = watch.row.opened
    most = f", at most {duration(opened.timeout)}" if opened.timeout else ""
    return f"{watch.age} since {local_time(opened.at, opened.at + watch.seconds)}{most}"


def _delivered(watch: WatchLine, width: int) -> Content:
    row = watch.row
    if row.opened.observed:
        return line((pad("delivered", _LABEL), "$ink-muted"), ("not in traces", "$ink-muted"))
    events = many(row.delivered, "event")
    bookmarks = f", {integer(row.bookmarks)} of them bookmarks" if row.bookmarks else ""
    speed = f", {rate(watch.per_second)}" if row.closed is None else ""
    label = (pad("delivered", _LABEL), "$ink-muted")
    forms = [f"{events}{bookmarks}{speed}", f"{events}{bookmarks}", events]
    return longest_that_fits([line(label, (form, "$foreground")) for form in forms], width)


def _began(watch: WatchLine, width: int) -> list[Content]:
    """Return the cost of its initial events, and the bytes per second since; [] if not known yet."""
    row, state = watch.row, watch.row.state
    if state is None or not state.initial:
        return []
    seconds = state.initial_ms / 1000.0
    seats = f", {figure(row.opened.seats * seconds)} seat-seconds" if row.opened.seats else ""
    phrase = f"{long_bytes(state.initial_bytes)} in {milliseconds(state.initial_ms)} ms{seats}"
    later = watch.seconds - seconds
    since = (
        f"; {long_bytes(round((state.bytes - state.initial_bytes) / later))}/s since" if later >= 1 else ""
    )
    initial = f"{many(state.initial, 'event')}, {phrase}"
    label = (pad("initial", _LABEL), "$ink-muted")
    return [
        longest_that_fits(
            [line(label, (text, "$foreground")) for text in (initial + since, initial, phrase)], width
        )
    ]


def _buffer(row: WatcherRow) -> Content:
    label = (pad("buffer", _LABEL), "$ink-muted")
    if not row.capacity:
        return line(label, ("not known yet", "$ink-muted"))
    style = STYLES[Health.SLOW] if row.buffered * 2 >= row.capacity else "$rv-cache"
    filled = bar(share_of(row.buffered, row.capacity), _BAR)
    waiting = f"  {integer(row.buffered)} of {integer(row.capacity)} waiting"
    return line(
        label, (filled, style), (TRACK * (_BAR - len(filled)), "$ink-faint"), (waiting, "$foreground")
    )


def _why(row: WatcherRow) -> str:
    cause = row.closed.cause if row.closed is not None else ""
    return CAUSES.get(cause, cause or "unknown")
