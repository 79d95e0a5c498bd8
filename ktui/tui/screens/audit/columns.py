"""The columns of an audit: groups of requests, versions, slow reads of etcd."""

from __future__ import annotations

from ktui.audit import words
from ktui.tui.model import audit_view as view
from ktui.tui.model.audit_lines import GroupLine, later, shape_runs
from ktui.tui.model.audit_view import audit_badge
from ktui.tui.model.format import milliseconds, short_bytes, short_count
from ktui.tui.widgets.bars import bar
from ktui.tui.widgets.columns import Cell, Column, plain

_NOTHING: Cell = ("·", "$ink-faint")
_BAR = 8


def _badge(line: GroupLine) -> Cell:
    badge = audit_badge(line.group.route)
    return (badge.letter, badge.style)


def _route_words(line: GroupLine) -> str:
    badge = audit_badge(line.group.route)
    return f"{badge.letter} {'refused' if line.group.route == 'none' else line.group.route}"


def _ms(line: GroupLine) -> Cell:
    value = view.p95(line.group)
    if view.told_latency(line.group) is None:
        return _NOTHING
    return (milliseconds(value), "bold $warning" if value >= 1000 else "$foreground")


def _max(line: GroupLine) -> float:
    took = view.told_latency(line.group)
    return took.max if took is not None else 0.0


def _errors(line: GroupLine) -> int:
    return sum(line.group.errors.values())


def _errors_cell(line: GroupLine) -> Cell:
    count = _errors(line)
    return (short_count(count), "$route-error") if count else _NOTHING


def _seats(line: GroupLine) -> float:
    return line.group.seats.mean if line.group.seats is not None else 0.0


def _later(line: GroupLine) -> Cell:
    runs: list[tuple[str, str]] = []
    for route, version in later(line.group):
        badge = audit_badge(route)
        runs += [(f"{' ' if runs else ''}{badge.letter}", badge.style), (f" {version}", "$ink-muted")]
    return runs or [_NOTHING]  # type: ignore[list-item]


def _estimated(line: GroupLine) -> Cell:
    if line.group.estimated is None:
        return _NOTHING
    style = "bold $route-etcd" if line.group.estimated.etcd_bytes else "$foreground"
    return ("~" + short_bytes(line.cost), style) if line.cost else ("0", "$ink-muted")


def _etcd(line: GroupLine) -> float:
    return line.group.estimated.etcd_bytes if line.group.estimated is not None else 0.0


def _share_bar(line: GroupLine) -> Cell:
    return (bar(line.share, _BAR), audit_badge(line.group.route).style.removeprefix("bold "))


def _request_text(line: GroupLine) -> str:
    return plain(shape_runs(line.group))


def groups(estimates: bool) -> tuple[Column[GroupLine], ...]:
    """The columns of the groups; what they cost is a number of bytes where it could be estimated."""
    if estimates:
        cost: Column[GroupLine] = Column("cost", "~bytes", _estimated, lambda row: row.cost, 7, align="right",
                                         priority=0, descending=True)  # fmt: skip
    else:
        cost = Column("cost", "total", lambda row: words.milliseconds(row.cost) if row.cost else _NOTHING,
                      lambda row: row.cost, 8, align="right", priority=0, descending=True)  # fmt: skip
    return (
        Column("route", "", _badge, _route_words, 1, priority=0),
        Column("rank", "#", lambda row: (str(row.group.rank), "$ink-muted"), lambda row: row.group.rank, 3,
               align="right", priority=6),
        Column("client", "client", lambda row: row.group.client or "(no user agent)",
               lambda row: row.group.client, 12, flex=3, most=32, wish=18, priority=1),
        Column("account", "account", lambda row: (row.group.user, "$ink-muted"), lambda row: row.group.user,
               14, flex=2, most=30, priority=9),
        Column("request", "request", lambda row: shape_runs(row.group), _request_text,
               22, flex=5, wish=34, priority=0),
        Column("count", "count", lambda row: short_count(row.group.count), lambda row: row.group.count, 6,
               align="right", priority=1, descending=True),
        Column("rate", "rate", lambda row: (words.rate(row.group.per_second), "$ink-muted"),
               lambda row: row.group.per_second or 0.0, 8, align="right", priority=5, descending=True),
        Column("p95", "p95 ms", _ms, lambda row: view.p95(row.group), 6, align="right",
               priority=3, descending=True),
        Column("max", "max", lambda row: (milliseconds(_max(row)) if _max(row) else "·", "$ink-muted"), _max,
               7, align="right", priority=10, descending=True),
        Column("errors", "err", _errors_cell, _errors, 5, align="right", priority=8, descending=True),
        Column("seats", "seats", lambda row: f"{_seats(row):.1f}" if _seats(row) else _NOTHING, _seats, 5,
               align="right", priority=6, descending=True),
        cost,
        Column("bar", "", _share_bar, lambda row: row.share, _BAR, priority=7),
        Column("later", "later", _later, lambda row: plain(_later(row)), 8, priority=2),
        Column("verb", "verb", lambda row: row.group.verb, hidden=True),
        Column("resource", "resource", lambda row: row.group.resource, hidden=True),
        Column("etcd", "etcd bytes", lambda row: str(_etcd(row)), _etcd, hidden=True),
        Column("reason", "reason", lambda row: row.group.reason_id, hidden=True),
    )  # fmt: skip
