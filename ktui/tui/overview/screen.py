"""Overview: the loop at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Click

from ktui.core.references import Place, PrefixRef, Reference, RequestRef, ResourceRef
from ktui.core.request_view import request_object, shown_requests
from ktui.core.selection import Selection, selection_of
from ktui.core.state import RequestRow, State
from ktui.tui.charts.strip import ChartStrip
from ktui.tui.keys import bindings as keys
from ktui.tui.overview.columns import CacheSummary
from ktui.tui.overview.holdings import Holdings
from ktui.tui.overview.panels import MostExpensivePanel, WhyPanel
from ktui.tui.requests.columns import SHORT, log_title
from ktui.tui.requests.most_expensive import TOP
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.areas import Below, Beside
from ktui.tui.widgets.lines import entitle

# Where a click leads: on the title of a table, anywhere on a panel.
TITLES = {"prefixes": "etcd", "caches": "cache", "requests": "requests"}
WHOLE = {"race": "cache", "why": "requests"}


class OverviewScreen(ModeScreen):
    """Prefixes, caches and the race of revisions beside the live requests and their reasons."""

    MODE: ClassVar[str] = "overview"
    CSS_PATH = "overview.tcss"
    AUTO_FOCUS = "#requests"
    BINDINGS: ClassVar[list[BindingType]] = keys.OVERVIEW

    def __init__(self) -> None:
        super().__init__()
        self._most_expensive = MostExpensivePanel()
        self._holdings = Holdings()
        self._charts = ChartStrip(id="charts")
        self._why = WhyPanel()
        self._requests_stamp: tuple[Any, ...] = ()
        self._subject: tuple[int, str] | None = None  # of the why panel: a request's id, under a filter

    def compose_body(self) -> ComposeResult:
        yield self._most_expensive
        with Beside(id="overview"):
            yield self._holdings
            with Below(id="right"):
                yield VTable(
                    SHORT,
                    key=lambda row: row.id,
                    follow=True,
                    share=True,
                    id="requests",
                    classes="box",
                    empty="no requests yet — they appear here as clients send them",
                )
                yield self._charts
                yield self._why

    def on_mount(self) -> None:
        self.requests.border_title = Content("requests")
        super().on_mount()

    @property
    def requests(self) -> VTable[RequestRow]:
        return self.query_one("#requests", VTable)

    # Painting.

    def paint_tables(self, state: State) -> None:
        self._paint_requests(state)

    def _paint_requests(self, state: State) -> None:
        writes = self.ktui.writes
        stamp = (id(state), state.touched.requests, writes, self.requests.size.width)
        if stamp != self._requests_stamp:
            self._requests_stamp = stamp
            entitle(self.requests, log_title(state, self.requests.size.width, writes=writes))
            self.requests.set_rows(shown_requests(state, writes=writes))

    def paint_panels(self, state: State) -> None:
        self._most_expensive.paint(state)
        self._holdings.paint(state)
        self._charts.show_state(state, paused=self.ktui.paused)
        self._why.paint(self.subject, state)

    # What is selected.

    @property
    def subject(self) -> RequestRow | None:
        """The request that the why panel explains: the same one until the user moves the cursor."""
        table, known = self.requests, self.ktui.state.requests
        if not table.following:
            return table.row
        number, filtered = self._subject or (0, "")
        if (row := known.get(number)) is not None and filtered == table.filter.text:
            return row
        self._subject = (table.row.id, table.filter.text) if table.row is not None else None
        return table.row

    @on(VTable.Highlighted, "#requests")
    def _request_highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:  # what the data changes is painted at the panels' pace
            self._subject = None
            self._why.paint(self.subject, self.ktui.state)

    @on(VTable.Selected, "#requests")
    def _request_selected(self, event: VTable.Selected) -> None:
        self.ktui.show_request(event.row.id)

    def action_try_cheaper(self) -> None:
        """Compare one of the most expensive reads with a cheaper variant."""
        from ktui.tui.dialogs.compare import choose_read  # start-up time

        choose_read(self.ktui)

    @on(Click, "#most-expensive")
    def action_most_expensive(self) -> None:
        """Go to the whole ranking."""
        self.ktui.go_to(Place("requests", TOP))

    @on(Click)
    def _title_clicked(self, event: Click) -> None:
        """A panel's title leads to the screen that shows the same in full; so does a panel without rows."""
        of = event.widget.id if event.widget is not None else None
        if of in WHOLE or (of in TITLES and event.y == 0):
            self.ktui.go_to(Place({**TITLES, **WHOLE}[of]))

    # What is under the cursor.

    def references(self) -> Sequence[Reference]:
        table = self.active_table()
        row = table.row if table is not None else None
        if row is None:
            return ()
        if isinstance(row, CacheSummary):
            return (ResourceRef(row.row.resource),)
        if isinstance(row, RequestRow):
            return (RequestRef((self.subject or row).id),)
        return (PrefixRef(row.prefix),)

    def selected_request(self) -> Selection | None:
        return selection_of(self.subject, "from Overview")

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.subject
        return None if row is None else request_object(row)
