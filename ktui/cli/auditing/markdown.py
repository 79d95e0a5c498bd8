"""An audit report as Markdown tables, for an issue or a wiki page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ktui.audit import phrases
from ktui.audit.report import GroupReport, Report
from ktui.cli.auditing.text import SLOW
from ktui.core.format import integer, long_bytes, markdown_row, markdown_text


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"**{report.summary}**"
    yield ""
    yield phrases.counted(report)
    broken = (file for file in report.files if file.problem)
    yield from (f"\n⚠ {markdown_text(file.name)}: {markdown_text(file.problem)}" for file in broken)
    if report.groups:
        yield f"\n### Most expensive groups under {report.kube_version}, by {report.ranked_by}\n"
        yield from _groups(report.groups)
    if others := phrases.others(report):
        yield f"\n{others}"
    yield from _advice(report.groups)
    if report.traced is not None:
        yield f"\n### Requests in traces\n\n{phrases.traced(report.traced)}\n"
    yield from _observed(report)
    if report.etcd:
        yield "\n### Slow in etcd\n"
        yield markdown_row(*(column.title for column in SLOW))
        yield markdown_row(*("-:" if column.right else "-" for column in SLOW))
        for slow in report.etcd:
            yield markdown_row(*(markdown_text(str(column.cell(slow))) for column in SLOW))
    if report.versions and any(v.cache + v.etcd + v.refused for v in report.versions):
        yield "\n### LISTs by version\n"
        yield from _versions(report)
    yield ""
    yield from (f"- {markdown_text(note)}" for note in report.notes)


def _groups(groups: Sequence[GroupReport]) -> Iterator[str]:
    yield markdown_row("#", "request", "parameters", "client", "count", "rate", "p50", "p99", "max", "errors",
                       "cost", "route", "later")  # fmt: skip
    yield markdown_row("-:", "-", "-", "-", "-:", "-:", "-:", "-:", "-:", "-", "-:", "-", "-")
    for g in groups:
        times = [phrases.percentile(g.latency, name) for name in ("p50", "p99", "max")]
        named = [phrases.what(g), phrases.how(g), phrases.who(g)]
        yield markdown_row(str(g.rank), *map(markdown_text, named), integer(g.count), phrases.rate(g), *times,
                   phrases.errors(g), phrases.estimated(g), phrases.routed(g), phrases.later(g))  # fmt: skip


def _advice(groups: Sequence[GroupReport]) -> Iterator[str]:
    advised = [group for group in groups if group.cheaper]
    if advised:
        yield "\n### Write instead\n"
    for group in advised:
        for cheaper in group.cheaper:
            path, why = markdown_text(cheaper.path), markdown_text(cheaper.why)
            yield f"- #{group.rank} {markdown_text(group.example)} → {path} ({cheaper.route}): {why}"


def _observed(report: Report) -> Iterator[str]:
    if report.observed is None:
        return
    yield f"\n### Slow requests, as measured\n\n{phrases.observed(report.observed)}\n"
    for group in report.groups:
        seen = group.observed
        if seen is not None and seen.differ:
            route = f"predicted {phrases.route(group)}, measured: {phrases.seen(seen)}"
            yield f"- #{group.rank} {markdown_text(group.example)}: {route}; {markdown_text(seen.cause)}"


def _versions(report: Report) -> Iterator[str]:
    yield markdown_row("version", "LISTs from etcd", "from the cache", "refused", "etcd reads (estimated)")
    yield markdown_row("-", "-:", "-:", "-:", "-:")
    for v in phrases.changing(report.versions):
        read = "" if v.etcd_bytes is None else long_bytes(v.etcd_bytes)
        shares = (phrases.share(part, v) for part in (v.etcd, v.cache, v.refused))
        yield markdown_row(v.version, *shares, read)
