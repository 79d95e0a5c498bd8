"""The ranking of the most expensive kinds of requests, with remedies for the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content

from ktui.core.format import clock_time, many, processed_text
from ktui.core.ranking.lines import ROLL_UPS, RankLine, RankLines
from ktui.core.ranking.remedies import Savings, compare_group, remedies_of
from ktui.core.ranking.remedy import Remedy
from ktui.core.references import CompareRef
from ktui.core.request_view import short_resource
from ktui.core.state import RequestRow, State
from ktui.tui.dashboard import Dashboard
from ktui.tui.requests.ranking_columns import COLUMNS
from ktui.tui.requests.ranking_detail import rank_title, remedy_content, spent_content
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel

EMPTY = "no reads answered yet — requests are ranked here by what they cost the control plane"
SAVINGS = 16  # groups whose saving is predicted in one tick, at 0.2 ms each
EVERY = 1.0  # seconds between two updates, by the events' time: faster could not be read


class TopView(Container):
    """A table of clients and their kinds of requests, with the remedy and costs of the selected one below."""

    def __init__(self) -> None:
        super().__init__(id="top-view")
        self._savings = Savings()
        self._lines = RankLines(self._savings.of)
        self._stamp: tuple[object, ...] = ()
        self.by = ROLL_UPS[0]  # what the lines are added up by, "" for nothing
        self.remedies: Sequence[Remedy] = ()

    def compose(self) -> ComposeResult:
        yield VTable[RankLine](COLUMNS, key=lambda row: row.key, id="top", classes="box", empty=EMPTY)
        with Horizontal(id="top-detail"):
            yield Panel("what to do", id="remedy", classes="box")
            yield Panel("cost · measured", id="spent", classes="box")

    @property
    def table(self) -> VTable[RankLine]:
        return self.query_one("#top", VTable)

    @property
    def request(self) -> RequestRow | None:
        """The newest request of the selected kind."""
        row = self.table.row
        return row.group.example if row is not None and row.group is not None else None

    @property
    def _state(self) -> State:
        return cast(Dashboard, self.app).state

    def paint(self) -> None:
        """Update the table, at most once per EVERY, and only after new answers."""
        state = self._state
        stamp = (id(state), state.ranking.total.count, int(state.now / EVERY), self.by)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        if self._savings.update(state, SAVINGS):
            self._stamp = ()  # the next tick predicts more
        entitle(self.table, _title(state, self.by))
        self.table.set_rows(self._lines.rolled_up(state, self.by) if self.by else self._lines.of(state))
        self.paint_detail()

    def roll_up(self) -> None:
        """Switch to the next sum: by client, by resource, by namespace, and none."""
        self.by = ROLL_UPS[(ROLL_UPS.index(self.by) + 1) % len(ROLL_UPS)]
        self.paint()

    def open_roll_up(self, name: str) -> None:
        """Show the kinds of reads of a client or a resource; a namespace's are not known."""
        by, self.by = self.by, ROLL_UPS[0]
        if by == "client":
            self.table.set_filter(f"client:{name}")
        elif by == "resource":
            self.table.set_filter(f"request~{short_resource(name)}")
        self.paint()

    @on(VTable.Highlighted)
    def paint_detail(self) -> None:
        """Show the remedies and costs of the line under the cursor."""
        row = self.table.row
        self.remedies = remedies = _remedies(row, self._state)
        panel = self.query_one("#remedy", Panel)
        entitle(panel, rank_title(row))
        panel.show(lambda width, height: remedy_content(row, remedies, width, height))
        self.query_one("#spent", Panel).show(lambda width, height: spent_content(row, width, height))

    @property
    def compared(self) -> CompareRef | None:
        """The selected kind with a cheaper variant; None if there is none, or for the line of rare kinds."""
        row = self.table.row
        return compare_group(row.group, self._state) if row is not None and row.group is not None else None


def _title(state: State, by: str = "") -> Content:
    ranking = state.ranking
    if not ranking.total.count:
        return Content("most expensive reads")
    processed = f"{processed_text(ranking.total.processed_bytes, ranking.total.imputed_bytes)} processed"
    if not ranking.total.processed_bytes and any(group.observed for group in ranking.ranked()[:1]):
        processed = "by time"
    reads = many(ranking.total.count, "read")
    return line(
        (f"most expensive reads by {by}" if by else "most expensive reads", ""),
        (f" · {reads}, {processed} since {clock_time(ranking.since)}", "$ink-muted"),
    )


def _remedies(row: RankLine | None, state: State) -> Sequence[Remedy]:
    if row is None or row.group is None:
        return ()
    return remedies_of(row.group, state)
