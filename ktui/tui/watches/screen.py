"""The Watches screen: all WATCHes with their states, and how one event is delivered to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.core.format import integer
from ktui.core.references import Reference, RequestRef, ResourceRef, Revision, WatcherRef
from ktui.core.request_view import short_resource
from ktui.core.selection import Selection, selection_of
from ktui.core.state import CLOSED_WATCHERS, State
from ktui.tui.keys import bindings as keys
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.watches.columns import WATCHES
from ktui.tui.watches.description import about
from ktui.tui.watches.fan_out import deleted_content, fan_out_content
from ktui.tui.watches.rows import WatchLine, WatchLines
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.tabs import tabs_content

# The panels and their titles; in a small terminal one is shown at a time.
PANELS = {"watcher": "watcher", "fan-out": "fan-out of one event", "deleted": "what DELETED carries"}


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


class WatchesScreen(ModeScreen):
    """The table of watchers; below, the selected one and the newest event of its resource."""

    MODE: ClassVar[str] = "watches"
    CSS_PATH = "watches.tcss"
    AUTO_FOCUS = "#watches"
    BINDINGS: ClassVar[list[BindingType]] = keys.DETAIL

    def __init__(self) -> None:
        super().__init__()
        self._lines = WatchLines()
        self._painted: list[WatchLine] = []
        self._shown = 0

    def compose_body(self) -> ComposeResult:
        yield VTable(
            WATCHES,
            key=lambda watch: watch.id,
            share=True,
            id="watches",
            classes="box",
            empty="no open WATCH — kubectl get pods --watch opens one",
        )
        yield Panel(id="tabs")
        with Container(id="detail"):
            with Vertical(id="one"):
                yield Panel(PANELS["watcher"], id="watcher", classes="box")
                yield Panel(PANELS["deleted"], id="deleted", classes="box")
            yield Panel(PANELS["fan-out"], id="fan-out", classes="box")

    def on_mount(self) -> None:
        self.table.border_title = Content("watches")
        self._show_panel(0)
        super().on_mount()

    @property
    def table(self) -> VTable[WatchLine]:
        return self.query_one("#watches", VTable)

    # Painting.

    def paint_tables(self, state: State) -> None:
        watches = self._lines.of(state)
        entitle(self.table, _title(watches))
        if watches != self._painted:
            self._painted = watches
            self.table.set_rows(watches)
            self._give_room(len(watches))

    def _give_room(self, count: int) -> None:
        """Leave height to the panels while there are few watchers."""
        few = count <= FEW[self.has_class("-few")]
        if few is not self.has_class("-few"):
            self.set_class(few, "-few")

    def paint_panels(self, state: State) -> None:
        watch = self.table.row
        resource = watch.row.resource if watch is not None else ""
        event, deletion = state.fan_outs.get(resource), state.deletions.get(resource)
        self._panel("watcher").show(lambda width, height: about(watch, width, height), (watch,))
        panel = self._panel("fan-out")
        of = f" · {short_resource(resource)}" if resource else ""
        entitle(panel, line(f"{PANELS['fan-out']}{of}"))
        earlier = tuple(state.earlier_fan_outs.get(resource, ()))
        panel.show(
            lambda width, height: fan_out_content(event, earlier, resource, width, height), (event, resource)
        )
        self._panel("deleted").show(
            lambda width, height: deleted_content(deletion, width, height), (deletion,)
        )

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
            self.notify(f"request {watch.id} began before this dashboard connected", markup=False)

    # One panel at a time in a small terminal.

    def action_panel(self, step: int) -> None:
        """Show the next panel."""
        self._show_panel((self._shown + step) % len(PANELS))

    def _show_panel(self, index: int) -> None:
        self._shown = index
        names = list(PANELS)
        for place, name in enumerate(names):
            self._panel(name).set_class(place == index, "-shown")
        self.query_one("#one").set_class(names[index] != "fan-out", "-shown")
        self._panel("tabs").show(lambda width, height: tabs_content(PANELS.values(), index, width))

    def visit(self, reference: Reference | None) -> None:
        """Move the cursor to a watcher."""
        if isinstance(reference, WatcherRef):
            self.paint_tables(self.ktui.state)
            shown = [watch.id for watch in self.table.rows]
            if reference.id in shown:
                self.table.move_to(shown.index(reference.id))
            else:
                self.notify(
                    f"WATCH {reference.id} is not shown: it has ended or is filtered out", markup=False
                )

    def references(self) -> Sequence[Reference]:
        watch = self.table.row
        if watch is None:
            return ()
        since = watch.row.opened.since
        began = (Revision(int(since)),) if since.isdigit() and int(since) else ()
        return (RequestRef(watch.id), ResourceRef(watch.row.resource), *began)

    def selected_request(self) -> Selection | None:
        watch = self.table.row
        return (
            selection_of(self.ktui.state.requests.get(watch.id), "from Watches")
            if watch is not None
            else None
        )

    def selected_object(self) -> tuple[str, Any] | None:
        watch = self.table.row
        if watch is None:
            return None
        row = watch.row
        events = [event for event in (row.opened, row.state, row.closed) if event is not None]
        return f"watcher {row.id}", msgspec.to_builtins(events)
