"""The columns of the table of versions."""

from __future__ import annotations

from ktui.audit.report import Report
from ktui.core.format import percent, short_bytes
from ktui.core.table.columns import NOTHING, Cell, Column, Run
from ktui.tui.audit.report_view import audit_badge
from ktui.tui.audit.version_rows import VersionLine
from ktui.tui.charts.stacked import by_route, stacked


def _shared(part: int, line: VersionLine, style: str) -> Cell:
    return (percent(part / line.requests), style) if part else NOTHING


def versions(report: Report, width: int) -> tuple[Column[VersionLine], ...]:
    """Return the columns for a table of `width` cells; the bars take the cells that are left."""
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
