"""Requests: the live log, and one request taken apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.tui import keys
from ktui.tui.model.foresee import NOTHING, foresee
from ktui.tui.model.in_hand import InHand, in_hand_of
from ktui.tui.model.request_view import log_title, shown_requests
from ktui.tui.model.state import RequestRow, State
from ktui.tui.screens.base import ModeScreen
from ktui.tui.widgets.cost import funnel_content, waterfall_content
from ktui.tui.widgets.lines import entitle
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.request_columns import FULL
from ktui.tui.widgets.tabs import tabs_content
from ktui.tui.widgets.vtable import VTable
from ktui.tui.widgets.walk import calls_content, command_content, walk_content

# The detail's panels with their titles; where there is no room for all, one shows at a time.
PANELS = {
    "walk": "walk",
    "waterfall": "phases",
    "funnel": "funnel",
    "calls": "etcd RPCs",
    "command": "ask again",
}


class RequestsScreen(ModeScreen):
    """The log on top, the request under its cursor below."""

    MODE: ClassVar[str] = "requests"
    CSS_PATH = "requests.tcss"
    AUTO_FOCUS = "#log"
    BINDINGS: ClassVar[list[BindingType]] = keys.DETAIL

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0
        self._painted: object = self  # nothing yet
        self._log_stamp: tuple[int, int, bool] = (0, -1, False)

    def compose_body(self) -> ComposeResult:
        yield VTable(
            FULL,
            key=lambda row: row.id,
            follow=True,
            id="log",
            classes="box",
            empty="no request yet — point a client at this server, or fire one in the Lab (5)",
        )
        yield Panel(id="tabs")
        with Container(id="detail"):
            yield Panel(PANELS["walk"], id="walk", classes="box")
            with Vertical(id="cost"):
                yield Panel(PANELS["waterfall"], id="waterfall", classes="box")
                yield Panel(PANELS["funnel"], id="funnel", classes="box")
                yield Panel(PANELS["calls"], id="calls", classes="box")
                yield Panel(PANELS["command"], id="command", classes="box")

    def on_mount(self) -> None:
        self.log_table.border_title = Content("requests")
        self._show_panel(0)
        super().on_mount()

    @property
    def log_table(self) -> VTable[RequestRow]:
        return self.query_one("#log", VTable)

    # Painting.

    def paint_tables(self, state: State) -> None:
        writes = self.ktui.writes
        stamp = (id(state), state.touched.requests, writes)
        if stamp != self._log_stamp:
            self._log_stamp = stamp
            entitle(self.log_table, Content(log_title(writes=writes)))
            self.log_table.set_rows(shown_requests(state, writes=writes))
        self._go_to_wanted()

    def _go_to_wanted(self) -> None:
        """Another screen asked for one request: put the cursor there."""
        wanted, self.ktui.wanted_request = self.ktui.wanted_request, 0
        if wanted:
            rows = self.log_table.rows
            index = next((place for place, row in enumerate(rows) if row.id == wanted), None)
            if index is not None:
                self.log_table.move_to(index)

    def paint_panels(self, state: State) -> None:
        row = self.log_table.row
        if (row, state.server) == self._painted:
            return
        self._painted = (row, state.server)
        outlook = foresee(row, state) if row is not None else NOTHING
        client = self.ktui.client
        server = client.connection.url if client is not None else "https://SERVER"
        self._show("walk", lambda width, height: walk_content(row, outlook, width, height))
        self._show("waterfall", lambda width, height: waterfall_content(row, width, height))
        self._show("funnel", lambda width, height: funnel_content(row, width, height))
        self._show("calls", lambda width, height: calls_content(row, width, height))
        self._show("command", lambda width, height: command_content(row, server, width, height))

    def _show(self, panel: str, build: Callable[[int, int], Content]) -> None:
        self.query_one(f"#{panel}", Panel).show(build)

    @on(VTable.Highlighted, "#log")
    def _highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:  # what the data changes is painted at the panels' pace
            self.paint_panels(self.ktui.state)

    # One panel at a time in a small terminal.

    def action_panel(self, step: int) -> None:
        """The next panel of the detail."""
        self._show_panel((self._shown + step) % len(PANELS))

    def _show_panel(self, index: int) -> None:
        self._shown = index
        names = list(PANELS)
        for place, name in enumerate(names):
            self.query_one(f"#{name}").set_class(place == index, "-shown")
        self.query_one("#cost").set_class(names[index] != "walk", "-shown")
        self.query_one("#tabs", Panel).show(lambda width, height: tabs_content(PANELS.values(), index))

    def request_in_hand(self) -> InHand | None:
        return in_hand_of(self.log_table.row, "from Requests")

    def object_in_hand(self) -> tuple[str, Any] | None:
        row = self.log_table.row
        return None if row is None else request_object(row)


def request_object(row: RequestRow) -> tuple[str, Any]:
    """A request as `y` shows it: its telemetry events."""
    events = [event for event in (row.started, row.routed, row.finished, *row.calls) if event is not None]
    return f"request {row.id}", msgspec.to_builtins(events)
