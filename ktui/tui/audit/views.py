"""The audit's views of groups of requests: all of them, or one; and the choice of the rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ktui.audit.report import GroupReport, Report
from ktui.core.format import integer, percent
from ktui.kube.versions import Behaviour
from ktui.tui.audit.group_columns import (
    GroupLine,
    by_bytes,
    explanation_of,
    group_lines,
    groups,
)
from ktui.tui.audit.group_panels import (
    about_content,
    instead_content,
    latency_content,
    request_content,
    route_content,
    slow_content,
)
from ktui.tui.audit.summary import summary_content
from ktui.tui.audit.versions_view import MOST_ASKED, share_under
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel, show_one


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
        super().__init__(id="groups")
        self.report: Report | None = None
        empty = "no GET, LIST or WATCH of a stored resource in these lines"
        self.table: VTable[GroupLine] = VTable(
            (), key=lambda row: row.identity, id="ranked", classes="box", empty=empty
        )
        self._summary = Panel("audit", id="summary", classes="box")
        self._about = Panel("route", id="about", classes="box")

    def compose(self) -> ComposeResult:
        yield from (self._summary, self.table, self._about)

    @property
    def chosen(self) -> GroupReport | None:
        """The group under the cursor."""
        return self.table.row.group if self.table.row is not None else None

    def show(self, report: Report, partly: bool) -> None:
        """Show a report; `partly`: reading was stopped before the end of the logs."""
        self.report = report
        self.table.set_columns(groups(by_bytes(report)))
        self.table.set_rows(group_lines(report))
        title = f"{integer(len(report.groups))} groups by {report.ranked_by} · rules of {report.kube_version}"
        entitle(self.table, line(title))
        self._summary.show(partial(summary_content, report, partly))
        self.paint()

    @on(VTable.Highlighted)
    def paint(self) -> None:
        report, chosen = self.report, self.chosen
        if report is not None:
            self._about.show(partial(about_content, chosen, report), (id(report), id(chosen)))


# The panels with their short titles; in a small terminal one is shown at a time.
PANELS = {"route": "route", "latency": "latency", "instead": "instead", "slow-reads": "slow in etcd"}


class GroupView(Container):
    """The panels about one group: its route, latency, cheaper variants, and etcd's slow requests."""

    _panel = 0

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
        explained = explanation_of(group, report)
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

    def turn(self, step: int) -> None:
        """Show the next panel, where there is room for only one."""
        self._panel = (self._panel + step) % len(PANELS)
        show_one(self, PANELS, self._panel)
