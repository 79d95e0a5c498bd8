"""An audit's requests under every known version."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ktui.audit.report import Report
from ktui.audit.version_shares import VersionShare
from ktui.core.format import integer, long_bytes, percent, short_bytes
from ktui.core.table.columns import NOTHING, Cell, Column, Run
from ktui.tui.audit.group_columns import shape_runs
from ktui.tui.audit.report_view import audit_badge
from ktui.tui.audit.version_rows import (
    Moved,
    VersionLine,
    compared_with,
    gates_of,
    moved_between,
    version_lines,
)
from ktui.tui.charts.bars import by_route, stacked
from ktui.tui.keys.hints import key_of
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line, lines, pad
from ktui.tui.widgets.panel import Panel


def _shared(part: int, line: VersionLine, style: str) -> Cell:
    return (percent(part / line.requests), style) if part else NOTHING


def versions(report: Report, width: int) -> tuple[Column[VersionLine], ...]:
    """Return the columns of the table of versions for `width` cells; the bars take the cells left over."""
    estimates = report.versions[0].etcd_bytes is not None
    two = estimates and width >= 100
    room = max(10, min(44, (width - 62) // 2 if two else width - 50))
    columns: list[Column[VersionLine]] = [
        Column("version", "kube", _version, lambda row: int(row.version.split(".")[1]), 6, priority=0,
               about="Kubernetes version; ◂ the one chosen"),
        Column("requests", "LISTs by route", lambda row: stacked(
                   by_route(row.share.etcd, row.share.cache, row.share.refused), room),
               lambda row: row.share.etcd, room, priority=1,
               about="LISTs by route"),
        Column("etcd", "etcd", lambda row: _shared(row.share.etcd, row, "$route-etcd"),
               lambda row: row.share.etcd, 6, align="right", priority=0, descending=True,
               about="share of LISTs that go to etcd"),
        Column("cache", "cache", lambda row: _shared(row.share.cache, row, "$route-cache"),
               lambda row: row.share.cache, 6, align="right", priority=0, descending=True,
               about="share of LISTs that the cache answers"),
    ]  # fmt: skip
    if any(share.refused for share in (*report.versions, *report.earlier)):
        columns.append(
            Column("refused", "refused", lambda row: _shared(row.share.refused, row, "$route-error"),
                   lambda row: row.share.refused, 7, align="right", priority=4, descending=True,
                   about="share of LISTs that are refused")
        )  # fmt: skip
    if estimates:
        columns += [
            Column("bytesbar", "~bytes read", lambda row: _bytes_bar(row, room),
                   lambda row: row.bytes or 0.0, room, priority=6,
                   about="estimated bytes, by route"),
            Column("bytes", "~etcd B", _etcd_bytes, lambda row: row.share.etcd_bytes or 0.0, 7, align="right",
                   priority=2, descending=True,
                   about="estimated bytes read from etcd", unit="B"),
        ]  # fmt: skip
    columns.append(
        Column(
            "moves",
            "moves",
            _moves,
            width=13,
            flex=1,
            priority=3,
            about="changes since the version before",
        )
    )
    return tuple(columns)


def _version(line: VersionLine) -> Cell:
    style = "bold $ink-strong" if line.chosen or line.flows else "$ink-muted"
    return [(line.version, style), (" ◂", "bold $accent") if line.chosen else ("", "")]


def _moves(line: VersionLine) -> Cell:
    """Return `67% E→C`: shares of LISTs whose route differs from the previous version's."""
    runs: list[Run] = []
    for before, after, count in line.flows:
        old, new = audit_badge(before), audit_badge(after)
        runs += [(f"{', ' if runs else ''}{percent(count / line.requests)} ", "$foreground")]
        runs += [(old.letter, old.style), ("→", "$ink-muted"), (new.letter, new.style)]
    return runs or ""


def _etcd_bytes(line: VersionLine) -> Cell:
    if line.share.etcd_bytes is None:
        return NOTHING
    if not line.share.etcd_bytes:
        return ("0", "$ink-muted")
    return ("~" + short_bytes(line.share.etcd_bytes), "$foreground")


def _bytes_bar(line: VersionLine, room: int) -> Cell:
    if not line.bytes or not line.most_bytes:
        return ""
    cells = max(2, round(room * line.bytes / line.most_bytes))
    return stacked(by_route(line.share.etcd_bytes or 0.0, line.share.cache_bytes or 0.0), cells)


def changes_title(row: VersionLine | None, report: Report) -> str:
    than = compared_with(row, report) if row is not None else None
    return f"what changes from {than.version} to {row.version}" if row and than else "what changes"


def changes_content(row: VersionLine | None, report: Report, width: int, height: int) -> Content:
    """Return what a version changes: requests and bytes whose route changes, and why; then groups by cost."""
    if row is None:
        return line(("no LIST of a stored resource was read", "$ink-muted"))
    than = compared_with(row, report)
    if than is None:
        return line((f"{row.version} is the oldest version known", "$ink-muted"))
    moved = moved_between(report, than.version, row.version)
    if not moved:
        text = f"nothing: every LIST is served as in {than.version}{_bytes_words(row, than)}"
        return line((text, "$ink-muted")).truncate(width, ellipsis=True)
    drawn = [line((text, "bold $ink-strong")) for text in textwrap.wrap(_summary(row, than, moved), width)]
    if gates := gates_of(moved, than.version, row.version, report):
        text = ", ".join(gates)
        drawn.append(
            line(("because of ", "$ink-muted"), (text, "$foreground")).truncate(width, ellipsis=True)
        )
    room = height - len(drawn)
    shown = moved if len(moved) <= room else moved[: max(0, room - 1)]
    drawn += [_moved(each, width) for each in shown]
    if len(shown) < len(moved):
        drawn.append(line((f"  … {integer(len(moved) - len(shown))} more groups", "$ink-muted")))
    return lines(drawn[:height])


def _summary(row: VersionLine, than: VersionShare, moved: Sequence[Moved]) -> str:
    requests = sum(each.group.count for each in moved)
    share = percent(requests / row.requests)
    return (
        f"{share} of your LISTs ({integer(requests)}) are served from another source{_bytes_words(row, than)}"
    )


def _bytes_words(row: VersionLine, than: VersionShare) -> str:
    """Return `; LISTs read ~1.2 GB less from etcd (estimated)`; "" if unknown or equal."""
    if than.etcd_bytes is None or row.share.etcd_bytes is None:
        return ""
    change = row.share.etcd_bytes - than.etcd_bytes
    if abs(change) < 0.5:
        return ""
    return f"; LISTs read ~{long_bytes(abs(change))} {'more' if change > 0 else 'less'} from etcd (estimated)"


def _moved(each: Moved, width: int) -> Content:
    before, after = audit_badge(each.before), audit_badge(each.after)
    return line(
        (before.letter, before.style), (" → ", "$ink-faint"), (after.letter, after.style),
        (f" {integer(each.group.count):>9} × ", "$ink-muted"),
        (pad(each.group.client or "(no user agent)", min(28, width // 3)), "$foreground"), ("  ", ""),
        *shape_runs(each.group),
    ).truncate(width, ellipsis=True)  # fmt: skip


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
