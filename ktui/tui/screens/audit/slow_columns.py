"""The columns of etcd's slow requests."""

from __future__ import annotations

from ktui.audit import words
from ktui.audit.report import SlowReport
from ktui.tui.model.format import short_bytes, short_count
from ktui.tui.widgets.columns import Cell, Column

_NOTHING: Cell = ("·", "$ink-faint")


def _time(value: float) -> Cell:
    return (words.milliseconds(value), "bold $warning" if value >= 1000 else "$foreground")


def _failed(row: SlowReport) -> Cell:
    return (short_count(row.failed), "$route-error") if row.failed else _NOTHING


SLOW: tuple[Column[SlowReport], ...] = (
    Column("range", "range", words.slow_range, width=26, flex=3, most=64, priority=0),
    Column("line", "etcd's line", lambda row: (words.source(row), "$ink-muted"), width=20, priority=6),
    Column("count", "count", lambda row: short_count(row.count), lambda row: row.count, 6,
           align="right", priority=0, descending=True),
    Column("p50", "p50", lambda row: _time(row.took.p50), lambda row: row.took.p50, 7,
           align="right", priority=5, descending=True),
    Column("p95", "p95", lambda row: _time(row.took.p95), lambda row: row.took.p95, 7,
           align="right", priority=1, descending=True),
    Column("max", "max", lambda row: _time(row.took.max), lambda row: row.took.max, 7,
           align="right", priority=3, descending=True),
    Column("failed", "failed", _failed,
           lambda row: row.failed, 6,
           align="right", priority=7, descending=True),
    Column("keys", "max keys", lambda row: _NOTHING if row.max_keys is None else short_count(row.max_keys),
           lambda row: row.max_keys or 0, 8,
           align="right", priority=4, descending=True),
    Column("bytes", "max B", lambda row: _NOTHING if row.max_bytes is None else short_bytes(row.max_bytes),
           lambda row: row.max_bytes or 0, 6,
           align="right", priority=2, descending=True),
    Column("probably", "probably because of", lambda row: ("; ".join(row.probably), "$ink-muted"), width=20,
           flex=4, priority=8),
)  # fmt: skip
