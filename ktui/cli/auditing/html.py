"""An audit report as one self-contained HTML page: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ktui.audit import phrases
from ktui.audit.report import GroupReport, Latency, Observed, Report
from ktui.core.format import integer, long_bytes, long_milliseconds, percent
from ktui.printable import escaped

_COLOURS = {
    "etcd": "#d08700", "cache": "#2f9e5b", "none": "#d6336c", "queue": "#7048e8", "encode": "#1c7ed6",
    "client": "#868e96", "other": "#a0522d", "rest": "#ced4da",
}  # fmt: skip
_LEGEND = {
    "queue": "waiting for seats", "etcd": "etcd", "encode": "encoding", "client": "slow client",
    "other": "webhooks, authorization", "rest": "rest",
}  # fmt: skip
_STYLE = """
:root{color-scheme:light dark;--ink:#1d2733;--faint:#66788a;--line:#dde3ea;--back:#fff;--row:#f6f8fa}
@media(prefers-color-scheme:dark){
:root{--ink:#e6edf3;--faint:#8b9aa9;--line:#2b3642;--back:#10161d;--row:#161e27}}
body{font:14px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);margin:2rem auto;
max-width:80rem;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2.2rem}p.faint,td.faint{color:var(--faint)}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--faint);font-weight:600}tr:nth-child(even) td{background:var(--row)}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
code{font-size:.92em;word-break:break-all}
.bar{display:flex;height:.9rem;min-width:8rem;background:var(--line)}.bar span{display:block;height:100%}
.route{color:#fff;padding:0 .4rem;border-radius:.2rem;white-space:nowrap}.problem{color:#d6336c}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_page(report: Report) -> str:
    """Return the whole page. All text from logs is escaped."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>ktui audit</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{_text(report.summary)}</h1><p class=faint>{_text(phrases.counted(report))}</p>"
    for file in report.files:
        if file.problem:
            yield f"<p class=problem>{_text(file.name)}: {_text(file.problem)}</p>"
    yield from _versions(report)
    yield from _groups(report)
    yield from _observed(report)
    yield from _advice(report.groups)
    yield from _slow(report)
    yield "<h2>Notes</h2><ul>" + "".join(f"<li>{_text(note)}</li>" for note in report.notes) + "</ul>"
    yield "</body></html>"


def _text(untrusted: str) -> str:
    return escape(escaped(untrusted))


def _bar(parts: Iterable[tuple[str, float]], total: float) -> str:
    spans = [
        f'<span style="width:{100 * part / total:.2f}%;background:{_COLOURS[name]}"'
        f' title="{name} {percent(part / total)}"></span>'
        for name, part in parts
        if total and part > 0
    ]
    return f"<div class=bar>{''.join(spans)}</div>"


def _table(header: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """`header`: titles separated by bars, each with the class of its cells after a colon, if any."""
    columns = [title.partition(":") for title in header.split("|")]
    yield "<table><tr>" + "".join(f"<th>{title}</th>" for title, _, _ in columns) + "</tr>"
    starts = [f"<td class={kind}>" if kind else "<td>" for _, _, kind in columns]
    for row in rows:
        yield (
            "<tr>" + "".join(f"{start}{cell}</td>" for start, cell in zip(starts, row, strict=True)) + "</tr>"
        )
    yield "</table>"


def _versions(report: Report) -> Iterator[str]:
    rows = []
    for version in (*report.earlier, *report.versions):
        if total := version.cache + version.etcd + version.refused:
            name = f"<b>{version.version}</b>" if version.version == report.kube_version else version.version
            parts = (("etcd", version.etcd), ("cache", version.cache), ("none", version.refused))
            read = "" if version.etcd_bytes is None else f"~{long_bytes(version.etcd_bytes)}"
            rows.append((name, _bar(parts, total), percent(version.etcd / total), read))
    if rows:
        yield "<h2>Where your LISTs are served from, by Kubernetes version</h2>"
        yield from _table("version|etcd and cache|from etcd:n|read from etcd:n", rows)


def _groups(report: Report) -> Iterator[str]:
    if not report.groups:
        return
    yield f"<h2>Most expensive groups under {report.kube_version}, by {report.ranked_by}</h2>"
    most = max(map(_weight, report.groups)) or 1.0
    header = "#:n|request|client|count:n|rate:n|p99:n|latency|cost|route:faint"
    yield from _table(header, (_group(group, most) for group in report.groups))


def _group(g: GroupReport, most: float) -> list[str]:
    took = g.init_latency if g.verb == "watch" else g.latency
    colour = _COLOURS.get(g.route, "#66788a")
    later = f"<br>{_text(phrases.later(g))}" if phrases.later(g) else ""
    cost = phrases.estimated(g) or (long_milliseconds(took.total) if took else "")
    route = f'<span class=route style="background:{colour}">{_text(phrases.route(g))}</span>'
    named = f"{_text(phrases.what(g))}<br><code>{_text(phrases.how(g))}</code>"
    bar = _bar((("etcd" if g.route == "etcd" else "cache", _weight(g)),), most)
    return [
        str(g.rank), named, _text(phrases.who(g)), integer(g.count), phrases.rate(g),
        phrases.percentile(took, "p99"), _histogram(took), f"{cost}{bar}", f"{route}{later}",
    ]  # fmt: skip


def _weight(g: GroupReport) -> float:
    took = g.init_latency if g.verb == "watch" else g.latency
    return phrases.processed(g) if g.estimated is not None else took.total if took else 0.0


def _histogram(took: Latency | None) -> str:
    """Return an SVG histogram of requests by latency; each bucket is twice as wide as the previous one."""
    if took is None:
        return ""
    most, width = max(count for _, count in took.buckets), 6
    bars = [
        f'<rect x="{place * width}" y="{24 - 24 * count / most:.1f}" width="{width - 1}"'
        f' height="{24 * count / most:.1f}" fill="#1c7ed6"><title>below {long_milliseconds(below)}:'
        f" {integer(count)}</title></rect>"
        for place, (below, count) in enumerate(took.buckets)
    ]
    return f'<svg width="{len(took.buckets) * width}" height="24" role="img">{"".join(bars)}</svg>'


def _observed(report: Report) -> Iterator[str]:
    if report.observed is None:
        return
    yield "<h2>Requests of more than 500 ms, as the apiserver measured them</h2>"
    yield f"<p>{_text(phrases.observed(report.observed))}</p>"
    form = '<span class=route style="background:{}">{}</span> '
    legend = "".join(form.format(_COLOURS[name], label) for name, label in _LEGEND.items())
    yield f"<p>{legend}</p>{_bar(_parts(report.observed), report.observed.total)}"
    rows = []
    for group in report.groups:
        if (seen := group.observed) is not None:
            named = f"#{group.rank} {_text(phrases.what(group))}<br>{_text(phrases.who(group))}"
            texts = _text(phrases.seen(seen)), _text(seen.cause)
            rows.append((named, integer(seen.slow), _bar(_parts(seen), seen.total), *texts))
    yield from _table("group|slow:n|time|served from|likely cause of a difference:faint", rows)


def _parts(seen: Observed) -> list[tuple[str, float]]:
    return [
        ("queue", seen.queue), ("etcd", seen.etcd_time), ("encode", seen.encode), ("client", seen.write),
        ("other", seen.other), ("rest", seen.rest),
    ]  # fmt: skip


def _advice(groups: Sequence[GroupReport]) -> Iterator[str]:
    rows = []
    for group in groups:
        for cheaper in group.cheaper:
            better = f"<code>{_text(cheaper.path)}</code><br>{_text(cheaper.why)}"
            rows.append((f"#{group.rank} <code>{_text(group.example)}</code>", better, _text(cheaper.route)))
    if rows:
        yield "<h2>Write instead</h2>"
        yield from _table("request|cheaper variant|route", rows)


def _slow(report: Report) -> Iterator[str]:
    if report.etcd:
        yield "<h2>Slow in etcd</h2>"
        rows = []
        for slow in report.etcd:
            p95, probably = phrases.percentile(slow.took, "p95"), _text("; ".join(slow.probably))
            rows.append((_text(phrases.slow_range(slow)), integer(slow.count), p95, probably))
        yield from _table("range|count:n|p95:n|probably", rows)
