"""Overview: the loop at a glance."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from ktui.tui.model.foresee import NOTHING, foresee
from ktui.tui.model.in_hand import InHand, in_hand_of
from ktui.tui.model.lanes import race_of
from ktui.tui.model.request_view import log_title, shown_requests
from ktui.tui.model.state import RequestRow, State
from ktui.tui.screens.base import ModeScreen
from ktui.tui.screens.requests import request_object
from ktui.tui.widgets.cache_columns import COLUMNS, CacheLine, cache_lines
from ktui.tui.widgets.lines import entitle
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.prefix_table import PrefixTable
from ktui.tui.widgets.race import race_content
from ktui.tui.widgets.request_columns import SHORT
from ktui.tui.widgets.vtable import VTable
from ktui.tui.widgets.why import title_of, why_content


class OverviewScreen(ModeScreen):
    """Prefixes, caches and the race of revisions beside the live requests and their reasons."""

    MODE: ClassVar[str] = "overview"
    CSS_PATH = "overview.tcss"
    AUTO_FOCUS = "#requests"

    def __init__(self) -> None:
        super().__init__()
        self._painted: dict[str, Any] = {}

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="overview"):
            with Vertical(id="left"):
                yield PrefixTable(id="prefixes", classes="box")
                yield VTable(
                    COLUMNS,
                    key=lambda line: line.row.resource,
                    id="caches",
                    classes="box",
                    empty="no watch cache yet",
                )
                yield Panel("rv progress", id="race", classes="box")
            with Vertical(id="right"):
                yield VTable(
                    SHORT,
                    key=lambda row: row.id,
                    follow=True,
                    id="requests",
                    classes="box",
                    empty="no request yet — they show here as soon as a client asks",
                )
                yield Panel("why", id="why", classes="box")

    def on_mount(self) -> None:
        self.query_one("#prefixes").border_title = Content("/registry")
        self.query_one("#caches").border_title = Content("watch caches")
        self.query_one("#requests").border_title = Content("requests")
        super().on_mount()

    @property
    def requests(self) -> VTable[RequestRow]:
        return self.query_one("#requests", VTable)

    # Painting.

    def paint_tables(self, state: State) -> None:
        touched = state.touched
        writes = self.ktui.writes
        if self._moved("requests", (id(state), touched.requests, writes)):
            entitle(self.requests, Content(log_title(writes=writes)))
            self.requests.set_rows(shown_requests(state, writes=writes))

    def paint_panels(self, state: State) -> None:
        self._paint_holdings(state)
        race = race_of(state)
        panel = self.query_one("#race", Panel)
        entitle(panel, subtitle=Content.styled(f"track = {race.span:,} rev", "$ink-muted"))
        panel.show(lambda width, height: race_content(race, width, height), race)
        self._paint_why(state)

    def _paint_holdings(self, state: State) -> None:
        """What caches and etcd hold: 4 times a second is plenty."""
        if self._moved("caches", (id(state), state.touched.caches, state.head.revision)):
            caches: VTable[CacheLine] = self.query_one("#caches", VTable)
            caches.set_rows(cache_lines(state, caches.rows))
        if self._moved("prefixes", (id(state), state.touched.prefixes)):
            root = f"{state.server.etcd_prefix}/" if state.server is not None else "/registry/"
            table = self.query_one(PrefixTable)
            entitle(table, Content(root.rstrip("/")))
            table.show_prefixes(state.prefixes, root)

    def _paint_why(self, state: State) -> None:
        row = self.requests.row
        if not self._moved("why", (row, state.server)):
            return
        outlook = foresee(row, state) if row is not None else NOTHING
        panel = self.query_one("#why", Panel)
        entitle(panel, title_of(row))
        panel.show(lambda width, height: why_content(row, outlook, width, height))

    def _moved(self, what: str, stamp: Any) -> bool:
        if self._painted.get(what, self) == stamp:
            return False
        self._painted[what] = stamp
        return True

    # What is selected.

    @on(VTable.Highlighted, "#requests")
    def _request_highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:  # what the data changes is painted at the panels' pace
            self._paint_why(self.ktui.state)

    @on(VTable.Selected, "#requests")
    def _request_selected(self, event: VTable.Selected) -> None:
        self.ktui.show_request(event.row.id)

    def request_in_hand(self) -> InHand | None:
        return in_hand_of(self.requests.row, "from Overview")

    def object_in_hand(self) -> tuple[str, Any] | None:
        row = self.requests.row
        return None if row is None else request_object(row)
