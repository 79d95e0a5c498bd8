"""The Lab's results: foreseen beside measured, with bars to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ktui.tui.model.format import clock_time, integer, milliseconds, short_bytes, short_count
from ktui.tui.model.lab_figures import returned_by
from ktui.tui.model.lab_result import LabResult
from ktui.tui.model.routes import ERROR, PENDING, Badge, badge_of_route
from ktui.tui.widgets.bars import bar, share_of
from ktui.tui.widgets.columns import Cell, Column

BAR = 14  # cells of a bar
SHORT_BAR = 7
NONE: Cell = ("·", "$ink-faint")
UNTOLD = Badge("?", "$ink-muted", "route not told")


@dataclass(frozen=True, slots=True, eq=False)
class ResultLine:
    """A result with its shares of the longest time and of the most bytes so far."""

    result: LabResult
    ms_share: float = 0.0
    processed_share: float = 0.0
    streamed: int = 0  # bytes come in so far, while it is pending


def result_lines(results: Sequence[LabResult], streamed: int) -> list[ResultLine]:
    longest = max((result.ms for result in results), default=0.0)
    largest = max((result.processed for result in results), default=0)
    return [
        ResultLine(
            result,
            share_of(result.ms, longest),
            share_of(result.processed, largest),
            streamed if result.pending else 0,
        )
        for result in results
    ]


def badge_of_result(result: LabResult) -> Badge:
    if result.pending:
        return PENDING
    if not result.ok:
        return ERROR
    return badge_of_route(result.route) if result.route else UNTOLD


def _routes(row: ResultLine) -> Cell:
    """`C→C`, or `C≠E` where the answer came from elsewhere than foreseen."""
    result = row.result
    measured = badge_of_result(result)
    foreseen = result.foreseen.route
    if not foreseen:
        return ((" ", ""), (" ", ""), (measured.letter, measured.style))
    badge = ERROR if foreseen == "none" else badge_of_route(foreseen)
    wrong = any(each.name == "route" and each.verdict == "≠" for each in result.comparisons)
    between = ("≠", "bold $warning") if wrong else ("→", "$ink-faint")
    return ((badge.letter, badge.style), between, (measured.letter, measured.style))


def _form(row: ResultLine) -> Cell:
    style = "$ink-muted" if row.result.past else "$ink-strong"
    return ((f"{row.result.number} ", "$ink-faint"), (row.result.label, style))


def _agreement(row: ResultLine) -> Cell:
    """Whether every figure came out as foreseen, or which ones did not."""
    compared = row.result.comparisons
    wrong = [each.name for each in compared if each.verdict == "≠"]
    if wrong:
        return ((f"≠ {', '.join(wrong)}", "bold $warning"),)
    told = sum(each.verdict in "=≈" for each in compared)
    return (f"= {told}", "$success") if told else NONE


def _counted(value: int | None) -> Cell:
    if value is None:
        return NONE
    return (short_count(value), "") if value else ("0", "$ink-faint")


def _server(row: ResultLine, name: str) -> Cell:
    return ("…", "$ink-faint") if row.result.pending else _counted(row.result.count(name))


def _bytes(row: ResultLine) -> Cell:
    if row.result.pending:
        return (short_bytes(row.streamed), "$ink-muted")
    return (short_bytes(row.result.bytes), "") if row.result.bytes else NONE


def _processed(row: ResultLine) -> Cell:
    return (short_bytes(row.result.processed), "") if row.result.processed else NONE


def _amplification(row: ResultLine) -> Cell:
    measured = row.result.measured
    factor = measured.amplification if measured is not None and row.result.ok else None
    if factor is None:
        return NONE
    return (
        f"{factor:.1f}×" if factor < 100 else f"{short_count(factor)}×",
        "bold $warning" if factor > 10 else "",
    )


def _ms(row: ResultLine) -> Cell:
    if row.result.pending:
        return ("…", "$ink-muted")
    return (milliseconds(row.result.ms), "bold $ink-strong") if row.result.status else NONE


def _first(row: ResultLine) -> Cell:
    measured = row.result.measured
    return (milliseconds(measured.first_byte_ms), "$ink-muted") if measured is not None else NONE


def _returned(row: ResultLine) -> int | None:
    return returned_by(row.result.measured) if row.result.measured is not None else None


def _seats(row: ResultLine) -> int | None:
    return row.result.measured.seats if row.result.measured is not None else None


def _pages(row: ResultLine) -> int:
    return row.result.measured.pages if row.result.measured is not None else 0


def _why(row: ResultLine) -> Cell:
    result = row.result
    if result.problem:
        return ((f"{result.status} " if result.status else "", "$error"), (result.problem, "$error"))
    return (result.measured.reason if result.measured is not None else "", "$ink-muted")


def columns(width: int) -> tuple[Column[ResultLine], ...]:
    """The columns for a table so wide; what does not fit goes by its priority."""
    room = SHORT_BAR if width < 100 else BAR
    return (
        Column("routes", "p→m", _routes, lambda row: row.result.route, 3, priority=0),
        Column("form", "form", _form, lambda row: row.result.label, 15, flex=1, most=26, priority=0),
        Column("status", "http", lambda row: str(row.result.status or ""), lambda row: row.result.status, 4,
               priority=9),
        Column("foreseen", "foreseen", _agreement, None, 8, flex=1, most=22, priority=5),
        Column("keys", "etcd keys", lambda row: _server(row, "etcd_keys"),
               lambda row: row.result.count("etcd_keys") or 0, 9, align="right", priority=4),
        Column("fetched", "fetched", lambda row: _server(row, "fetched"),
               lambda row: row.result.count("fetched") or 0, 7, align="right", priority=1),
        Column("evaluated", "eval", lambda row: _server(row, "evaluated"),
               lambda row: row.result.count("evaluated") or 0, 5, align="right", priority=6),
        Column("returned", "sent", lambda row: _counted(_returned(row)), lambda row: _returned(row) or 0, 5,
               align="right", priority=1),
        Column("processed", "bytes in", _processed, lambda row: row.result.processed, 8,
               align="right", priority=2),
        Column("processedbar", "", lambda row: (bar(row.processed_share, room), "$rv-tick"),
               lambda row: row.processed_share, room, priority=3),
        Column("bytes", "out", _bytes, lambda row: row.result.bytes, 6, align="right", priority=0),
        Column("amplification", "amp", _amplification,
               lambda row: (row.result.measured and row.result.measured.amplification) or 0, 5, align="right",
               priority=6),
        Column("ms", "ms", _ms, lambda row: row.result.ms, 6, align="right", priority=0),
        Column("msbar", "", lambda row: (bar(row.ms_share, room), "$rv-lag"), lambda row: row.ms_share, room,
               priority=1),
        Column("first", "first", _first, lambda row: row.result.ms, 5, align="right", priority=6),
        Column("seats", "seats", lambda row: _counted(_seats(row)), lambda row: _seats(row) or 0, 5,
               align="right", priority=4),
        Column("pages", "req", lambda row: integer(_pages(row)), _pages, 3, align="right", priority=9),
        Column("server", "server", lambda row: (row.result.server or "own", "$ink-muted"),
               lambda row: row.result.server, 6, flex=1, most=20, priority=8),
        Column("at", "at", lambda row: (clock_time(row.result.at), "$ink-faint"), lambda row: row.result.at,
               8, priority=8),
        Column("why", "why", _why, lambda row: row.result.problem, 20, flex=3, priority=8),
    )  # fmt: skip
