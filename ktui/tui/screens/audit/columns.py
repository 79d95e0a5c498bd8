"""The columns of an audit: groups of requests, versions, slow reads of etcd."""

from __future__ import annotations

from ktui.audit import words
from ktui.audit.moves import percent
from ktui.audit.report import SlowReport
from ktui.tui.model import audit_view as view
from ktui.tui.model.audit_lines import GroupLine, later, shape_runs
from ktui.tui.model.audit_view import VersionLine, audit_badge
from ktui.tui.model.format import milliseconds, short_bytes, short_count
from ktui.tui.widgets.bars import bar
from ktui.tui.widgets.columns import Cell, Column, plain
from ktui.tui.widgets.stacked import by_route, stacked

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
    return ("~" + short_bytes(line.cost), style)


def _etcd(line: GroupLine) -> float:
    return line.group.estimated.etcd_bytes if line.group.estimated is not None else 0.0


def _share_bar(line: GroupLine) -> Cell:
    return (bar(line.share, _BAR), audit_badge(line.group.route).style.removeprefix("bold "))


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
        Column("client", "client", lambda row: (row.group.client or "(no user agent)", "$foreground"),
               lambda row: row.group.client, 12, flex=3, most=32, priority=1),
        Column("account", "account", lambda row: (row.group.user, "$ink-muted"), lambda row: row.group.user, 14,
               flex=2, most=30, priority=9),
        Column("request", "request", lambda row: shape_runs(row.group), lambda row: plain(shape_runs(row.group)),
               22, flex=5, wish=34, priority=0),
        Column("count", "count", lambda row: short_count(row.group.count), lambda row: row.group.count, 6,
               align="right", priority=1, descending=True),
        Column("rate", "rate", lambda row: (words.rate(row.group.per_second), "$ink-muted"),
               lambda row: row.group.per_second or 0.0, 8, align="right", priority=5, descending=True),
        Column("p95", "p95 ms", _ms, lambda row: view.p95(row.group), 6, align="right", priority=3, descending=True),
        Column("max", "max", lambda row: (milliseconds(_max(row)) if _max(row) else "·", "$ink-muted"), _max, 7,
               align="right", priority=10, descending=True),
        Column("errors", "err", _errors_cell, _errors, 5, align="right", priority=7, descending=True),
        Column("seats", "seats", lambda row: f"{_seats(row):.1f}" if _seats(row) else _NOTHING, _seats, 5,
               align="right", priority=8, descending=True),
        cost,
        Column("bar", "", _share_bar, lambda row: row.share, _BAR, priority=4),
        Column("later", "later", _later, lambda row: plain(_later(row)), 8, priority=2),
        Column("verb", "verb", lambda row: row.group.verb, hidden=True),
        Column("resource", "resource", lambda row: row.group.resource, hidden=True),
        Column("etcd", "etcd bytes", lambda row: str(_etcd(row)), _etcd, hidden=True),
        Column("reason", "reason", lambda row: row.group.reason_id, hidden=True),
    )  # fmt: skip


def _share(part: int, line: VersionLine) -> str:
    return percent(part / line.requests) if line.requests else ""


def _shared(part: int, line: VersionLine, style: str) -> Cell:
    return (_share(part, line), style) if part else _NOTHING


def versions(width: int) -> tuple[Column[VersionLine], ...]:
    """The columns of the versions for a table so wide: the bars take what is left."""
    room = max(10, min(40, (width - 62) // 2 if width >= 100 else width - 52))
    return (
        Column("chosen", "", lambda row: ("▸", "bold $accent") if row.chosen else "", width=1, priority=0),
        Column("version", "kube", lambda row: (row.version, "bold $ink-strong" if row.chosen else "$foreground"),
               lambda row: int(row.version.partition(".")[2]), 5, priority=0),
        Column("requests", "LISTs by route", lambda row: stacked(
                   by_route(row.share.etcd, row.share.cache, row.share.refused), room),
               lambda row: row.share.etcd, room, priority=1),
        Column("etcd", "etcd", lambda row: _shared(row.share.etcd, row, "$route-etcd"),
               lambda row: row.share.etcd, 6, align="right", priority=0, descending=True),
        Column("cache", "cache", lambda row: _shared(row.share.cache, row, "$route-cache"),
               lambda row: row.share.cache, 6, align="right", priority=0, descending=True),
        Column("refused", "refused", lambda row: _shared(row.share.refused, row, "$route-error"),
               lambda row: row.share.refused, 7, align="right", priority=4, descending=True),
        Column("bytesbar", "~bytes they cost", lambda row: _bytes_bar(row, room), lambda row: row.bytes or 0.0, room,
               priority=5),
        Column("bytes", "~etcd B", lambda row: _etcd_bytes(row), lambda row: row.share.etcd_bytes or 0.0, 7,
               align="right", priority=2, descending=True),
        Column("change", "against the version before", lambda row: (view.change_words(row), "$foreground"),
               view.change_words, 16, flex=1, priority=3),
    )  # fmt: skip


def _etcd_bytes(line: VersionLine) -> Cell:
    if line.share.etcd_bytes is None:
        return _NOTHING
    return ("~" + short_bytes(line.share.etcd_bytes), "$foreground")


def _bytes_bar(line: VersionLine, room: int) -> Cell:
    if not line.bytes or not line.most_bytes:
        return ""
    cells = max(2, round(room * line.bytes / line.most_bytes))
    return stacked(by_route(line.share.etcd_bytes or 0.0, line.share.cache_bytes or 0.0), cells)


def _time(value: float) -> Cell:
    return (words.milliseconds(value), "bold $warning" if value >= 1000 else "$foreground")


SLOW: tuple[Column[SlowReport], ...] = (
    Column("range", "range", words.slow_range, width=26, flex=3, most=64, priority=0),
    Column("line", "etcd's line", lambda row: (words.source(row), "$ink-muted"), width=20, priority=6),
    Column("count", "count", lambda row: short_count(row.count), lambda row: row.count, 6, align="right",
           priority=0, descending=True),
    Column("p50", "p50", lambda row: _time(row.took.p50), lambda row: row.took.p50, 7, align="right", priority=5,
           descending=True),
    Column("p95", "p95", lambda row: _time(row.took.p95), lambda row: row.took.p95, 7, align="right", priority=1,
           descending=True),
    Column("max", "max", lambda row: _time(row.took.max), lambda row: row.took.max, 7, align="right", priority=3,
           descending=True),
    Column("failed", "failed", lambda row: (short_count(row.failed), "$route-error") if row.failed else _NOTHING,
           lambda row: row.failed, 6, align="right", priority=7, descending=True),
    Column("keys", "max keys", lambda row: _NOTHING if row.max_keys is None else short_count(row.max_keys),
           lambda row: row.max_keys or 0, 8, align="right", priority=4, descending=True),
    Column("bytes", "max B", lambda row: _NOTHING if row.max_bytes is None else short_bytes(row.max_bytes),
           lambda row: row.max_bytes or 0, 6, align="right", priority=2, descending=True),
    Column("probably", "probably because of", lambda row: ("; ".join(row.probably), "$ink-muted"), width=20,
           flex=4, priority=8),
)  # fmt: skip
