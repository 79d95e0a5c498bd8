"""etcd's slow requests, and the requests that probably caused them."""

from __future__ import annotations

import textwrap

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ktui.audit.report import Report, SlowReport
from ktui.core.format import integer, safe
from ktui.tui.audit.slow_columns import SLOW
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line, lines
from ktui.tui.widgets.panel import Panel


class SlowView(Vertical):
    """One row per kind of range; below, the probable causes of the selected one."""

    def compose(self) -> ComposeResult:
        yield VTable[SlowReport](
            SLOW,
            key=lambda row: row,
            id="slow-ranges",
            classes="box",
            empty="no slow requests in the etcd logs",
        )
        yield Panel("probable cause", id="probably", classes="box")

    @property
    def table(self) -> VTable[SlowReport]:
        return self.query_one("#slow-ranges", VTable)

    def show(self, report: Report) -> None:
        self.table.set_rows(report.etcd)
        title = f"slow in etcd · {integer(len(report.etcd))} key ranges" if report.etcd else "slow in etcd"
        entitle(self.table, line(title))
        self.paint()

    @on(VTable.Highlighted)
    def paint(self) -> None:
        row = self.table.row
        self.query_one("#probably", Panel).show(lambda width, height: probably_content(row, width, height))


def probably_content(row: SlowReport | None, width: int, height: int) -> Content:
    """Return the probable causes, the likeliest first."""
    if row is None:
        return line(
            ("etcd logs requests that take longer than 100 ms; give its log with the others", "$ink-muted")
        )
    if not row.probably:
        return line(("no request in the logs explains it", "$ink-muted"))
    drawn: list[Content] = []
    for place, text in enumerate(row.probably, 1):
        texts = textwrap.wrap(safe(text), max(10, width - 3), break_on_hyphens=False)
        drawn += [
            line((f"{place} " if at == 0 else "  ", "$accent"), (part, "$foreground"))
            for at, part in enumerate(texts)
        ]
    return lines(drawn[:height])
