"""etcd's slow requests, and the requests that probably caused them."""

from __future__ import annotations

import textwrap

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ktui.audit import phrases
from ktui.audit.report import Report, SlowReport
from ktui.core.format import integer, safe, short_bytes, short_count, short_milliseconds
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line, lines
from ktui.tui.widgets.panel import Panel

# The columns of etcd's slow requests.


def _time(value: float) -> Cell:
    return (short_milliseconds(value), "bold $warning" if value >= 1000 else "$foreground")


def _failed(row: SlowReport) -> Cell:
    return (short_count(row.failed), "$route-error") if row.failed else NOTHING


SLOW: tuple[Column[SlowReport], ...] = (
    Column("range", "range", phrases.slow_range, width=26, flex=3, most=64, priority=0,
           about="the keys that were read"),
    Column("line", "line", lambda row: (row.source, "$ink-muted"), width=5, priority=4,
           about="the line of etcd's log: `apply request took too long` or `request stats`"),
    Column("count", "count", lambda row: short_count(row.count), lambda row: row.count, 6,
           align="right", priority=0, descending=True,
           about="reads that etcd logged as slow"),
    Column("p50", "p50 ms", lambda row: _time(row.took.p50), lambda row: row.took.p50, 7,
           align="right", priority=5, descending=True,
           about="median of the time", unit="ms"),
    Column("p95", "p95 ms", lambda row: _time(row.took.p95), lambda row: row.took.p95, 7,
           align="right", priority=1, descending=True,
           about="95th percentile of the time", unit="ms"),
    Column("max", "max ms", lambda row: _time(row.took.max), lambda row: row.took.max, 7,
           align="right", priority=3, descending=True,
           about="the longest time", unit="ms"),
    Column("failed", "failed", _failed,
           lambda row: row.failed, 6,
           align="right", priority=7, descending=True,
           about="reads that failed"),
    Column("keys", "max keys", lambda row: NOTHING if row.max_keys is None else short_count(row.max_keys),
           lambda row: row.max_keys or 0, 8,
           align="right", priority=6, descending=True,
           about="most keys in one answer"),
    Column("bytes", "max B", lambda row: NOTHING if row.max_bytes is None else short_bytes(row.max_bytes),
           lambda row: row.max_bytes or 0, 6,
           align="right", priority=2, descending=True,
           about="largest answer", unit="B"),
    Column("probably", "probable cause", lambda row: ("; ".join(row.probably), "$ink-muted"), width=20,
           flex=4, priority=8,
           about="requests of the audit log that read the same keys"),
)  # fmt: skip


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
