"""The texts of an audit report, for screens, terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.audit.predictions import VersionShare
from ktui.audit.report import UNKNOWN, GroupReport, Latency, Observed, Report, SlowReport, TracedReport
from ktui.core.format import duration, frequency, integer, long_bytes, long_milliseconds, many, percent


def rate(group: GroupReport) -> str:
    """Return the frequency, `3.0/min`; "" if the period of the log is unknown."""
    return "" if group.per_second is None else frequency(group.per_second)


def who(group: GroupReport) -> str:
    """Return user agent and account: `kubelet/v1.28.0 (system:node:*)`."""
    return f"{agent(group)} ({group.user})" if group.user else agent(group)


def agent(group: GroupReport) -> str:
    return group.client or "(no user agent)"


def what(group: GroupReport) -> str:
    """Return verb, resource and scope: `LIST pods, one namespace`."""
    resource = f"{group.resource}/{group.subresource}" if group.subresource else group.resource
    where = {"all": "", "namespace": ", one namespace", "name": ""}[group.scope]
    return f"{group.verb.upper()} {resource}{where}"


def how(group: GroupReport) -> str:
    """Return the parameters: `rv=0 limit=500 spec.nodeName=…`; `rv unset` without any."""
    if group.resource_version == UNKNOWN:
        return "query not logged"
    words = ["rv unset" if group.resource_version == "unset" else f"rv={group.resource_version}"]
    words += [group.match] if group.match else []
    words += [f"limit={group.limit}"] if group.limit else []
    words += [f"continued {group.continued}"] if group.continued else []
    if group.initial_events is not None:
        words.append(f"sendInitialEvents={'true' if group.initial_events else 'false'}")
    words += [f"{selector}…" if selector.endswith("=") else selector for selector in group.selectors]
    return " ".join(words)


def errors(group: GroupReport) -> str:
    """Return the error statuses: `429 ×12, 504 ×1`."""
    return ", ".join(f"{code} ×{integer(count)}" for code, count in group.errors.items())


def percentile(latency: Latency | None, name: str) -> str:
    return "" if latency is None else long_milliseconds(float(getattr(latency, name)))


def processed(group: GroupReport) -> float:
    """Return the estimated bytes that a group processes: read from etcd, or tested in the cache."""
    return group.estimated.processed_bytes if group.estimated is not None else 0.0


def estimated(group: GroupReport) -> str:
    """Return the estimated bytes processed: `~1.2 GB`; "" if unknown."""
    return f"~{long_bytes(processed(group))}" if group.estimated is not None else ""


def changes(group: GroupReport) -> list[tuple[str, str]]:
    """Return (route, version) for each change of route after the selected version."""
    found, before = [], group.route
    for version, route in group.routes.items():
        if route != before:
            found.append((route, version))
            before = route
    return found


def later(group: GroupReport) -> str:
    """Return the changes of route in later versions: `cache from 1.31`."""
    return ", ".join(f"{_REFUSED.get(route, route)} from {version}" for route, version in changes(group))


_REFUSED = {"none": "refused"}


def routed(group: GroupReport) -> str:
    """Return route and reason: `etcd (d.unset)`."""
    return f"{route(group)} ({group.reason_id})" if group.reason_id != UNKNOWN else route(group)


def route(group: GroupReport) -> str:
    """Return `cache`, `etcd`, `cache or etcd`, `another server`, or `refused`."""
    return _REFUSED.get(group.route, group.route)


def slow_range(slow: SlowReport) -> str:
    """Describe a slow range: `pods, all, limit 500, later page, at a revision`."""
    parts = (
        slow.resource or slow.example or "(no key)",
        {"all": "all", "namespace": "one namespace", "key": "one key", "": ""}[slow.scope],
        slow.what if slow.what != "range" else "",
        f"limit {integer(slow.limit)}"
        if slow.limit
        else "no limit"
        if slow.scope in ("all", "namespace")
        else "",
        "later page" if slow.later_page else "",
        "at a revision" if slow.at_revision else "",
    )
    return ", ".join(filter(None, parts))


def source(slow: SlowReport) -> str:
    return {"apply": "apply took too long", "stats": "request stats"}[slow.source]


def sizes(report: Report) -> str:
    """Return the source of the counts and sizes of objects."""
    if report.sizes_from:
        return f"sizes of objects from {report.sizes_from}"
    return "sizes of objects not known: --sizes FILE or --attach URL gives them"


def counted(report: Report) -> str:
    """Return one line about what was read."""
    lines, requests, span = report.lines, report.requests, report.span
    over = f" over {duration(span.seconds)}" if span else ""
    both = f"; {many(lines.doubles, 'request')} in both logs, counted once" if lines.doubles else ""
    again = f"; {integer(lines.duplicates)} duplicates count once" if lines.duplicates else ""
    return (
        f"{many(lines.total, 'line')}: {integer(requests.list)} LISTs, {integer(requests.watch)} WATCHes, "
        f"{integer(requests.get)} GETs, {integer(lines.etcd)} slow etcd requests{over}; "
        f"{integer(lines.skipped)} others skipped, {integer(lines.malformed)} malformed{both}{again}"
    )


def others(report: Report) -> str:
    """Return what the groups leave out; "" if nothing."""
    o = report.others
    if not o.groups_folded and not o.slow:
        return ""
    return (
        f"others: {integer(o.groups_folded)} small groups of {integer(o.list)} LISTs, "
        f"{integer(o.get)} GETs and {integer(o.watch)} WATCHes, and {integer(o.slow)} slow etcd requests"
    )


def changing(rows: Sequence[VersionShare]) -> list[VersionShare]:
    """Return the rows of the selected version and of later versions in which something changes."""
    kept: list[VersionShare] = []
    for row in rows:
        if not kept or _served(row) != _served(kept[-1]):
            kept.append(row)
    return kept


def share(part: int, row: VersionShare) -> str:
    """Return a share of the LISTs whose route is known under a version."""
    total = row.cache + row.etcd + row.refused
    return percent(part / total) if total else "not known"


def _served(row: VersionShare) -> tuple[int, int, float | None]:
    return row.cache, row.etcd, row.etcd_bytes


def seen(of: Observed) -> str:
    """Return the sources of slow requests: `3 etcd (1 a fallback), 1 cache`."""
    late = f" ({integer(of.fallback)} a fallback)" if of.fallback else ""
    sources = ((f"etcd{late}", of.etcd), ("cache", of.cache), ("unclear", of.unclear))
    return ", ".join(f"{integer(count)} {source}" for source, count in sources if count)


def traced(of: TracedReport) -> str:
    """Return one line about all requests that traces describe."""
    late = f" ({many(of.fallback, 'fallback')})" if of.fallback else ""
    sources = (
        ("the cache", of.cache), (f"etcd{late}", of.etcd), ("neither", of.none), ("unknown", of.untold),
    )  # fmt: skip
    routes = ", ".join(f"{integer(count)} {source}" for source, count in sources if count)
    agree = f"; {integer(of.agree)} as predicted, {integer(of.differ)} not" if of.agree or of.differ else ""
    probes = f"; {many(of.probes, 'revision probe')}" if of.probes else ""
    return f"{many(of.count, 'request')} observed in traces, served from: {routes}{agree}{probes}"


def traced_group(of: TracedReport) -> str:
    """Return the routes, objects and stages of a group's traced requests."""
    parts = []
    if of.scanned and of.returned is not None:
        parts.append(f"{integer(of.scanned)} scanned → {integer(of.returned)} returned")
    longest = sorted(of.stages.items(), key=lambda each: -each[1])[:3]
    parts += [f"{stage} {long_milliseconds(ms / of.count)}" for stage, ms in longest]
    return "; ".join(parts)


def observed(of: Observed) -> str:
    """Return one line about all slow requests."""
    measured = of.etcd + of.cache + of.unclear
    parts = (
        ("queue", of.queue), ("etcd", of.etcd_time), ("encoding", of.encode), ("slow client", of.write),
        ("other", of.other), ("rest", of.rest),
    )  # fmt: skip
    time = ", ".join(f"{percent(part / of.total)} {name}" for name, part in parts if of.total and part > 0)
    routes = f" served from: {seen(of)};" if measured else ""
    agree = f" {integer(of.agree)} as predicted, {integer(of.differ)} not;" if of.agree or of.differ else ""
    return f"{many(of.slow, 'request')} of more than 500 ms:{routes}{agree} time: {time}"
