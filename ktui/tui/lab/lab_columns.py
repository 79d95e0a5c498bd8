"""The columns of the Lab's results: measured and predicted, with bars to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ktui.core.format import clock_time, integer, milliseconds, short_bytes, short_count, times
from ktui.core.lab.form_prediction import returned_by
from ktui.core.lab.result import NO_ANSWER, LabResult
from ktui.core.rows import ERROR, PENDING, Badge, badge_of_route
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.charts.bars import bar, share_of
from ktui.tui.widgets.lines import figure

BARS = ((150, 12), (100, 8))  # least cells of the table → cells of a bar
SHORTEST_BAR = 5
_PREVIOUS = ("previous run", "previous", "prev.")
UNTOLD = Badge("?", "$ink-muted", "route not known")


@dataclass(frozen=True, slots=True, eq=False)
class ResultLine:
    """A result with its shares (0–1) of the longest time and of the most bytes."""

    result: LabResult
    ms_share: float = 0.0
    processed_share: float = 0.0
    streamed: int = 0  # bytes received so far, while the result is pending


def result_lines(results: Sequence[LabResult], streamed: int) -> list[ResultLine]:
    """Return a line for each result; those of previous runs have no shares."""
    answers = [result.answer for result in results if not result.previous]
    longest = max((answer.total_ms for answer in answers), default=0.0)
    largest = max((answer.processed_bytes or 0 for answer in answers), default=0)
    drawn = []
    for result in results:
        answer = NO_ANSWER if result.previous else result.answer
        shares = share_of(answer.total_ms, longest), share_of(answer.processed_bytes or 0, largest)
        drawn.append(ResultLine(result, *shares, streamed if result.pending else 0))
    return drawn


def badge_of_result(result: LabResult) -> Badge:
    if result.pending:
        return PENDING
    if not result.ok:
        return ERROR
    return badge_of_route(result.route) if result.route else UNTOLD


def _routes(row: ResultLine) -> Cell:
    """Return `C→C`, or `C≠E` if the measured route differs from the predicted one."""
    result = row.result
    measured = badge_of_result(result)
    predicted = result.predicted.route
    if not predicted:
        return ((" ", ""), (" ", ""), measured.run)
    badge = ERROR if predicted == "none" else badge_of_route(predicted)
    between = ("≠", "bold $warning") if "route" in result.surprises else ("→", "$ink-faint")
    return (badge.run, between, measured.run)


def _agreement(row: ResultLine) -> Cell:
    """Return how many figures were as predicted, or else which were not."""
    if wrong := row.result.surprises:
        return ((f"≠ {', '.join(wrong)}", "bold $warning"),)
    agreeing = sum(each.verdict in "=≈" for each in row.result.comparisons)
    return (f"= all {agreeing}", "$success") if agreeing else NOTHING


def _counted(value: int | None) -> Cell:
    if value is None:
        return NOTHING
    return (short_count(value), "") if value else ("0", "$ink-faint")


def _waiting(row: ResultLine) -> bool:
    """True for a result without figures yet; a comparison has medians after its first pair."""
    return row.result.pending and row.result.measured is None


def _bytes(row: ResultLine) -> Cell:
    if _waiting(row):
        return (short_bytes(row.streamed), "$ink-muted")
    size = row.result.answer.body_bytes
    return (short_bytes(size), "") if size else NOTHING


def _amplification(row: ResultLine) -> Cell:
    factor = row.result.answer.amplification
    if factor is None or not row.result.ok:
        return NOTHING
    return (times(factor), "bold $warning" if factor > 10 else "")


def _ms(row: ResultLine) -> Cell:
    if _waiting(row):
        return ("…", "$ink-muted")
    style = "$ink-muted" if row.result.pending else "bold $ink-strong"
    return (milliseconds(row.result.answer.total_ms), style) if row.result.status else NOTHING


def _bar(row: ResultLine, share: float, room: int, style: str) -> Cell:
    if row.result.previous:
        return (next(word for word in _PREVIOUS if len(word) <= room), "$ink-faint")
    return (bar(share, room), style)


def _why(row: ResultLine) -> Cell:
    result = row.result
    if result.problem:
        return ((f"{result.status} " if result.status else "", "$error"), (result.problem, "$error"))
    return (result.answer.reason, "$ink-muted")


def _count(name: str, title: str, counter: str, about: str, width: int, priority: int) -> Column[ResultLine]:
    """Return the column of a counter of the server's cost report."""

    def cell(row: ResultLine) -> Cell:
        return ("…", "$ink-faint") if _waiting(row) else _counted(row.result.answer.counters.get(counter))

    return Column(name, title, cell, lambda row: row.result.answer.counters.get(counter) or 0, width,
                  align="right", priority=priority, about=about)  # fmt: skip


def columns(width: int) -> tuple[Column[ResultLine], ...]:
    """Return the columns for a table of `width` cells; those that do not fit are left out by priority."""
    room = next((bar for least, bar in BARS if width >= least), SHORTEST_BAR)
    return (
        Column("route", "route", _routes, lambda row: row.result.route, 5, priority=0,
               about="predicted → measured route; ≠ where they differ"),
        Column("form", "variant",
               lambda row: ((f"{row.result.number:>2} ", "$ink-faint"),
                            (row.result.label, "$ink-muted" if row.result.previous else "$ink-strong")),
               lambda row: row.result.label, 15, wish=23, flex=1, most=40, priority=0,
               about="number and variant of the request"),
        Column("status", "http", lambda row: str(row.result.status or ""), lambda row: row.result.status, 4,
               priority=9, about="HTTP status of the answer"),
        Column("predicted", "predicted", _agreement, None, 9, flex=1, most=22, priority=5,
               aliases=("foreseen",), about="which figures came out as predicted, and which did not"),
        _count("keys", "etcd keys", "etcd_keys", "keys that etcd read to answer it", 9, 4),
        _count("scanned", "scanned", "fetched", "objects taken from cache or etcd", 7, 1),
        _count("evaluated", "evaluated", "evaluated", "objects tested against the selectors", 9, 6),
        Column("returned", "returned", lambda row: _counted(returned_by(row.result.answer)),
               lambda row: returned_by(row.result.answer) or 0, 8, align="right", priority=1,
               about="objects in the answer"),
        Column("processed", "processed",
               lambda row: short_bytes(size) if (size := row.result.answer.processed_bytes) else NOTHING,
               lambda row: row.result.answer.processed_bytes or 0, 9, align="right", priority=2,
               about="bytes taken from etcd or the cache to answer it", unit="B"),
        Column("processedbar", "", lambda row: _bar(row, row.processed_share, room, "$rv-tick"),
               lambda row: row.processed_share, room, priority=3,
               about="a share of the largest; `previous run`: of an earlier server or dashboard"),
        Column("received", "received", _bytes, lambda row: row.result.answer.body_bytes, 8, align="right",
               priority=0, about="size of the answer after decompression", unit="B"),
        Column("amplified", "amplified", _amplification, lambda row: row.result.answer.amplification or 0, 9,
               align="right", priority=6, about="bytes processed for each byte of the answer"),
        figure("held", "held", lambda row: memory.peak_held if (memory := row.result.answer.memory) else 0,
               "the most memory that the server held for the answer", width=6, priority=7, unit="B",
               style=""),
        Column("ms", "ms", _ms, lambda row: row.result.answer.total_ms, 6, align="right", priority=0,
               about="from sending the request to the last byte, as the client saw it", unit="ms"),
        Column("msbar", "", lambda row: _bar(row, row.ms_share, room, "$rv-lag"), lambda row: row.ms_share,
               room, priority=1,
               about="a share of the longest; `previous run`: of an earlier server or dashboard"),
        Column("first", "first", lambda row: (milliseconds(row.result.answer.first_byte_ms), "$ink-muted")
               if row.result.measured is not None else NOTHING,
               lambda row: row.result.answer.first_byte_ms, 5, align="right", priority=6,
               about="time to the first byte of the answer", unit="ms"),
        Column("seats", "seats", lambda row: _counted(row.result.answer.seats),
               lambda row: row.result.answer.seats or 0, 5, align="right", priority=4,
               about="seats of API Priority and Fairness that it took"),
        Column("requests", "requests", lambda row: integer(row.result.answer.pages),
               lambda row: row.result.answer.pages, 8, align="right", priority=9,
               about="requests that it took"),
        Column("server", "server", lambda row: (row.result.server or "own", "$ink-muted"),
               lambda row: row.result.server, 6, flex=1, most=20, priority=8,
               about="where it was sent: ktui's own server or a context"),
        Column("at", "at", lambda row: (clock_time(row.result.at), "$ink-faint"), lambda row: row.result.at,
               8, priority=8, about="when it was sent, local time; filters take Unix seconds"),
        Column("why", "why", _why, lambda row: row.result.problem, 20, flex=3, priority=8,
               about="the reason for the route, or the error"),
    )  # fmt: skip
