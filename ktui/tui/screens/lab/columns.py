"""The Lab's results: predicted beside measured, with bars to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ktui.tui.model.format import integer, milliseconds, short_bytes, short_count
from ktui.tui.model.lab_result import LabResult
from ktui.tui.model.routes import ERROR, PENDING, Badge, badge_of_route
from ktui.tui.widgets.bars import bar, share_of
from ktui.tui.widgets.columns import Cell, Column

BAR = 14  # cells of a bar
SHORT_BAR = 7
NONE: Cell = ("·", "$ink-faint")


@dataclass(frozen=True, slots=True, eq=False)
class ResultLine:
    """A result with its shares of the longest time and of the largest body so far."""

    result: LabResult
    ms_share: float = 0.0
    bytes_share: float = 0.0
    streamed: int = 0  # bytes come in so far, while it is pending


def result_lines(results: Sequence[LabResult], streamed: int) -> list[ResultLine]:
    longest = max((result.measures.ms for result in results), default=0.0)
    largest = max((result.measures.bytes for result in results), default=0)
    return [
        ResultLine(
            result,
            share_of(result.measures.ms, longest),
            share_of(result.measures.bytes, largest),
            streamed if result.pending else 0,
        )
        for result in results
    ]


def badge_of_result(result: LabResult) -> Badge:
    if result.pending:
        return PENDING
    return badge_of_route(result.route) if result.ok else ERROR


def _routes(row: ResultLine) -> Cell:
    """`C→C`, or `C≠E` where the prediction was wrong."""
    result = row.result
    measured = badge_of_result(result)
    if not result.predicted:
        return ((" ", ""), (" ", ""), (measured.letter, measured.style))
    foreseen = ERROR if result.predicted == "none" else badge_of_route(result.predicted)
    between = ("≠", "bold $warning") if result.surprising else ("→", "$ink-faint")
    return ((foreseen.letter, foreseen.style), between, (measured.letter, measured.style))


def _form(row: ResultLine) -> Cell:
    return ((f"{row.result.number} ", "$ink-faint"), (row.result.label, "$ink-strong"))


def _counted(value: int | None) -> Cell:
    if value is None:
        return ("…", "$ink-faint")
    return (short_count(value), "") if value else NONE


def _bytes(row: ResultLine) -> Cell:
    if row.result.pending:
        return (short_bytes(row.streamed), "$ink-muted")
    size = row.result.measures.bytes
    return (short_bytes(size), "") if size else NONE


def _ms(row: ResultLine) -> Cell:
    if row.result.pending and not row.result.measures.ms:
        return ("…", "$ink-muted")
    return (milliseconds(row.result.measures.ms), "bold $ink-strong") if row.result.status else NONE


def _why(row: ResultLine) -> Cell:
    result = row.result
    if result.error and not result.ok:
        return ((f"{result.status} " if result.status else "", "$error"), (result.error, "$error"))
    return (result.reason, "$ink-muted")


def columns(width: int) -> tuple[Column[ResultLine], ...]:
    """The columns for a table so wide; what does not fit goes by its priority."""
    room = SHORT_BAR if width < 100 else BAR
    return (
        Column("routes", "p→m", _routes, lambda row: row.result.route, 3, priority=0),
        Column("form", "form", _form, lambda row: row.result.label, 15, flex=1, most=24, priority=0),
        Column("status", "http", lambda row: str(row.result.status or ""), lambda row: row.result.status, 4,
               priority=7),
        Column("keys", "etcd keys", lambda row: _counted(row.result.measures.etcd_keys),
               lambda row: row.result.measures.etcd_keys or 0, 9, align="right", priority=1),
        Column("fetched", "fetched", lambda row: _counted(row.result.measures.fetched),
               lambda row: row.result.measures.fetched, 7, align="right", priority=4),
        Column("evaluated", "eval", lambda row: _counted(row.result.measures.evaluated),
               lambda row: row.result.measures.evaluated, 5, align="right", priority=6),
        Column("returned", "sent", lambda row: _counted(row.result.measures.returned),
               lambda row: row.result.measures.returned, 5, align="right", priority=1),
        Column("bytes", "bytes", _bytes, lambda row: row.result.measures.bytes, 6, align="right", priority=0),
        Column("bytesbar", "", lambda row: (bar(row.bytes_share, room), "$rv-tick"),
               lambda row: row.bytes_share, room, priority=5),
        Column("ms", "ms", _ms, lambda row: row.result.measures.ms, 6, align="right", priority=0),
        Column("msbar", "", lambda row: (bar(row.ms_share, room), "$rv-lag"), lambda row: row.ms_share, room,
               priority=2),
        Column("first", "first", lambda row: (milliseconds(row.result.measures.first_byte_ms), "$ink-muted"),
               lambda row: row.result.measures.first_byte_ms, 5, align="right", priority=3),
        Column("seats", "seats", lambda row: _counted(row.result.measures.seats),
               lambda row: row.result.measures.seats, 5, align="right", priority=2),
        Column("pages", "req", lambda row: integer(row.result.measures.requests),
               lambda row: row.result.measures.requests, 3, align="right", priority=7),
        Column("why", "why", _why, lambda row: row.result.reason, 20, flex=3, priority=8),
    )  # fmt: skip
