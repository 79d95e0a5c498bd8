"""`ktui audit diff BEFORE AFTER`: what improved and what got worse between two reports of `--json`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from ktui.audit.comparison import (
    REPORT_BYTES,
    Change,
    ReportChanges,
    ReportError,
    Side,
    Totals,
    compare,
    parse_report,
)
from ktui.audit.report import Report
from ktui.cli.exit_codes import OK
from ktui.cli.output import emit_json
from ktui.cli.printing import Printer
from ktui.core.format import frequency, long_bytes, long_milliseconds, percent
from ktui.documents.limits import DocumentError, read_bytes
from ktui.printable import escaped

_STYLES = {"gone": "green", "fewer": "green", "new": "yellow", "more": "yellow", "moved": "cyan"}
_SHOWN = 20


def diff(names: list[str], *, as_json: bool) -> int:
    """Print the comparison. Raises ReportError, OSError."""
    if len(names) != 2:
        raise ReportError("diff takes two reports of `ktui audit --json`: BEFORE AFTER")
    comparison = compare(*map(_report, names))
    if as_json:
        emit_json(msgspec.to_builtins(comparison), indent=2)
    else:
        _print(comparison)
    return OK


def _report(name: str) -> Report:
    try:
        return parse_report(read_bytes(Path(name), REPORT_BYTES))
    except (ReportError, DocumentError) as error:
        raise ReportError(f"{name} {error}") from None


def _print(comparison: ReportChanges) -> None:
    console = Printer(highlight=False)
    for label, totals in (("before", comparison.before), ("after", comparison.after)):
        console.print(Text(f"{label:<7} {_totals(totals)}", "bold"))
    changed = [change for change in comparison.changes if change.kind != "same"]
    same = len(comparison.changes) - len(changed)
    for title, rows in (
        ("less time of the apiserver", [change for change in changed if _busy(change) < 0]),
        ("more time of the apiserver", [change for change in reversed(changed) if _busy(change) >= 0]),
    ):
        if rows:
            console.print()
            console.print(Text(title, "bold"))
            console.print(_table(rows[:_SHOWN]))
        if len(rows) > _SHOWN:
            console.print(Text(f"  and {len(rows) - _SHOWN} more: --json", "dim"))
    console.print()
    console.print(Text(f"{same} groups of requests as before (rates within 10%)", "dim"))


def _totals(totals: Totals) -> str:
    parts = [f"rules of {totals.kube_version}"]
    if totals.lists_per_second is not None:
        parts.append(f"{frequency(totals.lists_per_second)} LISTs")
    if totals.etcd_share is not None:
        parts.append(f"{percent(totals.etcd_share)} of them from etcd")
    parts.append(f"{long_milliseconds(totals.busy)} of apiserver time a second")
    return ", ".join(parts)


def _busy(change: Change) -> float:
    return (change.after.busy if change.after else 0.0) - (change.before.busy if change.before else 0.0)


def _table(changes: Sequence[Change]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for title in ("", "client", "request", "rate", "p99", "bytes/s", "route"):
        table.add_column(title, overflow="fold")
    for change in changes:
        sides = (change.before, change.after)
        table.add_row(
            Text(change.kind, _STYLES.get(change.kind, "")),
            Text(escaped(f"{change.client} {change.user}".strip())),
            Text(escaped(change.request)),
            *(Text(_moved([each(side) if side else "–" for side in sides])) for each in _COLUMNS),
        )
    return table


def _bytes(side: Side) -> str:
    return "" if side.bytes_per_second is None else long_bytes(side.bytes_per_second)


_COLUMNS: tuple[Callable[[Side], str], ...] = (
    lambda side: frequency(side.per_second),
    lambda side: long_milliseconds(side.p99),
    _bytes,
    lambda side: side.route,
)


def _moved(texts: list[str]) -> str:
    """Return `3.0/min → 1.0/min`, or one text if both are the same."""
    before, after = texts
    return before if before == after else f"{before} → {after}"
