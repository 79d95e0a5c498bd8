"""Facts of an audit's report that its screens show; pure functions."""

from __future__ import annotations

import textwrap

from ktui.audit.predictions import BY_BYTES, VersionShare, assume_ready
from ktui.audit.report import GroupReport, Latency, Report, SlowReport
from ktui.core.format import integer, many
from ktui.core.rows import ERROR, Badge, badge_of_route
from ktui.kube.explain import Explanation, explain
from ktui.kube.versions import Behaviour, behaviour_of

_READABLE = 68  # cells of a line of text that a small terminal can show


def audit_badge(route: str) -> Badge:
    """Return the badge of a predicted route; "none" is a refused request."""
    return ERROR if route == "none" else badge_of_route(route)


def behaviour_in(report: Report) -> Behaviour:
    return behaviour_of(report.kube_version, report.feature_gates)


def every_share(report: Report) -> tuple[VersionShare, ...]:
    """Return the shares of all versions, oldest first."""
    return (*report.earlier, *report.versions)


def every_route(group: GroupReport) -> dict[str, str]:
    """Return the group's route by version, oldest first."""
    return {**group.earlier_routes, **group.routes}


def route_under(group: GroupReport, version: str) -> str:
    """Return `cache`, `etcd` or `none` (refused)."""
    return group.routes.get(version) or group.earlier_routes[version]


def by_bytes(report: Report) -> bool:
    """Return True if costs are estimated in bytes, from known counts and sizes of objects."""
    return report.ranked_by == BY_BYTES


def busy_ms(group: GroupReport) -> float:
    """Return the apiserver's time for all requests of a group (ms); of WATCHes until the initial events."""
    took = group.init_latency if group.verb == "watch" else group.latency
    return took.total if took is not None else 0.0


def p95(group: GroupReport) -> float:
    took = told_latency(group)
    return took.p95 if took is not None else 0.0


def told_latency(group: GroupReport) -> Latency | None:
    """Return the latency that tells the cost: of a WATCH only its initial events'; None if unknown."""
    return group.init_latency if group.verb == "watch" else group.latency


def explanation_of(group: GroupReport, report: Report) -> Explanation:
    """Return the rules' decision on the group's example under the chosen version."""
    request, state = assume_ready(group.example, progress=report.etcd_progress)
    return explain(request, state, behaviour_in(report))


def slow_reads_of(group: GroupReport, report: Report) -> list[SlowReport]:
    """Return etcd's slow requests that this group probably caused."""
    return [slow for slow in report.etcd if group.rank in slow.ranks]


def read_text(report: Report) -> str:
    """Return what was read and what was assumed, as a text."""
    lines = report.lines
    parts = [
        "files",
        *(f"  {file.name}: {many(file.lines, 'line')}" + _problem(file.problem) for file in report.files),
    ]
    parts += [f"  {count:>12,}  records inside: {carrier}" for carrier, count in report.carriers.items()]
    parts += ["", f"lines  {integer(lines.total)}"]
    parts += [
        f"  {count:>12,}  {what}"
        for count, what in (
            (lines.audit, "of an audit log"),
            (lines.httplog, "httplog lines of a kube-apiserver"),
            (lines.traces, "traces of a kube-apiserver"),
            *([(lines.doubles, "of these also in the audit log: counted there")] if lines.doubles else []),
            *([(lines.duplicates, "duplicates: counted once")] if lines.duplicates else []),
            (lines.etcd, "slow requests in etcd's log"),
            (lines.skipped, "skipped: understood, but not counted"),
            (lines.malformed, "malformed"),
        )
    ]
    if report.span is not None:
        parts += ["", f"span  {report.span.first}", f"   to {report.span.last}"]
    parts += ["", f"ranked by {report.ranked_by}"]
    parts += [f"sizes from {report.sizes_from}"] if report.sizes_from else []
    parts += ["", "notes", *(text for note in report.notes for text in _wrapped(note))]
    if report.malformed:
        parts += ["", "first malformed lines"]
        for bad in report.malformed:
            parts += [f"  {bad.file}:{bad.line}: {bad.why}", f"    {bad.text}"]
    return "\n".join(parts)


def _wrapped(note: str) -> list[str]:
    return textwrap.wrap(note, _READABLE, initial_indent="  · ", subsequent_indent="    ")


def _problem(problem: str) -> str:
    return f" — {problem}" if problem else ""


def nothing_recognised(report: Report) -> bool:
    """Return True if no line is about a request."""
    return not (report.lines.audit or report.lines.httplog or report.lines.etcd or report.lines.traces)


def unknown_text(report: Report) -> str:
    """Return why there is nothing to show, with examples, and which formats can be read."""
    rendered = [
        f"{integer(report.lines.total)} lines were read, {integer(report.lines.malformed)} of them malformed."
    ]
    rendered += [f"{bad.file}:{bad.line}: {bad.why}: {bad.text}" for bad in report.malformed[:3]]
    rendered += [f"{file.name}: {file.problem}" for file in report.files if file.problem]
    rendered += [
        "",
        "What can be read: kube-apiserver's audit log, also as EKS, AKS, GKE and log shippers hand it out, "
        "its ",
    ]
    rendered[-1] += "httplog lines (-v=3 and up), and etcd's JSON lines of slow requests; compressed or not."
    return "\n".join(rendered)
