"""An audit report as text (the summary, the groups by cost, cheaper variants), as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ktui.audit import phrases
from ktui.audit.predictions import VersionShare
from ktui.audit.report import GroupReport, Report, SlowReport
from ktui.cli.printing import Printer, ReportColumn, number
from ktui.core.format import integer, long_bytes, markdown_row, markdown_text
from ktui.core.table.export import csv_cell
from ktui.printable import escaped

Row = TypeVar("Row", GroupReport, SlowReport, VersionShare)
_STYLES = {"etcd": "yellow", "cache": "green", "none": "red"}
_ADVISED = 5
_ROOMY = 100  # cells


_GROUPS = (
    number("#", lambda g: str(g.rank)),
    ReportColumn("request", phrases.what),
    ReportColumn("parameters", phrases.how, narrowest=70, whole=16),
    ReportColumn("client", lambda g: [part for part in (phrases.agent(g), g.user) if part], whole=19),
    number("count", lambda g: integer(g.count)),
    number("rate", phrases.rate, narrowest=130),
    number("p50", lambda g: phrases.percentile(g.latency, "p50"), narrowest=150),
    number("p99", lambda g: phrases.percentile(g.latency, "p99"), narrowest=100),
    number("max", lambda g: phrases.percentile(g.latency, "max"), narrowest=170),
    number("seats", lambda g: f"{g.seats.mean:.1f}" if g.seats else "", narrowest=150),
    ReportColumn("errors", phrases.errors, narrowest=130),
    number("cost", phrases.estimated),
    ReportColumn("route", phrases.route, whole=5),
    ReportColumn("rule", lambda g: g.reason_id, narrowest=170),
    ReportColumn("later", phrases.later, narrowest=120, whole=15),
)
_SLOW = (
    ReportColumn("range", phrases.slow_range),
    ReportColumn("line", phrases.source, narrowest=100),
    number("count", lambda s: integer(s.count)),
    number("p95", lambda s: phrases.percentile(s.took, "p95")),
    number("max", lambda s: phrases.percentile(s.took, "max"), narrowest=90),
    number("max keys", lambda s: "" if s.max_keys is None else integer(s.max_keys)),
    number("max size", lambda s: "" if s.max_bytes is None else long_bytes(s.max_bytes)),
    ReportColumn("probably", lambda s: "; ".join(s.probably), narrowest=80),
)
_VERSIONS = (
    ReportColumn("version", lambda v: v.version),
    number("LISTs from etcd", lambda v: phrases.share(v.etcd, v)),
    number("from the cache", lambda v: phrases.share(v.cache, v)),
    number("refused", lambda v: phrases.share(v.refused, v) if v.refused else ""),
    number("etcd reads", lambda v: "" if v.etcd_bytes is None else f"~{long_bytes(v.etcd_bytes)}"),
)


def print_report(report: Report, console: Console | None = None) -> None:
    console = console or Printer(highlight=False)
    console.print(Text.assemble((report.summary, "bold"), (f" ({escaped(phrases.sizes(report))})", "dim")))
    console.print(Text(phrases.counted(report), "dim"))
    for file in report.files:
        if file.problem:
            console.print(Text(f"! {escaped(file.name)}: {file.problem}", "red"))
    title = f"most expensive groups under {report.kube_version}, by {report.ranked_by}"
    _section(console, title, report.groups)
    if report.groups:
        console.print(_table(_GROUPS, report.groups, console.width))
        if (more := report.groups_total - len(report.groups)) > 0:
            console.print(Text(f"  and {integer(more)} more: --top N", "dim"))
    if others := phrases.others(report):
        console.print(Text(f"  {others}", "dim"))
    _advice(console, report.groups)
    _traced(console, report)
    _observed(console, report)
    _section(console, "slow in etcd", report.etcd)
    if report.etcd:
        console.print(_table(_SLOW, report.etcd, console.width))
    if any(row.cache + row.etcd + row.refused for row in report.versions):
        _section(console, "your LISTs under this version and later ones", report.versions)
        console.print(_table(_VERSIONS, phrases.changing(report.versions), console.width))
    _section(console, f"first of {integer(report.lines.malformed)} malformed lines", report.malformed)
    for bad in report.malformed:
        console.print(Text(f"  {escaped(bad.file)}:{bad.line}: {escaped(bad.why)}"))
        console.print(_indented(Text(escaped(bad.text), "dim", overflow="fold"), 4))
    console.print()
    for note in report.notes:
        console.print(_indented(Text(f"· {escaped(note)}", "dim"), 2))


def _indented(text: Text, by: int) -> Padding:
    return Padding(text, (0, 0, 0, by), expand=False)


def _section(console: Console, title: str, rows: Sequence[object]) -> None:
    if rows:
        console.print()
        console.print(Text(title, "bold"))


def _table(columns: Iterable[ReportColumn], rows: Sequence[Row], width: int) -> Table:
    """Return a table of the columns that fit the width and are not empty in every row."""
    shown = [c for c in columns if width >= c.narrowest and any(c.cell(row) for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column in shown:
        longest = max((len(text) for row in rows for text in _texts(column, row)), default=0)
        least = min(column.whole, longest) if width >= _ROOMY else None
        side: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(column.title, justify=side, no_wrap=column.right, min_width=least)
    for row in rows:
        route = _STYLES.get(row.route, "") if isinstance(row, GroupReport) else ""
        texts = ("\n".join(map(escaped, _texts(column, row))) for column in shown)
        styles = (route if column.title == "route" else "" for column in shown)
        table.add_row(
            *(Text(text, style, overflow="fold") for text, style in zip(texts, styles, strict=True))
        )
    return table


def _texts(column: ReportColumn, row: Row) -> Sequence[str]:
    text = column.cell(row)
    return (text,) if isinstance(text, str) else text


def _advice(console: Console, groups: Sequence[GroupReport]) -> None:
    """Print cheaper variants and warnings for the most expensive shapes; equal shapes are one entry."""
    shapes: dict[tuple[str, str], list[GroupReport]] = {}
    for group in groups:
        if group.cheaper or group.warnings:
            shapes.setdefault((phrases.what(group), phrases.how(group)), []).append(group)
    advised = list(shapes.values())[:_ADVISED]
    _section(console, "write instead", advised)
    for alike in advised:
        first = alike[0]
        ranks = ", ".join(f"#{group.rank}" for group in alike)
        console.print(Text(f"  {ranks}  {escaped(first.example)}", overflow="fold"))
        for cheaper in first.cheaper:
            route = f"{cheaper.route:<5}  ", _STYLES.get(cheaper.route, "")
            console.print(_indented(Text.assemble(route, escaped(cheaper.path)), 5))
            console.print(_indented(Text(escaped(cheaper.why), "dim"), 12))
        for warning in first.warnings:
            console.print(_indented(Text(f"! {escaped(warning)}", "red"), 5))


def _traced(console: Console, report: Report) -> None:
    """Print where traced requests were served from, first of the groups whose prediction differs."""
    if report.traced is None:
        return
    console.print()
    console.print(Text(phrases.traced(report.traced), "bold", overflow="fold"))
    traced = [(group, group.traced) for group in report.groups if group.traced is not None]
    for group, told in sorted(traced, key=lambda each: -each[1].differ)[:_ADVISED]:
        predicted = group.routes.get(report.kube_version, "")
        other = f", predicted {predicted}" if told.differ else ""
        text = f"  #{group.rank}  {group.route or 'unknown'}{other}: {phrases.traced_group(told)}"
        console.print(Text(escaped(text), "yellow" if told.differ else "dim", overflow="fold"))


def _observed(console: Console, report: Report) -> None:
    """Print where slow requests were served from, and the groups whose route differs from the prediction."""
    if report.observed is None:
        return
    console.print()
    console.print(Text(phrases.observed(report.observed), "bold", overflow="fold"))
    differing = [group for group in report.groups if group.observed and group.observed.differ]
    for group in differing[:_ADVISED]:
        seen = group.observed
        if seen is not None:
            route = f"predicted {phrases.route(group)}, measured: {phrases.seen(seen)}"
            console.print(Text(f"  #{group.rank}  {route}", "yellow", overflow="fold"))
            console.print(_indented(Text(seen.cause, "dim"), 5))


HEADER = (
    "rank", "client", "user", "verb", "resource", "subresource", "scope", "parameters", "count", "per_second",
    "p50_ms", "p95_ms", "p99_ms", "max_ms", "total_ms", "errors", "seats_mean", "route", "reason_id", "later",
    "etcd_bytes", "processed_bytes", "slow", "observed_cache", "observed_etcd", "agree", "differ", "cause",
    "cheaper", "example",
)  # fmt: skip


def csv_table(report: Report) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(
        [csv_cell(round(value, 3) if isinstance(value, float) else value) for value in _row(group)]
        for group in report.groups
    )
    return out.getvalue()


def _row(g: GroupReport) -> list[object]:
    took = g.init_latency if g.verb == "watch" else g.latency
    times = (took.p50, took.p95, took.p99, took.max, took.total) if took else (None,) * 5
    seen = g.observed
    return [
        g.rank, g.client, g.user, g.verb, g.resource, g.subresource, g.scope, phrases.how(g), g.count,
        g.per_second, *times, phrases.errors(g), g.seats.mean if g.seats else None, g.route,
        g.reason_id, phrases.later(g), *((g.estimated.etcd_bytes, g.estimated.processed_bytes) if g.estimated
        else (None, None)),
        *((seen.slow, seen.cache, seen.etcd, seen.agree, seen.differ, seen.cause) if seen else (None,) * 6),
        g.cheaper[0].path if g.cheaper else None, g.example,
    ]  # fmt: skip


def markdown(report: Report) -> str:
    """Return the report as Markdown tables, for an issue or a wiki page."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: Report) -> Iterator[str]:
    yield f"**{report.summary}**"
    yield ""
    yield phrases.counted(report)
    broken = (file for file in report.files if file.problem)
    yield from (f"\n⚠ {markdown_text(file.name)}: {markdown_text(file.problem)}" for file in broken)
    if report.groups:
        yield f"\n### Most expensive groups under {report.kube_version}, by {report.ranked_by}\n"
        yield from _markdown_groups(report.groups)
    if others := phrases.others(report):
        yield f"\n{others}"
    yield from _markdown_advice(report.groups)
    if report.traced is not None:
        yield f"\n### Requests in traces\n\n{phrases.traced(report.traced)}\n"
    yield from _markdown_observed(report)
    if report.etcd:
        yield "\n### Slow in etcd\n"
        yield markdown_row(*(column.title for column in _SLOW))
        yield markdown_row(*("-:" if column.right else "-" for column in _SLOW))
        for slow in report.etcd:
            yield markdown_row(*(markdown_text(str(column.cell(slow))) for column in _SLOW))
    if report.versions and any(v.cache + v.etcd + v.refused for v in report.versions):
        yield "\n### LISTs by version\n"
        yield from _markdown_versions(report)
    yield ""
    yield from (f"- {markdown_text(note)}" for note in report.notes)


def _markdown_groups(groups: Sequence[GroupReport]) -> Iterator[str]:
    yield markdown_row("#", "request", "parameters", "client", "count", "rate", "p50", "p99", "max", "errors",
                       "cost", "route", "later")  # fmt: skip
    yield markdown_row("-:", "-", "-", "-", "-:", "-:", "-:", "-:", "-:", "-", "-:", "-", "-")
    for g in groups:
        times = [phrases.percentile(g.latency, name) for name in ("p50", "p99", "max")]
        named = [phrases.what(g), phrases.how(g), phrases.who(g)]
        yield markdown_row(str(g.rank), *map(markdown_text, named), integer(g.count), phrases.rate(g), *times,
                   phrases.errors(g), phrases.estimated(g), phrases.routed(g), phrases.later(g))  # fmt: skip


def _markdown_advice(groups: Sequence[GroupReport]) -> Iterator[str]:
    advised = [group for group in groups if group.cheaper]
    if advised:
        yield "\n### Write instead\n"
    for group in advised:
        for cheaper in group.cheaper:
            path, why = markdown_text(cheaper.path), markdown_text(cheaper.why)
            yield f"- #{group.rank} {markdown_text(group.example)} → {path} ({cheaper.route}): {why}"


def _markdown_observed(report: Report) -> Iterator[str]:
    if report.observed is None:
        return
    yield f"\n### Slow requests, as measured\n\n{phrases.observed(report.observed)}\n"
    for group in report.groups:
        seen = group.observed
        if seen is not None and seen.differ:
            route = f"predicted {phrases.route(group)}, measured: {phrases.seen(seen)}"
            yield f"- #{group.rank} {markdown_text(group.example)}: {route}; {markdown_text(seen.cause)}"


def _markdown_versions(report: Report) -> Iterator[str]:
    yield markdown_row("version", "LISTs from etcd", "from the cache", "refused", "etcd reads (estimated)")
    yield markdown_row("-", "-:", "-:", "-:", "-:")
    for v in phrases.changing(report.versions):
        read = "" if v.etcd_bytes is None else long_bytes(v.etcd_bytes)
        shares = (phrases.share(part, v) for part in (v.etcd, v.cache, v.refused))
        yield markdown_row(v.version, *shares, read)
