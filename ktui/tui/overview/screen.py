"""Overview: etcd, caches, requests and the most expensive reads on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from ktui.core.format import processed_text
from ktui.core.ranking.rank_lines import RankLines
from ktui.core.ranking.remedy import NOTHING
from ktui.core.references import Place, PrefixRef, Reference, RequestRef, ResourceRef, Selection, selection_of
from ktui.core.request_view import request_object
from ktui.core.state import RequestRow, State
from ktui.tui.charts.chart import ChartStrip
from ktui.tui.keys.hints import key_of
from ktui.tui.overview.holdings import CacheSummary, Holdings
from ktui.tui.requests.ranking_columns import TOP, RankedRemedy, most_expensive_content
from ktui.tui.requests.request_columns import SHORT, RequestTable
from ktui.tui.requests.why import title_of, why_content
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import HorizontalArea, Panel, VerticalArea

if TYPE_CHECKING:
    from ktui.tui.overview.stored import StoredPane


MOST = 3  # lines of the most expensive reads
_HABIT = 10.0  # seconds


class MostExpensivePanel(Panel):
    """Built at most once a second, as a faster change of order could not be read."""

    def __init__(self) -> None:
        super().__init__("most expensive reads", id="most-expensive", classes="box")
        self._ranks = RankLines()
        self._painted: tuple[int, int, int] | None = None

    def paint(self, state: State) -> None:
        ranking = state.ranking
        stamp = (id(state), ranking.total.count, int(state.now))
        if stamp == self._painted:
            return
        self._painted = stamp
        ranked = self._ranked(state)
        size = processed_text(ranking.total.processed_bytes, ranking.total.imputed_bytes)
        of = (f" · of {size} processed · ", "$ink-muted")
        subtitle = (of, (key_of("overview.ranking"), "$accent"), (" all", "$ink-muted")) if ranked else ()
        entitle(self, line("most expensive reads", *subtitle))
        self.show(partial(most_expensive_content, ranked))

    def _ranked(self, state: State) -> list[RankedRemedy]:
        """Return the MOST most expensive lines, each with the remedy that saves most."""
        ranked = []
        for row in self._ranks.of(state, most=MOST):
            group, remedy = row.group, None
            if group is not None:
                from ktui.core.ranking.remedies import remedies_of  # start-up time

                remedy = next(iter(remedies_of(group, state)), None)
            # Until it was seen twice, or is known for ten seconds: one request is no habit.
            early = group is not None and group.count < 2 and state.now - group.first_at < _HABIT
            ranked.append(RankedRemedy(row, remedy, early))
        return ranked


def _why(row: RequestRow | None, state: State, width: int, height: int) -> Content:
    """Return the reason for the selected request's route, and its cost under other versions."""
    if row is None:
        return why_content(None, NOTHING, width, height)
    from ktui.core.prediction.prediction import alternatives_of  # start-up time

    return why_content(row, alternatives_of(row, state), width, height)


# Screens that a click opens: on a table's title, and anywhere on a panel.
TITLES = {"prefixes": "etcd", "caches": "cache", "requests": "requests"}
WHOLE = {"race": "cache", "why": "requests"}


def _is_list(row: RequestRow | None) -> bool:
    return row is not None and row.started.verb == "LIST"


class OverviewScreen(ModeScreen, mode="overview"):
    """Prefixes, caches and their progress on the left; live requests and their reasons on the right.

    Over an etcd that ktui did not start, while its server has had no request, the screen opens on
    what is stored there and what LISTs of it would cost. `v` switches between the two.
    """

    AUTO_FOCUS = "#requests"

    def __init__(self) -> None:
        super().__init__()
        self._most_expensive = MostExpensivePanel()
        self._holdings = Holdings()
        self._charts = ChartStrip(id="charts")
        self._why = Panel("why", id="why", classes="box")
        self._stored: StoredPane | None = None  # until it is shown for the first time
        self._view_decided = False  # by the first data, or by the user
        self._subject: tuple[int, str] | None = None  # the why panel's request id, and the filter at the time

    def compose_body(self) -> ComposeResult:
        yield self._most_expensive
        with HorizontalArea(id="overview"):
            yield self._holdings
            with VerticalArea(id="right"):
                empty = "no requests yet — those of kubectl, the Lab and Workloads appear here"
                requests = RequestTable(SHORT, id="requests", empty=empty)
                # It is styled once, as AUTO_FOCUS will have it: the screen sets the focus after mounting.
                requests.set_reactive(Widget.has_focus, self.app.app_focus)
                yield requests
                yield self._charts
                yield self._why

    @property
    def requests(self) -> RequestTable:
        return self.query_one("#requests", RequestTable)

    # Views.

    @property
    def _shown_stored(self) -> StoredPane | None:
        """The pane of stored data while it is shown instead of requests."""
        return self._stored if self.has_class("-stored") else None

    async def _show_stored(self, *, shown: bool) -> None:
        focused, stored = self.focused, self._stored
        if stored is None:
            from ktui.tui.overview.stored import StoredPane  # start-up time

            stored = self._stored = StoredPane()
            await self.query_one("#overview").mount(stored)
            stored.decide_table(self.ktui.state)
        self.set_class(shown, "-stored")
        if focused is None or focused is self.requests or focused in stored.tables:
            (stored.table if shown else self.requests).focus()
        self.paint()

    async def action_turn_view(self) -> None:
        self._view_decided = True
        await self._show_stored(shown=self._shown_stored is None)

    # Painting.

    def paint_tables(self, state: State) -> None:
        self.requests.paint(state, writes=self.ktui.writes)

    def paint_panels(self, state: State) -> None:
        if not self._view_decided and state.server is not None:  # which etcd it serves is known now
            self._view_decided = True
            if state.server.etcd_kind != "embedded" and not state.requests:
                self.call_next(self._show_stored, shown=True)
        self._holdings.paint(state)
        if (stored := self._shown_stored) is not None:
            stored.paint(state)
            return
        self._most_expensive.paint(state)
        self._charts.show_state(state, paused=self.ktui.paused)
        self._paint_why(state)

    def _paint_why(self, state: State) -> None:
        subject, highlighted = self.subject, self.requests.row
        pinned = subject is not None and highlighted is not None and subject.id != highlighted.id
        entitle(self._why, title_of(subject, pinned=pinned))
        self._why.show(partial(_why, subject, state), (subject, state.server, pinned))

    # What is selected.

    @property
    def subject(self) -> RequestRow | None:
        """The request in the why panel: the first LIST, or until there is one the first request; it stays
        the same until the user moves the cursor."""
        table, known = self.requests, self.ktui.state.requests
        if not table.following:
            return table.row
        number, filtered = self._subject or (0, "")
        row = known.get(number)
        if row is not None and filtered == table.filter.text and (_is_list(row) or not _is_list(table.row)):
            return row
        self._subject = (table.row.id, table.filter.text) if table.row is not None else None
        return table.row

    @on(VTable.Highlighted, "#requests")
    def _request_highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:  # changes of the data are painted at the panels' rate
            self._subject = None
            self._paint_why(self.ktui.state)

    @on(VTable.Selected, "#requests")
    def _request_selected(self, event: VTable.Selected) -> None:
        self.ktui.show_request(event.row.id)

    def action_try_cheaper(self) -> None:
        """Compare one of the most expensive reads with a cheaper variant."""
        from ktui.tui.dialogs.jump import choose_read  # start-up time

        if (stored := self._shown_stored) is not None:
            stored.compare()
            return
        choose_read(self.ktui)

    def action_read_stored(self) -> None:
        """Start or stop reading all values or watching changes, whichever the shown table needs."""
        if (stored := self._shown_stored) is not None:
            stored.read_or_stop(self._holdings.prefixes)

    @on(Click, "#most-expensive")
    def action_most_expensive(self) -> None:
        """Open the whole ranking; in the view of stored data, show the next table."""
        if (stored := self._shown_stored) is not None:
            stored.turn()
            return
        self.ktui.go_to(Place("requests", TOP))

    @on(Click)
    def _title_clicked(self, event: Click) -> None:
        """Open the screen that shows the same in full, for a click on a title or on a panel of WHOLE."""
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
        if (stored := self._shown_stored) is not None and table in stored.tables:
            return stored.references()
        if isinstance(row, RequestRow):
            return (RequestRef((self.subject or row).id),)
        return (PrefixRef(row.prefix),)

    def selected_request(self) -> Selection | None:
        if (stored := self._shown_stored) is not None:
            return stored.selection
        return selection_of(self.subject, "from Overview")

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.subject
        return None if row is None else request_object(row)
