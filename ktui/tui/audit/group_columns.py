"""Rows and columns of the audit's groups."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.audit import phrases
from ktui.audit.report import UNKNOWN, GroupReport, Report
from ktui.core.format import long_milliseconds, milliseconds, short_bytes, short_count
from ktui.core.request_view import selector_words, short_resource
from ktui.core.table.columns import NOTHING, Cell, Column, Run, plain
from ktui.kube.resources import BUILTIN
from ktui.tui.audit import report_view as view
from ktui.tui.audit.report_view import audit_badge, busy_ms, by_bytes
from ktui.tui.charts.bars import bar

_BUILTIN = frozenset(resource.id for resource in BUILTIN.all())


@dataclass(frozen=True, slots=True, eq=False)
class GroupLine:
    """A group and its cost; `share` (0–1) is relative to the most expensive group."""

    group: GroupReport
    cost: float
    share: float

    @property
    def identity(self) -> tuple[str, ...]:
        """What identifies the group under every version."""
        group = self.group
        return group.client, group.user, group.verb, group.example


def group_lines(report: Report) -> list[GroupLine]:
    """Return a line per group, most expensive first: by estimated bytes, or by ms without sizes."""
    cost = phrases.processed if by_bytes(report) else busy_ms
    costs = [cost(group) for group in report.groups]
    most = max(costs, default=0.0)
    return [
        GroupLine(group, value, value / most if most else 0.0)
        for group, value in zip(report.groups, costs, strict=True)
    ]


def shape_runs(group: GroupReport) -> list[Run]:
    """Return `LIST pods -n … ?nodeName=… rv=0` as styled runs; … replaces what differs."""
    resource = short_resource(group.resource) if group.resource in _BUILTIN else group.resource
    runs: list[Run] = [(f"{group.verb.upper()} ", "$ink-muted"), (resource, "$foreground")]
    if group.subresource:
        runs.append((f"/{group.subresource}", "$foreground"))
    if group.scope != "all":
        runs.append((" -n …" if group.scope == "namespace" else " …", "$ink-muted"))
    if text := parameters(group):
        runs.append((f" ?{text}", "$ink-muted"))
    return runs


def parameters(group: GroupReport) -> str:
    """Return `nodeName=… rv=0 limit=500`; a GET's unset resourceVersion is left out."""
    if group.resource_version == UNKNOWN:
        return "query not logged"
    words = [selector_words(selector) for selector in group.selectors]
    if group.resource_version != "unset":
        words.append(f"rv={group.resource_version}")
    elif group.verb != "get" and not group.continued:
        words.append("rv unset")
    words += [f"match={group.match}"] if group.match else []
    words += [f"limit={group.limit}"] if group.limit else []
    words += [f"continue={group.continued.replace(' ', '-')}"] if group.continued else []
    if group.initial_events is not None:
        words.append(f"sendInitial={'true' if group.initial_events else 'false'}")
    return " ".join(words)


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
        return NOTHING
    return (milliseconds(value), "bold $warning" if value >= 1000 else "$foreground")


def _max(line: GroupLine) -> float:
    took = view.told_latency(line.group)
    return took.max if took is not None else 0.0


def _errors(line: GroupLine) -> int:
    return sum(line.group.errors.values())


def _errors_cell(line: GroupLine) -> Cell:
    count = _errors(line)
    return (short_count(count), "$route-error") if count else NOTHING


def _seats(line: GroupLine) -> float:
    return line.group.seats.mean if line.group.seats is not None else 0.0


def _later(line: GroupLine) -> Cell:
    runs: list[tuple[str, str]] = []
    for route, version in phrases.changes(line.group):
        badge = audit_badge(route)
        runs += [(f"{' ' if runs else ''}{badge.letter}", badge.style), (f" {version}", "$ink-muted")]
    return runs or [NOTHING]


def _estimated(line: GroupLine) -> Cell:
    if line.group.estimated is None:
        return NOTHING
    style = "bold $route-etcd" if line.group.estimated.etcd_bytes else "$foreground"
    processed = phrases.processed(line.group)
    return ("~" + short_bytes(processed), style) if processed else ("0", "$ink-muted")


def _etcd(line: GroupLine) -> float:
    return line.group.estimated.etcd_bytes if line.group.estimated is not None else 0.0


def _share_bar(line: GroupLine) -> Cell:
    return (bar(line.share, _BAR), audit_badge(line.group.route).style.removeprefix("bold "))


def _request_text(line: GroupLine) -> str:
    return plain(shape_runs(line.group))


_ASKED: tuple[Column[GroupLine], ...] = (
    Column("route", "", _badge, _route_words, 1, priority=0,
           about="C cache, E etcd, ! refused, under the version chosen"),
    Column("rank", "#", lambda row: (str(row.group.rank), "$ink-muted"), lambda row: row.group.rank, 3,
           align="right", priority=6,
           about="rank by cost"),
    Column("client", "client", lambda row: row.group.client or "(no user agent)",
           lambda row: row.group.client, 12, flex=3, most=32, wish=18, priority=1,
           about="the User-Agent"),
    Column("account", "account", lambda row: (row.group.user, "$ink-muted"), lambda row: row.group.user,
           16, flex=2, most=30, priority=4,
           about="the user of the audit log: empty for httplog lines, which have none"),
    Column("request", "request", lambda row: shape_runs(row.group), _request_text,
           22, flex=5, wish=34, priority=0,
           about="requests of one shape; … replaces what differs"),
    Column("count", "count", lambda row: short_count(row.group.count), lambda row: row.group.count, 6,
           align="right", priority=1, descending=True,
           about="requests in the log"),
    Column("rate", "rate", lambda row: (phrases.rate(row.group), "$ink-muted"),
           lambda row: row.group.per_second or 0.0, 8, align="right", priority=5, descending=True,
           about="requests a second over the time of the log"),
    Column("p95", "p95 ms", _ms, lambda row: view.p95(row.group), 6, align="right",
           priority=3, descending=True,
           about="95th percentile of the latency", unit="ms"),
    Column("max", "max ms", lambda row: (milliseconds(_max(row)) if _max(row) else "·", "$ink-muted"),
           _max, 7, align="right", priority=10, descending=True,
           about="the longest latency", unit="ms"),
    Column("errors", "err", _errors_cell, _errors, 5, align="right", priority=8, descending=True,
           about="answers with status 400 and above"),
    Column("seats", "seats", lambda row: f"{_seats(row):.1f}" if _seats(row) else NOTHING, _seats, 5,
           align="right", priority=6, descending=True,
           about="seats of API Priority and Fairness, on average"),
)  # fmt: skip
_BYTES: Column[GroupLine] = Column(
    "cost",
    "~bytes",
    _estimated,
    lambda row: row.cost,
    7,
    align="right",
    priority=0,
    descending=True,
    unit="B",
    about="estimated bytes out of etcd, or of the cache",
)
_TIME: Column[GroupLine] = Column(
    "cost",
    "total",
    lambda row: long_milliseconds(row.cost) if row.cost else NOTHING,
    lambda row: row.cost,
    8,
    align="right",
    priority=0,
    descending=True,
    unit="ms",
    about="latency of all of them together",
)
_ASIDE: tuple[Column[GroupLine], ...] = (
    Column("bar", "", _share_bar, lambda row: row.share, _BAR, priority=7,
           about="share of the cost of all groups"),
    Column("later", "later", _later, lambda row: plain(_later(row)), 8, priority=2,
           about="where later versions would serve it from"),
    Column("verb", "verb", lambda row: row.group.verb, hidden=True,
           about="list, get or watch"),
    Column("resource", "resource", lambda row: row.group.resource, hidden=True,
           about="the resource"),
    Column("etcd", "~etcd B", lambda row: "~" + short_bytes(_etcd(row)), _etcd, 7, align="right",
           hidden=True, descending=True,
           about="estimated bytes read from etcd", unit="B"),
    Column("reason", "reason", lambda row: row.group.reason_id, hidden=True,
           about="id of the rule that decides"),
)  # fmt: skip


def groups(estimates: bool) -> tuple[Column[GroupLine], ...]:
    """Return the columns of the groups; with `estimates` their cost is in bytes, otherwise in ms."""
    return (*_ASKED, _BYTES if estimates else _TIME, *_ASIDE)
