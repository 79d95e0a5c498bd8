"""The top line and the summary of an audit, what was read, how far; and etcd's slow requests."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial

from textual import on
from textual.containers import Vertical
from textual.content import Content

from ktui.audit import phrases
from ktui.audit.report import Report, SlowReport
from ktui.core.format import (
    duration,
    integer,
    long_bytes,
    many,
    percent,
    short_bytes,
    short_count,
    short_milliseconds,
)
from ktui.core.table.columns import NOTHING, Column
from ktui.tui.audit.log_reading import Progress
from ktui.tui.charts.bars import TRACK, Part, bar, by_route, share_of, stacked
from ktui.tui.keys.hints import key_of
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.header import clickable
from ktui.tui.widgets.lines import between, entitle, figure, line, lines, parts_that_fit, wrap, wrapped
from ktui.tui.widgets.panel import Panel

# The columns of etcd's slow requests.
SLOW: tuple[Column[SlowReport], ...] = (
    Column("range", "range", phrases.slow_range, width=26, flex=3, most=64, priority=0,
           about="the keys that were read"),
    Column("line", "line", lambda row: (row.source, "$ink-muted"), width=5, priority=4,
           about="the line of etcd's log: `apply request took too long` or `request stats`"),
    figure("count", "count", lambda row: row.count, "reads that etcd logged as slow", width=6, priority=0,
           style=""),
    figure("p50", "p50 ms", lambda row: row.took.p50, "median of the time", width=7, priority=5, unit="ms",
           shown=short_milliseconds, loud=1000),
    figure("p95", "p95 ms", lambda row: row.took.p95, "95th percentile of the time", width=7, unit="ms",
           shown=short_milliseconds, loud=1000),
    figure("max", "max ms", lambda row: row.took.max, "the longest time", width=7, priority=3, unit="ms",
           shown=short_milliseconds, loud=1000),
    figure("failed", "failed", lambda row: row.failed, "reads that failed", width=6, priority=7,
           style="$route-error"),
    figure("keys", "max keys", lambda row: row.max_keys or 0, "most keys in one answer", width=8, priority=6,
           cell=lambda row: NOTHING if row.max_keys is None else short_count(row.max_keys)),
    figure("bytes", "max B", lambda row: row.max_bytes or 0, "largest answer", width=6, priority=2, unit="B",
           cell=lambda row: NOTHING if row.max_bytes is None else short_bytes(row.max_bytes)),
    Column("probably", "probable cause", lambda row: ("; ".join(row.probably), "$ink-muted"), width=20,
           flex=4, priority=8, about="requests of the audit log that read the same keys"),
)  # fmt: skip


class SlowView(Vertical):
    """etcd's slow requests, one row per kind of range; below, the probable causes of the selected one."""

    def __init__(self) -> None:
        empty = "no slow requests in the etcd logs"
        self.table = VTable(SLOW, key=lambda row: row, id="slow-ranges", classes="box", empty=empty)
        self._causes = Panel("probable cause", id="probably", classes="box")
        super().__init__(self.table, self._causes, id="slow")

    def show(self, report: Report) -> None:
        self.table.set_rows(report.etcd)
        title = f"slow in etcd · {integer(len(report.etcd))} key ranges" if report.etcd else "slow in etcd"
        entitle(self.table, line(title))
        self.paint()

    @on(VTable.Highlighted)
    def paint(self) -> None:
        row = self.table.row
        self._causes.show(partial(probably_content, row))


def probably_content(row: SlowReport | None, width: int, height: int) -> Content:
    """Return the probable causes, the likeliest first."""
    if row is None or not row.probably:
        none = "no request in the logs explains it"
        hint = "etcd logs requests that take longer than 100 ms; give its log with the others"
        return line((hint if row is None else none, "$ink-muted"))
    drawn: list[Content] = []
    for place, text in enumerate(row.probably, 1):
        first, *more = wrap(text, width - 3, hyphens=False)
        drawn.append(line((f"{place} ", "$accent"), (first, "$foreground")))
        drawn += [line("  ", (part, "$foreground")) for part in more]
    return lines(drawn[:height])


def header_line(
    names: Sequence[str], version: str, report: Report | None, width: int, view: str = ""
) -> Content:
    """Return the top line: `ktui › Audit · audit.log and 2 more › #1 · rules of kube 1.30`.

    At its end is the number of lines read. In a view, a click on the files leads back to the groups.
    """
    first = names[0].rpartition("/")[2] if names else "groups"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    files, step, dot = f"{first}{more}", (" › ", "$ink-faint"), (" · ", "$ink-faint")
    left = line(("ktui", "bold $accent"), step, ("Audit", "$foreground"))
    if view:
        back = clickable(line((files, "$accent")), "screen.leave")
        left = left + line(dot) + back + line(step, (view, "bold $ink-strong"))
    elif names:
        left = left + line(dot, (files, "bold $ink-strong"))
    left = left + line(dot, ("rules of kube ", "$ink-muted"), (version or "…", "$foreground"))
    text = "" if report is None else f"{many(report.lines.total, 'line')} read"
    return between(left, line((text, "$ink-muted")), width)


_LABEL = 11
_TELLING = 45  # cells next to a bar for its text
_WIDEST = 76


def summary_content(report: Report, partly: bool, width: int, height: int) -> Content:
    """Return the sentence first; what does not fit is in the dialog that `i` opens."""
    drawn = wrapped(report.summary, width, "bold $ink-strong")[:2]
    drawn += [line((text, "$foreground")) for text in report.live]
    drawn += [*_shares(report, width), _counted(report, width)]
    if report.traced is not None:
        drawn.append(line((phrases.traced(report.traced), "$ink-muted")))
    if report.observed is not None and report.observed.agree + report.observed.differ:
        drawn.append(line((phrases.observed(report.observed), "$ink-muted")))
    return lines([*drawn, *_warnings(report, partly)][:height])


def _shares(report: Report, width: int) -> list[Content]:
    now = report.versions[0]
    total = now.cache + now.etcd + now.refused
    if not total:
        return []
    drawn = [_share("LISTs", now.etcd / total, by_route(now.etcd, now.cache, now.refused), width)]
    etcd, cache = now.etcd_bytes, now.cache_bytes
    if etcd is not None and cache is not None and etcd + cache:
        of = f" of ~{long_bytes(etcd + cache)} (estimate)"
        drawn.append(_share("their bytes", etcd / (etcd + cache), by_route(etcd, cache), width, of))
    return drawn


def _share(label: str, etcd: float, parts: Sequence[Part], width: int, of: str = "") -> Content:
    text = f" {percent(etcd)}{of} from etcd"
    track = max(8, min(width, _WIDEST + _TELLING) - _LABEL - _TELLING - 2)
    return line((label.ljust(_LABEL + 1), "$ink-muted"), *stacked(parts, track), (text, "$foreground"))


def _counted(report: Report, width: int) -> Content:
    counts, requests = report.lines, report.requests
    over = f" over {duration(report.span.seconds)}" if report.span else ""
    bad = f", {integer(counts.malformed)} malformed" if counts.malformed else ""
    parts = [
        f"{many(counts.total, 'line')}{over}{bad}",
        *([f"{integer(counts.doubles)} in both logs"] if counts.doubles else []),
        f"{integer(requests.list)} LISTs",
        f"{integer(requests.watch)} WATCHes",
        f"{integer(requests.get)} GETs",
        f"{integer(counts.etcd)} slow in etcd",
        f"{integer(counts.skipped)} skipped",
    ]
    return parts_that_fit(parts, width)


def _warnings(report: Report, partly: bool) -> list[Content]:
    found = ["reading was stopped: this covers what was read until then"] if partly else []
    found += [f"{file.name}: {file.problem}" for file in report.files if file.problem]
    drawn = [line(("! ", "bold $warning"), text) for text in found]
    if report.malformed:
        drawn.append(line(("malformed, for example", "$ink-muted")))
    for bad in report.malformed:
        where = f"{bad.file.rpartition('/')[2]}:{bad.line} "
        why = (f"{bad.why}  ", "$foreground")
        drawn.append(line("  ", (where, "$ink-muted"), why, (bad.text, "$ink-faint")))
    return drawn


def reading_content(progress: Progress, making: bool, width: int, height: int) -> Content:
    """Return the progress of reading, in the middle of the screen."""
    room, share = min(width, _WIDEST), share_of(progress.taken, progress.total)
    title = line(("reading ", "bold $ink-strong"), (progress.name or "…", "$foreground"))
    if making:
        title, share = line(("ranking the requests", "bold $ink-strong")), 1.0
    of = f" of {long_bytes(progress.total)}" if progress.total else ""
    parts = [percent(min(1.0, progress.taken / progress.total))] if progress.total else []
    parts += [f"{long_bytes(progress.taken)}{of}", f"{long_bytes(progress.per_second)}/s"]
    parts += [f"{duration(progress.left)} left"] if progress.left is not None and not making else []
    done = bar(share, room)
    drawn = [
        title.truncate(room, ellipsis=True),
        line(""),
        line((done, "$primary"), (TRACK * (room - len(done)), "$ink-faint")),
        line((" · ".join(parts), "$ink-muted")),
        line(""),
        line(
            (integer(progress.lines), "$foreground"), (" lines   ", "$ink-muted"),
            (integer(progress.groups), "$foreground"), (" groups of requests   ", "$ink-muted"),
            (integer(progress.malformed), "$foreground"), (" malformed", "$ink-muted"),
        ).truncate(room, ellipsis=True),
        line(""),
        line((key_of("audit.stop"), "bold $accent"),
             (" stops and shows what was read so far   ", "$ink-muted"),
             (key_of("quit"), "bold $accent"), (" leaves", "$ink-muted")).truncate(room, ellipsis=True),
    ]  # fmt: skip
    return middle(drawn, room, width, height)


def problem_content(title: str, problem: str, width: int, height: int) -> Content:
    """Return why there is no report, and what to do."""
    room = min(width, _WIDEST)
    drawn = [line(("! ", "bold $route-error"), (title, "bold $ink-strong"))]
    drawn += [line(text) for part in problem.split("\n") for text in wrap(part, room)]
    return middle(drawn, room, width, height)


def middle(drawn: list[Content], room: int, width: int, height: int) -> Content:
    """Return the lines as a block in the middle of a panel."""
    above = max(0, (height - len(drawn)) // 2 - 1)
    left = " " * max(0, (width - room) // 2)
    return lines([*[line("")] * above, *(Content.assemble(left, text) for text in drawn)][:height])


_READABLE = 68  # cells of a line of text that a small terminal can show


def read_text(report: Report) -> str:
    """Return what was read and what was assumed, as a text."""
    lines, parts = report.lines, ["files"]
    for file in report.files:
        problem = f" — {file.problem}" if file.problem else ""
        parts.append(f"  {file.name}: {many(file.lines, 'line')}{problem}")
    parts += [f"  {count:>12,}  records inside: {carrier}" for carrier, count in report.carriers.items()]
    counts = {
        "of an audit log": lines.audit,
        "httplog lines of a kube-apiserver": lines.httplog,
        "traces of a kube-apiserver": lines.traces,
        **({"of these also in the audit log: counted there": lines.doubles} if lines.doubles else {}),
        **({"duplicates: counted once": lines.duplicates} if lines.duplicates else {}),
        "slow requests in etcd's log": lines.etcd,
        "skipped: understood, but not counted": lines.skipped,
        "malformed": lines.malformed,
    }
    parts += ["", f"lines  {integer(lines.total)}"]
    parts += [f"  {count:>12,}  {what}" for what, count in counts.items()]
    if report.span is not None:
        parts += ["", f"span  {report.span.first}", f"   to {report.span.last}"]
    parts += ["", f"ranked by {report.ranked_by}"]
    parts += [f"sizes from {report.sizes_from}"] if report.sizes_from else []
    parts += ["", "notes"]
    for note in report.notes:
        parts += textwrap.wrap(note, _READABLE, initial_indent="  · ", subsequent_indent="    ")
    parts += ["", "first malformed lines"] if report.malformed else []
    for bad in report.malformed:
        parts += [f"  {bad.file}:{bad.line}: {bad.why}", f"    {bad.text}"]
    return "\n".join(parts)


def nothing_recognised(report: Report) -> bool:
    """Return True if no line is about a request."""
    return not (report.lines.audit or report.lines.httplog or report.lines.etcd or report.lines.traces)


def unknown_text(report: Report) -> str:
    """Return why there is nothing to show, with examples, and which formats can be read."""
    total, malformed = integer(report.lines.total), integer(report.lines.malformed)
    rendered = [f"{total} lines were read, {malformed} of them malformed."]
    rendered += [f"{bad.file}:{bad.line}: {bad.why}: {bad.text}" for bad in report.malformed[:3]]
    rendered += [f"{file.name}: {file.problem}" for file in report.files if file.problem]
    rendered.append(
        "\nWhat can be read: kube-apiserver's audit log, also as EKS, AKS, GKE and log shippers hand it out, "
        "its httplog lines (-v=3 and up), and etcd's JSON lines of slow requests; compressed or not."
    )
    return "\n".join(rendered)
