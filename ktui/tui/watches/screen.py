"""The Watches screen: all WATCHes with their states, and how one event is delivered to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.core import references as refs
from ktui.core.format import duration, figure, integer, local_time, long_bytes, many, milliseconds, rate
from ktui.core.request_view import short_resource
from ktui.core.state import CLOSED_WATCHERS, State, WatcherRow
from ktui.tui.charts.bars import TRACK, bar, share_of
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.watches.deliveries import deleted_content, fan_out_content
from ktui.tui.watches.watch_columns import CAUSES, SIGNS, WATCHES, Health, WatchLine, scope_of, watch_lines
from ktui.tui.widgets.lines import entitle, labelled, line, lines, longest_that_fits, wrap
from ktui.tui.widgets.panel import OneShown, Panel

_LABEL = 10
_BAR = 20
_row = partial(labelled, _LABEL)


def about(watch: WatchLine | None, width: int, height: int) -> Content:
    """Describe the selected WATCH: its client, request, progress, and if it has ended, the reason."""
    if watch is None:
        return line(("select a watcher to see its request and state", "$ink-muted"))
    row, opened, health = watch.row, watch.row.opened, watch.health
    glyph, style = SIGNS[health]
    cause = row.closed.cause if row.closed is not None else None
    client, state = (opened.client, "bold $ink-strong"), (f"{glyph} {health.value}", style)
    names = opened.resource, short_resource(opened.resource)
    who = [line(client, (f"  WATCH {name}  ", "$foreground"), state) for name in names]
    most = f", at most {duration(opened.timeout)}" if opened.timeout else ""
    alone = f"{integer(row.made)} for it alone, {integer(row.shared)} shared with others"
    rows = [
        longest_that_fits(who, width),
        *_request(row, width),
        _row("open", f"{watch.age} since {local_time(opened.at, opened.at + watch.seconds)}{most}"),
        _delivered(watch, width),
        *_began(watch, width),
        _row("encoded", alone),
        _buffer(row) if cause is None else _row("why", CAUSES.get(cause, cause or "unknown")),
    ]
    return lines(rows[:height])


def _request(row: WatcherRow, width: int) -> list[Content]:
    """Return the request in one line or two, as selectors may be long."""
    form = f", as {row.opened.form}" if row.opened.form else ""
    since = f"since RV {row.opened.since}" if row.opened.since else "no resourceVersion"
    text = f"{scope_of(row) or 'all objects'}{form}, {since}"
    first, *rest = wrap(text, width - _LABEL)
    return [_row("request", first), *([_row("", " ".join(rest))] if rest else [])]


def _delivered(watch: WatchLine, width: int) -> Content:
    row = watch.row
    if row.opened.observed:
        return _row("delivered", ("not in traces", "$ink-muted"))
    events = many(row.delivered, "event")
    bookmarks = f"{events}, {integer(row.bookmarks)} of them bookmarks" if row.bookmarks else events
    speed = f", {rate(watch.per_second)}" if row.closed is None else ""
    return longest_that_fits(
        [_row("delivered", text) for text in (bookmarks + speed, bookmarks, events)], width
    )


def _began(watch: WatchLine, width: int) -> list[Content]:
    """Return the cost of its initial events, and the bytes per second since; [] if not known yet."""
    row, state = watch.row, watch.row.state
    if state is None or not state.initial:
        return []
    seconds = state.initial_ms / 1000.0
    seats = f", {figure(row.opened.seats * seconds)} seat-seconds" if row.opened.seats else ""
    phrase = f"{long_bytes(state.initial_bytes)} in {milliseconds(state.initial_ms)} ms{seats}"
    initial, later = f"{many(state.initial, 'event')}, {phrase}", watch.seconds - seconds
    speed = round((state.bytes - state.initial_bytes) / later) if later >= 1 else 0
    since = f"; {long_bytes(speed)}/s since" if later >= 1 else ""
    return [longest_that_fits([_row("initial", text) for text in (initial + since, initial, phrase)], width)]


def _buffer(row: WatcherRow) -> Content:
    if not row.capacity:
        return _row("buffer", ("not known yet", "$ink-muted"))
    style = SIGNS[Health.SLOW][1] if row.buffered * 2 >= row.capacity else "$rv-cache"
    filled = bar(share_of(row.buffered, row.capacity), _BAR)
    waiting = f"  {integer(row.buffered)} of {integer(row.capacity)} waiting"
    return _row("buffer", (filled, style), (TRACK * (_BAR - len(filled)), "$ink-faint"), waiting)


FEW = (10, 13)  # at most this many watchers are few: while they are not, and while they are


def _title(watches: Sequence[WatchLine]) -> Content:
    """Return `watches · 12 open · 2 closed in the last minute`."""
    if not watches:
        return Content("watches")
    closed = sum(watch.row.closed is not None for watch in watches)
    words = ["watches", f"{integer(len(watches) - closed)} open"]
    if closed:
        all_kept = closed < CLOSED_WATCHERS
        words.append(f"{closed} closed in the last minute" if all_kept else f"last {closed} closed")
    return Content(" · ".join(words))


class WatchesScreen(ModeScreen, OneShown, mode="watches"):
    """The table of watchers; below, the selected one and the newest event of its resource."""

    AUTO_FOCUS = "#watches"
    PANELS: ClassVar[Mapping[str, str]] = {
        "watcher": "watcher",
        "fan-out": "fan-out of one event",
        "deleted": "what DELETED carries",
    }

    def __init__(self) -> None:
        super().__init__()
        empty = "no open WATCH — kubectl get pods --watch opens one"
        self.table = VTable(
            WATCHES, key=lambda watch: watch.id, share=True, reuse=True, id="watches", classes="box",
            empty=empty,
        )  # fmt: skip

    def compose_body(self) -> ComposeResult:
        yield self.table
        yield Panel(id="tabs")
        with Container(id="detail"):
            with Vertical(id="one"):
                yield Panel(self.PANELS["watcher"], id="watcher", classes="box")
                yield Panel(self.PANELS["deleted"], id="deleted", classes="box")
            yield Panel(self.PANELS["fan-out"], id="fan-out", classes="box")

    def on_mount(self) -> None:
        self.table.border_title = Content("watches")
        self.turn(0)
        super().on_mount()

    # Painting.

    def paint_tables(self, state: State) -> None:
        watches = watch_lines(state)
        entitle(self.table, _title(watches))
        if self.table.outdated(*watches):
            self.table.set_rows(watches)
            # While there are few watchers, leave height to the panels.
            self.set_class(len(watches) <= FEW[self.has_class("-few")], "-few")

    def paint_panels(self, state: State) -> None:
        watch = self.table.row
        resource = watch.row.resource if watch is not None else ""
        event, deletion = state.fan_outs.get(resource), state.deletions.get(resource)
        self._panel("watcher").show(partial(about, watch), (watch,))
        panel = self._panel("fan-out")
        of = f" · {short_resource(resource)}" if resource else ""
        entitle(panel, line(f"{self.PANELS['fan-out']}{of}"))
        earlier = tuple(state.earlier_fan_outs.get(resource, ()))
        panel.show(partial(fan_out_content, event, earlier, resource), (event, resource))
        self._panel("deleted").show(partial(deleted_content, deletion), (deletion,))

    def _panel(self, name: str) -> Panel:
        return self.query_one(f"#{name}", Panel)

    @on(VTable.Highlighted, "#watches")
    def _highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:
            self.paint_panels(self.ktui.state)

    @on(VTable.Selected, "#watches")
    def _selected(self, event: VTable.Selected) -> None:
        """Open the WATCH's request, with its decision trace."""
        watch: WatchLine = event.row
        if watch.id in self.ktui.state.requests:
            self.ktui.show_request(watch.id)
        else:
            self.notify(f"request {watch.id} began before this dashboard connected")

    # One panel at a time in a small terminal.

    def action_panel(self, step: int) -> None:
        self.turn(step)

    def visit(self, reference: refs.Reference | None) -> None:
        if isinstance(reference, refs.WatcherRef):
            self.paint_tables(self.ktui.state)
            if not self.table.go_to(reference.id):
                self.notify(f"WATCH {reference.id} is not shown: it has ended or is filtered out")

    def references(self) -> Sequence[refs.Reference]:
        watch = self.table.row
        if watch is None:
            return ()
        since = watch.row.opened.since
        began = (refs.Revision(int(since)),) if since.isdigit() and int(since) else ()
        return (refs.RequestRef(watch.id), refs.ResourceRef(watch.row.resource), *began)

    def selected_request(self) -> refs.Selection | None:
        watch = self.table.row
        request = self.ktui.state.requests.get(watch.id) if watch is not None else None
        return refs.selection_of(request, "from Watches")

    def selected_object(self) -> tuple[str, Any] | None:
        watch = self.table.row
        if watch is None:
            return None
        row = watch.row
        events = [event for event in (row.opened, row.state, row.closed) if event is not None]
        return f"watcher {row.id}", msgspec.to_builtins(events)
