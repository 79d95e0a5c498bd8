"""The rows of the groups' table, and the text of a kind of requests."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.audit import phrases
from ktui.audit.report import UNKNOWN, GroupReport, Report
from ktui.core.request_view import selector_words, short_resource
from ktui.core.table.columns import Run
from ktui.kube.resources import BUILTIN
from ktui.tui.audit.report_view import busy_ms, by_bytes

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
