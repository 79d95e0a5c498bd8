"""The audit's views of groups of requests: all of them, or one with its panels; the effect of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar
from urllib.parse import unquote

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.audit import phrases
from ktui.audit.predictions import ELSEWHERE
from ktui.audit.report import GroupReport, Latency, Report, SlowReport
from ktui.contract.events import RouteStep
from ktui.core.format import integer, long_bytes, long_milliseconds, many, percent
from ktui.kube.explain import Explanation
from ktui.kube.routing import sentences
from ktui.kube.versions import Behaviour
from ktui.tui.audit import group_columns as columns
from ktui.tui.audit.group_columns import GroupLine, audit_badge, told_latency
from ktui.tui.audit.summary import summary_content
from ktui.tui.audit.versions_view import MOST_ASKED, share_under
from ktui.tui.charts.bars import TRACK, bar, share_of
from ktui.tui.requests.why import INDENT, badged_lines, headed_steps
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import broken, entitle, line, lines, longest_that_fits, parts_that_fit, wrapped
from ktui.tui.widgets.panel import OneShown, Panel

_WORDS = {"etcd": "etcd", "cache": "watch cache", "none": "refused"}


def request_content(group: GroupReport, report: Report, width: int, height: int) -> Content:
    verb = group.verb.upper()
    first, *more = broken(f"{verb} {group.example}", max(8, width), 2 if height > 3 else 1)
    drawn = [line((first[: len(verb)], "$ink-muted"), (first[len(verb) :], "bold $ink-strong"))]
    drawn += [line((text, "bold $ink-strong")) for text in more]
    rate = f" · {phrases.rate(group)}" if group.per_second is not None else ""
    client = line((group.client or "(no user agent)", "$foreground"))
    count = line((f"  {many(group.count, 'request')}", "$foreground"), (rate, "$ink-muted"))
    user = line((f" as {group.user}" if group.user else "", "$foreground"))
    drawn += [longest_that_fits([client + user + count, client + count], width), _costs(group, report, width)]
    if busy := columns.busy_ms(group):
        text = f"{long_milliseconds(busy)} of the apiserver's time in all (count × latency)"
        drawn.append(line((text, "$ink-muted")))
    return lines(drawn[:height])


def _costs(group: GroupReport, report: Report, width: int) -> Content:
    estimated = group.estimated
    if estimated is None:
        why = "object counts and sizes unknown: --sizes FILE or --attach URL"
        why = f"{report.sizes_from} holds no {group.resource}" if report.sizes_from else why
        return line((f"cost not estimated ({why})", "$ink-muted"))
    costs = [
        (estimated.etcd_bytes, estimated.etcd_bytes_each, "read from etcd"),
        (estimated.touched_bytes, estimated.touched_bytes_each, "scanned"),
    ]
    parts = [f"~{long_bytes(size)} {what} (~{long_bytes(each)} each)" for size, each, what in costs]
    parts = [*parts[0 if estimated.etcd_bytes else 1 :], "estimated from counts and sizes"]
    return parts_that_fit(parts, width, "$foreground")


def route_content(
    group: GroupReport, report: Report, explained: Explanation, width: int, height: int
) -> Content:
    """Return the route, that of every version, and the decision trace under the chosen version."""
    if group.route == ELSEWHERE:
        return lines(_verdict(group, width, height))
    above = [*_verdict(group, width, 3), _seats(group, explained, width), line("")]
    above += [*strip_lines(group, report.kube_version, width), line("")]
    if height < 14:
        above = [part for part in above if part.plain]
    steps = sentences.trace(explained.plan, RouteStep)
    return lines([*above, *headed_steps(steps, width, max(1, height - len(above)))][:height])


def _verdict(group: GroupReport, width: int, most: int) -> list[Content]:
    """Return `E etcd: because …`, wrapped into at most `most` lines."""
    word = _WORDS.get(group.route, group.route)
    return badged_lines(audit_badge(group.route), word, group.reason, width, most)


def _seats(group: GroupReport, explained: Explanation, width: int) -> Content:
    least, most = explained.seats.min, explained.seats.max
    parts = [f"seats {least} to {most}" if least != most else f"{least} seat{'' if least == 1 else 's'}"]
    if group.seats is not None:
        parts[0] += f" (logged: {group.seats.mean:.1f} on average, {group.seats.max} at most)"
    plan = explained.plan
    if plan.limit_honoured is not None:
        parts.append("limit honoured" if plan.limit_honoured else "limit ignored")
    if plan.consistency:
        parts.append(plan.consistency.replace("_", " "))
    if group.etcd_ops:
        parts.append(f"etcd: {', '.join(op.replace('_', ' ') for op in group.etcd_ops)}")
    return parts_that_fit(parts, width, indent=" " * INDENT)


def strip_lines(group: GroupReport, chosen: str, width: int) -> list[Content]:
    """Return each version above the badge of its route, as many as fit around the chosen one."""
    routes = list(columns.every_route(group).items())
    most = max(1, (width - 4) // 3)
    if len(routes) > most:
        here = next(place for place, (version, _) in enumerate(routes) if version == chosen)
        first = max(0, min(here - most // 2, len(routes) - most))
        routes = routes[first : first + most]
    names: list[tuple[str, str]] = [("  1.", "$ink-faint")]
    badges: list[tuple[str, str]] = [("    ", "")]
    for version, route in routes:
        badge = audit_badge(route)
        style = "bold $ink-strong underline" if version == chosen else "$ink-muted"
        names += [(version.partition(".")[2].rjust(2), style), (" ", "")]
        badges += [(f" {badge.letter}", badge.style), (" ", "")]
    return [line(*names), line(*badges)]


def latency_content(group: GroupReport, width: int, height: int) -> Content:
    """Return the group's latency: a bar for each power of two with the percentiles in it; then its errors."""
    took = told_latency(group)
    errors = _errors(group)
    watch = group.verb == "watch"
    if took is None:
        why = "the log has no time until the initial events" if watch else "no request was finished"
        return lines([line((why, "$ink-muted")), *errors][:height])
    head = [line(("until the initial events were sent", "$ink-muted"))] if watch else []
    total = line(
        ("p50 ", "$ink-muted"), long_milliseconds(took.p50), ("  p95 ", "$ink-muted"),
        (long_milliseconds(took.p95), "bold $ink-strong"), ("  p99 ", "$ink-muted"),
        long_milliseconds(took.p99), ("  max ", "$ink-muted"), long_milliseconds(took.max),
    )  # fmt: skip
    room = height - len(head) - len(errors) - 1
    return lines([*head, total, *_histogram(took, width, room), *errors][:height])


def _histogram(took: Latency, width: int, height: int) -> list[Content]:
    buckets = list(took.buckets)
    if height < 1:
        return []
    while len(buckets) > height:  # join pairs from the slow end, so that the highest bound stays
        buckets = [
            (pair[-1][0], sum(count for _, count in pair))
            for pair in reversed([buckets[max(0, end - 2) : end] for end in range(len(buckets), 0, -2)])
        ]
    counts = [count for _, count in buckets]
    number = max(len(integer(count)) for count in counts)
    track = max(4, min(48, width - number - 26))
    drawn, below = [], 0.0
    for bound, count in buckets:
        marks = [name for name in ("p50", "p95", "p99") if below <= getattr(took, name) < bound]
        filled = bar(share_of(count, max(counts)), track) if count else ""
        drawn.append(line(
            (f"< {long_milliseconds(bound)}".rjust(10) + " ", "$ink-muted"),
            (filled, "$rv-tick"), (TRACK * (track - len(filled)), "$line"),
            (f" {integer(count).rjust(number)}", "$foreground" if count else "$ink-faint"),
            ("  " + " ".join(marks), "$accent"),
        ))  # fmt: skip
        below = bound
    return drawn


def _errors(group: GroupReport) -> list[Content]:
    if not group.errors:
        return [line(("no errors", "$ink-muted"))]
    runs: list[tuple[str, str]] = [("errors  ", "$ink-muted")]
    for code, count in sorted(group.errors.items(), key=lambda item: -item[1]):
        often = f" ×{integer(count)} ({percent(count / group.count)})  "
        runs += [(code, "bold $route-error"), (often, "$foreground")]
    return [line(*runs)]


def instead_content(group: GroupReport, width: int, height: int) -> Content:
    """Return the warnings, then the cheaper variants with their routes."""
    drawn: list[Content] = []
    for warning in group.warnings:
        drawn += wrapped(warning, width, "", indent="  ", first=("! ", "bold $warning"))
    for cheaper in group.cheaper:
        badge = audit_badge(cheaper.route)
        path = broken(unquote(cheaper.path), max(8, width - INDENT), 3)
        drawn += [
            line((f"{badge.letter} " if at == 0 else "  ", badge.style), (text, "bold $ink-strong"))
            for at, text in enumerate(path)
        ]
        drawn += wrapped(cheaper.why, width, "$ink-muted", indent="  ")
    none = "no cheaper variant of this request is known"
    if group.route == ELSEWHERE:
        none = "another server's rules are not known"
    return lines((drawn or [line((none, "$ink-muted"))])[:height])


def slow_content(slow: Sequence[SlowReport], known: bool, width: int, height: int) -> Content:
    if not slow:
        why = "none of etcd's slow reads has this range" if known else "the files hold no log of etcd"
        return line((why, "$ink-muted"))
    drawn: list[Content] = []
    for read in slow:
        most = [many(read.max_keys, "key")] if read.max_keys is not None else []
        most += [long_bytes(read.max_bytes)] if read.max_bytes is not None else []
        took = f"p95 {long_milliseconds(read.took.p95)}, max {long_milliseconds(read.took.max)}"
        parts = [took, phrases.source(read), *([f"at most {', '.join(most)}"] if most else [])]
        count = (f"×{integer(read.count)} ", "bold $route-etcd")
        drawn.append(line(count, (phrases.slow_range(read), "$foreground")))
        drawn.append(parts_that_fit(parts, width, indent=" " * INDENT))
    return lines(drawn[:height])


def about_content(group: GroupReport | None, report: Report, width: int, height: int) -> Content:
    """Return the selected group's route and first cheaper variant, in few lines."""
    if group is None:
        return line(("no group", "$ink-muted"))
    drawn = _verdict(group, width, 2 if height > 3 else 1)
    if height > 4 and group.route != ELSEWHERE:
        drawn += strip_lines(group, report.kube_version, width)
    for cheaper in group.cheaper[:1]:
        drawn.append(line("  ", ("instead  ", "bold $success"), (unquote(cheaper.path), "$foreground")))
        drawn.append(line("           ", (cheaper.why, "$ink-muted")))
    return lines(drawn[:height])


def effect_content(report: Report, behaviour: Behaviour) -> Content:
    """Return which share of the LISTs read these rules would serve from etcd."""
    etcd, total = share_under(report, behaviour)
    if not total:
        return line(("no LIST of a stored resource was read", "$ink-muted"))
    now = report.versions[0]
    before = now.etcd / max(1, now.etcd + now.cache + now.refused)
    few = behaviour.changed_gates and len(report.groups) > MOST_ASKED
    of = f"of the LISTs of the {MOST_ASKED} most expensive groups" if few else "of your LISTs"
    present = f" · now, under {report.kube_version}: {percent(before)}"
    share = (percent(etcd / total), "bold $route-etcd")
    return line(share, (f" {of} from etcd", "$foreground"), (present, "$ink-muted"))


class GroupsView(Vertical):
    """The summary, the table of all groups by cost, and the route of the selected one."""

    def __init__(self) -> None:
        self.report: Report | None = None
        empty = "no GET, LIST or WATCH of a stored resource in these lines"
        self.table: VTable[GroupLine] = VTable(
            (), key=lambda row: row.identity, id="ranked", classes="box", empty=empty
        )
        self._summary = Panel("audit", id="summary", classes="box")
        self._about = Panel("route", id="about", classes="box")
        super().__init__(self._summary, self.table, self._about, id="groups")

    @property
    def chosen(self) -> GroupReport | None:
        """The group under the cursor."""
        return self.table.row.group if self.table.row is not None else None

    def show(self, report: Report, partly: bool) -> None:
        """Show a report; `partly`: reading was stopped before the end of the logs."""
        self.report = report
        self.table.set_columns(columns.groups(columns.by_bytes(report)))
        self.table.set_rows(columns.group_lines(report))
        title = f"{integer(len(report.groups))} groups by {report.ranked_by} · rules of {report.kube_version}"
        entitle(self.table, line(title))
        self._summary.show(partial(summary_content, report, partly))
        self.paint()

    @on(VTable.Highlighted)
    def paint(self) -> None:
        report, chosen = self.report, self.chosen
        if report is not None:
            self._about.show(partial(about_content, chosen, report), (id(report), id(chosen)))


class GroupView(Container, OneShown):
    """The panels about one group: its route, latency, cheaper variants, and etcd's slow requests."""

    PANELS: ClassVar[Mapping[str, str]] = {
        "route": "route",
        "latency": "latency",
        "instead": "instead",
        "slow-reads": "slow in etcd",
    }

    def compose(self) -> ComposeResult:
        yield Panel("request", id="request", classes="box")
        yield Panel(id="tabs")
        with Container(id="detail"):
            yield Panel("route", id="route", classes="box")
            with Vertical(id="beside"):
                yield Panel("latency and errors", id="latency", classes="box")
                yield Panel("write instead", id="instead", classes="box")
                yield Panel("slow in etcd, probably caused by it", id="slow-reads", classes="box")

    def on_mount(self) -> None:
        self.turn(0)

    def show(self, group: GroupReport, report: Report) -> None:
        explained = columns.explanation_of(group, report)
        slow = [each for each in report.etcd if group.rank in each.ranks]  # that it probably caused
        entitle(self.query_one("#request"), line(f"group #{group.rank} of {integer(len(report.groups))}"))
        entitle(self.query_one("#route"), line(f"route under {report.kube_version}"))
        builds: dict[str, Callable[[int, int], Content]] = {
            "request": partial(request_content, group, report),
            "route": partial(route_content, group, report, explained),
            "latency": partial(latency_content, group),
            "instead": partial(instead_content, group),
            "slow-reads": partial(slow_content, slow, bool(report.etcd)),
        }
        for name, build in builds.items():
            self.query_one(f"#{name}", Panel).show(build)
