"""Rows and columns of the audit's groups, and what a report says of a group."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.audit import phrases
from ktui.audit.predictions import BY_BYTES, assume_ready
from ktui.audit.report import UNKNOWN, GroupReport, Latency, Report
from ktui.core.format import long_milliseconds, milliseconds, short_bytes
from ktui.core.ranking.rank_lines import kind_runs
from ktui.core.request_view import selector_words, short_resource
from ktui.core.rows import ERROR, Badge, badge_of_route
from ktui.core.table.columns import NOTHING, Cell, Column, Run
from ktui.kube.explain import Explanation, explain
from ktui.kube.resources import BUILTIN
from ktui.kube.versions import Behaviour, behaviour_of
from ktui.tui.charts.bars import bar
from ktui.tui.widgets.lines import figure


def audit_badge(route: str) -> Badge:
    """Return the badge of a predicted route; "none" is a refused request."""
    return ERROR if route == "none" else badge_of_route(route)


def behaviour_in(report: Report) -> Behaviour:
    return behaviour_of(report.kube_version, report.feature_gates)


def every_route(group: GroupReport) -> dict[str, str]:
    """Return the group's route by version, oldest first."""
    return {**group.earlier_routes, **group.routes}


def by_bytes(report: Report) -> bool:
    """Return True if costs are estimated in bytes, from known counts and sizes of objects."""
    return report.ranked_by == BY_BYTES


def busy_ms(group: GroupReport) -> float:
    """Return the apiserver's time for all requests of a group (ms); of WATCHes until the initial events."""
    took = told_latency(group)
    return took.total if took is not None else 0.0


def told_latency(group: GroupReport) -> Latency | None:
    """Return the latency that tells the cost: of a WATCH only its initial events'; None if unknown."""
    return group.init_latency if group.verb == "watch" else group.latency


def explanation_of(group: GroupReport, report: Report) -> Explanation:
    """Return the rules' decision on the group's example under the chosen version."""
    request, state = assume_ready(group.example, progress=report.etcd_progress)
    return explain(request, state, behaviour_in(report))


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
    text = parameters(group)
    return kind_runs(group.verb, resource, group.subresource, group.scope, [text] if text else [])


def parameters(group: GroupReport) -> str:
    """Return `nodeName=… rv=0 limit=500`; a GET's unset resourceVersion is left out."""
    if group.resource_version == UNKNOWN:
        return "query not logged"
    unset = "" if group.verb == "get" or group.continued else "rv unset"
    words = [
        *map(selector_words, group.selectors),
        f"rv={group.resource_version}" if group.resource_version != "unset" else unset,
        f"match={group.match}" if group.match else "",
        f"limit={group.limit}" if group.limit else "",
        f"continue={group.continued.replace(' ', '-')}" if group.continued else "",
        f"sendInitial={str(group.initial_events).lower()}" if group.initial_events is not None else "",
    ]
    return " ".join(filter(None, words))


_BAR = 8


def _route_words(line: GroupLine) -> str:
    route = line.group.route
    return f"{audit_badge(route).letter} {'refused' if route == 'none' else route}"


def _max(line: GroupLine) -> float:
    took = told_latency(line.group)
    return took.max if took is not None else 0.0


def _etcd(line: GroupLine) -> float:
    return line.group.estimated.etcd_bytes if line.group.estimated is not None else 0.0


def _ms(line: GroupLine) -> Cell:
    took = told_latency(line.group)
    if took is None:
        return NOTHING
    return (milliseconds(took.p95), "bold $warning" if took.p95 >= 1000 else "$foreground")


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


_ASKED: tuple[Column[GroupLine], ...] = (
    Column("route", "", lambda row: audit_badge(row.group.route).run, _route_words, 1, priority=0,
           about="C cache, E etcd, ! refused, under the version chosen"),
    Column("rank", "#", lambda row: (str(row.group.rank), "$ink-muted"), lambda row: row.group.rank, 3,
           align="right", priority=6, about="rank by cost"),
    Column("client", "client", lambda row: row.group.client or "(no user agent)",
           lambda row: row.group.client, 12, flex=3, most=32, wish=18, priority=1, about="the User-Agent"),
    Column("account", "account", lambda row: (row.group.user, "$ink-muted"), width=16, flex=2, most=30,
           priority=4, about="the user of the audit log: empty for httplog lines, which have none"),
    Column("request", "request", lambda row: shape_runs(row.group), width=22, flex=5, wish=34, priority=0,
           about="requests of one shape; … replaces what differs"),
    figure("count", "count", lambda row: row.group.count, "requests in the log", width=6, style=""),
    figure("rate", "rate", lambda row: row.group.per_second or 0.0,
           "requests a second over the time of the log", width=8, priority=5,
           cell=lambda row: (phrases.rate(row.group), "$ink-muted")),
    figure("p95", "p95 ms", lambda row: took.p95 if (took := told_latency(row.group)) else 0.0,
           "95th percentile of the latency", width=6, priority=3, unit="ms", cell=_ms),
    figure("max", "max ms", _max, "the longest latency", width=7, priority=10, unit="ms",
           cell=lambda row: (milliseconds(_max(row)) if _max(row) else "·", "$ink-muted")),
    figure("errors", "err", lambda row: sum(row.group.errors.values()), "answers with status 400 and above",
           priority=8, style="$route-error"),
    figure("seats", "seats", lambda row: row.group.seats.mean if row.group.seats is not None else 0.0,
           "seats of API Priority and Fairness, on average", priority=6, style="", shown="{:.1f}".format),
)  # fmt: skip
_BYTES: Column[GroupLine] = figure(
    "cost", "~bytes", lambda row: row.cost, "estimated bytes out of etcd, or of the cache", width=7,
    priority=0, unit="B", cell=_estimated,
)  # fmt: skip
_TIME: Column[GroupLine] = figure(
    "cost", "total", lambda row: row.cost, "latency of all of them together", width=8, priority=0, unit="ms",
    shown=long_milliseconds, style="",
)  # fmt: skip
_ASIDE: tuple[Column[GroupLine], ...] = (
    Column("bar", "",
           lambda row: (bar(row.share, _BAR), audit_badge(row.group.route).style.removeprefix("bold ")),
           lambda row: row.share, _BAR, priority=7, about="share of the cost of all groups"),
    Column("later", "later", _later, priority=2, about="where later versions would serve it from"),
    Column("verb", "verb", lambda row: row.group.verb, hidden=True, about="list, get or watch"),
    Column("resource", "resource", lambda row: row.group.resource, hidden=True, about="the resource"),
    figure("etcd", "~etcd B", _etcd, "estimated bytes read from etcd", width=7, unit="B", hidden=True,
           cell=lambda row: "~" + short_bytes(_etcd(row))),
    Column("reason", "reason", lambda row: row.group.reason_id, hidden=True,
           about="id of the rule that decides"),
)  # fmt: skip


def groups(estimates: bool) -> tuple[Column[GroupLine], ...]:
    """Return the columns of the groups; with `estimates` their cost is in bytes, otherwise in ms."""
    return (*_ASKED, _BYTES if estimates else _TIME, *_ASIDE)
