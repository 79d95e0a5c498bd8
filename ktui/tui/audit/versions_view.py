"""An audit's requests under every known version."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical

from ktui.audit.report import Report
from ktui.tui.audit.version_changes import changes_content, changes_title
from ktui.tui.audit.version_columns import versions
from ktui.tui.audit.version_rows import VersionLine, version_lines
from ktui.tui.keys.hints import key_of
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel


class VersionsView(Vertical):
    """One row per version; below, what changes between the chosen and the selected one."""

    report: Report | None = None

    def compose(self) -> ComposeResult:
        yield VTable[VersionLine](
            (),
            key=lambda row: row.version,
            id="every-version",
            classes="box",
            empty="no LIST of a stored resource in these lines",
        )
        yield Panel("what changes", id="changes", classes="box")

    @property
    def table(self) -> VTable[VersionLine]:
        return self.query_one("#every-version", VTable)

    def show(self, report: Report) -> None:
        first = self.report is None
        self.report = report
        rows = version_lines(report)
        self._fit()
        self.table.set_rows(rows)
        chosen = f"◂ {report.kube_version} is chosen, {key_of('table.open')} chooses"
        entitle(self.table, line(f"your LISTs under every version · {chosen}"))
        if first and rows:
            wanted = report.move.to_version if report.move is not None else report.kube_version
            self.table.move_to([row.version for row in rows].index(wanted))
        self.paint()

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        if self.report is not None:
            self.table.set_columns(versions(self.report, self.app.size.width - 6))

    @on(VTable.Highlighted)
    def paint(self) -> None:
        report, row = self.report, self.table.row
        if report is None:
            return
        panel = self.query_one("#changes", Panel)
        entitle(panel, line(changes_title(row, report)))
        panel.show(lambda width, height: changes_content(row, report, width, height), (id(report), id(row)))
