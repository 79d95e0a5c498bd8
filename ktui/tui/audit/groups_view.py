"""All groups of requests by cost, below a summary."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from ktui.audit.report import GroupReport, Report
from ktui.core.format import integer
from ktui.core.selection import Selection
from ktui.kube.routing.request import RequestError
from ktui.tui.audit.columns import groups
from ktui.tui.audit.group_panels import about_content
from ktui.tui.audit.report_view import by_bytes
from ktui.tui.audit.rows import GroupLine, group_lines
from ktui.tui.audit.summary import summary_content
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel


class GroupsView(Vertical):
    """The summary, the table, and the route of the selected group."""

    report: Report | None = None

    def compose(self) -> ComposeResult:
        yield Panel("audit", id="summary", classes="box")
        yield VTable[GroupLine](
            (),
            key=lambda row: row.identity,
            id="ranked",
            classes="box",
            empty="no GET, LIST or WATCH of a stored resource in these lines",
        )
        yield Panel("route", id="about", classes="box")

    @property
    def table(self) -> VTable[GroupLine]:
        return self.query_one("#ranked", VTable)

    @property
    def chosen(self) -> GroupReport | None:
        """The group under the cursor."""
        return self.table.row.group if self.table.row is not None else None

    def selected_request(self) -> Selection | None:
        """Return the selected group's example; None if it is not a read."""
        group = self.chosen
        if group is None:
            return None
        selection = Selection(group.verb.upper(), group.example, "the audit")
        try:
            selection.read()
        except RequestError:
            return None
        return selection

    def show(self, report: Report, partly: bool) -> None:
        """Show a report; `partly`: reading was stopped before the end of the logs."""
        self.report = report
        self.table.set_columns(groups(by_bytes(report)))
        self.table.set_rows(group_lines(report))
        title = f"{integer(len(report.groups))} groups by {report.ranked_by} · rules of {report.kube_version}"
        entitle(self.table, line(title))
        self.query_one("#summary", Panel).show(
            lambda width, height: summary_content(report, partly, width, height)
        )
        self.paint()

    def put_cursor(self, rank: int) -> bool:
        """Move the cursor to the group of a rank. Return False if a filter hides it."""
        places = [place for place, row in enumerate(self.table.rows) if row.group.rank == rank]
        if places:
            self.table.move_to(places[0])
        return bool(places)

    @on(VTable.Highlighted)
    def paint(self) -> None:
        report, chosen = self.report, self.chosen
        if report is not None:
            self.query_one("#about", Panel).show(
                lambda width, height: about_content(chosen, report, width, height), (id(report), id(chosen))
            )
