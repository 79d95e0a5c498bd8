"""The words of an audit report, alike on the screen, in the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.audit.moves import VersionShare
from ktui.audit.report import GroupReport, Latency, Report, SlowReport

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(value: float) -> str:
    """Bytes with their unit: `812 B`, `4.1 MB`."""
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.95 else f"{value:.1f} {unit}"


def milliseconds(value: float) -> str:
    """Three telling digits with a unit: `0.04 ms`, `6.1 ms`, `1.2 s`, `5.0 min`."""
    if value >= 99_950:
        return f"{value / 60_000:,.1f} min"
    if value >= 999.5:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 9.95 else f"{value:.2g} ms"


def rate(per_second: float | None) -> str:
    """`12/s`, `3/min`, `0.5/h`, in the unit that gives a readable number."""
    if per_second is None:
        return ""
    for times, unit in ((1, "s"), (60, "min"), (3600, "h")):
        if per_second * times >= 0.95 or unit == "h":
            break
    value = per_second * times
    return f"{value:,.0f}/{unit}" if value >= 9.95 else f"{value:.1f}/{unit}"


def who(group: GroupReport) -> str:
    """`kubelet/v1.28.0 (system:node:*)`."""
    return f"{agent(group)} ({group.user})" if group.user else agent(group)


def agent(group: GroupReport) -> str:
    return group.client or "(no user agent)"


def what(group: GroupReport) -> str:
    """`LIST pods, one namespace`."""
    resource = f"{group.resource}/{group.subresource}" if group.subresource else group.resource
    where = {"all": "", "namespace": ", one namespace", "name": ""}[group.scope]
    return f"{group.verb.upper()} {resource}{where}"


def how(group: GroupReport) -> str:
    """The parameters: `rv=0 limit=500 spec.nodeName=…`; `rv unset` for none."""
    words = ["rv unset" if group.resource_version == "unset" else f"rv={group.resource_version}"]
    words += [group.match] if group.match else []
    words += [f"limit={group.limit}"] if group.limit else []
    words += [f"continued {group.continued}"] if group.continued else []
    if group.initial_events is not None:
        words.append(f"sendInitialEvents={'true' if group.initial_events else 'false'}")
    words += [f"{selector}…" if selector.endswith("=") else selector for selector in group.selectors]
    return " ".join(words)


def errors(group: GroupReport) -> str:
    """`429 ×12, 504 ×1`."""
    return ", ".join(f"{code} ×{count:,}" for code, count in group.errors.items())


def percentile(latency: Latency | None, name: str) -> str:
    return "" if latency is None else milliseconds(float(getattr(latency, name)))


def processed(group: GroupReport) -> float:
    """Estimated bytes that its requests take in hand: out of etcd, or looked at in the cache."""
    return group.estimated.processed_bytes if group.estimated is not None else 0.0


def estimated(group: GroupReport) -> str:
    """`~1.2 GB`; "" where nothing is known."""
    return f"~{size(processed(group))}" if group.estimated is not None else ""


def changes(group: GroupReport) -> list[tuple[str, str]]:
    """(route, version) of each change in the versions after the chosen one."""
    found, before = [], group.route
    for version, route in group.routes.items():
        if route != before:
            found.append((route, version))
            before = route
    return found


def later(group: GroupReport) -> str:
    """Where it goes in later versions, from the one in which that changes: `cache from 1.31`."""
    return ", ".join(f"{_route(route)} from {version}" for route, version in changes(group))


def _route(route: str) -> str:
    return "refused" if route == "none" else route


def routed(group: GroupReport) -> str:
    """`etcd (d.unset)`."""
    return f"{route(group)} ({group.reason_id})"


def route(group: GroupReport) -> str:
    """`cache`, `etcd`, `refused`."""
    return _route(group.route)


def slow_range(slow: SlowReport) -> str:
    """`pods, all, limit 500, later page, at a revision`."""
    parts = [slow.resource or slow.example or "(no key)"]
    parts += [{"all": "all", "namespace": "one namespace", "key": "one key", "": ""}[slow.scope]]
    parts += [slow.what if slow.what != "range" else ""]
    parts += [f"limit {slow.limit:,}" if slow.limit else "no limit" if slow.scope in _RANGES else ""]
    parts += ["later page" if slow.later_page else "", "at a revision" if slow.at_revision else ""]
    return ", ".join(part for part in parts if part)


_RANGES = ("all", "namespace")
_SOURCES = {"apply": "apply took too long", "stats": "request stats"}


def source(slow: SlowReport) -> str:
    return _SOURCES[slow.source]


def counted(report: Report) -> str:
    """One line about what was read."""
    lines, requests, span = report.lines, report.requests, report.span
    over = f" over {span_words(span.seconds)}" if span else ""
    both = f"; {lines.doubles:,} requests stand in both logs and count once" if lines.doubles else ""
    return (
        f"{lines.total:,} lines: {requests.list:,} LISTs, {requests.watch:,} WATCHes, {requests.get:,} GETs, "
        f"{lines.etcd:,} slow etcd requests{over}; {lines.skipped:,} others skipped, "
        f"{lines.malformed:,} malformed{both}"
    )


def span_words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} d"


def others(report: Report) -> str:
    """What the groups leave out, "" for nothing."""
    o = report.others
    if not o.groups_folded and not o.slow:
        return ""
    return (
        f"others: {o.groups_folded:,} small groups of {o.list:,} LISTs, {o.get:,} GETs and {o.watch:,} "
        f"WATCHes, and {o.slow:,} slow etcd requests"
    )


def changing(rows: Sequence[VersionShare]) -> list[VersionShare]:
    """The chosen version, and those of the later ones in which something changes."""
    kept: list[VersionShare] = []
    for row in rows:
        if not kept or _served(row) != _served(kept[-1]):
            kept.append(row)
    return kept


def _served(row: VersionShare) -> tuple[int, int, float | None]:
    return row.cache, row.etcd, row.etcd_bytes
