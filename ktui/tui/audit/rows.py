"""The rows of an audit's tables, and how a shape of requests reads in one line."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.audit import phrases
from ktui.audit.report import UNKNOWN, GroupReport, Report
from ktui.core.request_view import selector_words, short_resource
from ktui.core.table.columns import Run
from ktui.tui.audit.report_view import busy_ms, by_bytes


@dataclass(frozen=True, slots=True, eq=False)
class GroupLine:
    """A group and what it costs; `share` is of the most expensive group's."""

    group: GroupReport
    cost: float
    share: float

    @property
    def identity(self) -> tuple[str, ...]:
        """The same under whichever version."""
        group = self.group
        return group.client, group.user, group.verb, group.example


def group_lines(report: Report) -> list[GroupLine]:
    """One line a group, the most expensive first: by estimated bytes, or by time where no size is known."""
    cost = phrases.processed if by_bytes(report) else busy_ms
    costs = [cost(group) for group in report.groups]
    most = max(costs, default=0.0)
    return [
        GroupLine(group, value, value / most if most else 0.0)
        for group, value in zip(report.groups, costs, strict=True)
    ]


def shape_runs(group: GroupReport) -> list[Run]:
    """`LIST pods -n … ?nodeName=… rv=0` as styled runs; names and values differ from one to the next."""
    resource = short_resource(group.resource)
    runs: list[Run] = [(f"{group.verb.upper()} ", "$ink-muted"), (resource, "$foreground")]
    if group.subresource:
        runs.append((f"/{group.subresource}", "$foreground"))
    if group.scope != "all":
        runs.append((" -n …" if group.scope == "namespace" else " …", "$ink-muted"))
    if text := parameters(group):
        runs.append((f" ?{text}", "$ink-muted"))
    return runs


def parameters(group: GroupReport) -> str:
    """`nodeName=… rv=0 limit=500`; a GET's unset resourceVersion goes without saying."""
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
