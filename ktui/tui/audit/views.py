"""The audit's views: progress, the reason for having no report, or one of the report's four views."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget

from ktui.audit.report import GroupReport, Report
from ktui.core.format import integer
from ktui.core.references import Crumb, Part, Place
from ktui.core.selection import Selection
from ktui.kube.routing.request import RequestError
from ktui.tui.audit.group_columns import GroupLine, group_lines, groups
from ktui.tui.audit.group_panels import (
    about_content,
    instead_content,
    latency_content,
    request_content,
    route_content,
    slow_content,
)
from ktui.tui.audit.ranker import Ranker
from ktui.tui.audit.report_view import by_bytes, explanation_of, slow_reads_of
from ktui.tui.audit.summary import SlowView, problem_content, reading_content, summary_content
from ktui.tui.audit.version_rows import VersionLine
from ktui.tui.audit.versions_view import VersionsView
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel, tabs_content


class GroupsView(Vertical):
    """The summary, the table of all groups by cost, and the route of the selected one."""

    report: Report | None = None

    def compose(self) -> ComposeResult:
        yield Panel("audit", id="summary", classes="box")
        yield VTable[GroupLine](
            (),
            key=lambda row: row.identity,
            id="ranked",
            classes="box",
            empty="no GET, LIST or WATCH of a stored resource in these lines",
        )
        yield Panel("route", id="about", classes="box")

    @property
    def table(self) -> VTable[GroupLine]:
        return self.query_one("#ranked", VTable)

    @property
    def chosen(self) -> GroupReport | None:
        """The group under the cursor."""
        return self.table.row.group if self.table.row is not None else None

    def selected_request(self) -> Selection | None:
        """Return the selected group's example; None if it is not a read."""
        group = self.chosen
        if group is None:
            return None
        selection = Selection(group.verb.upper(), group.example, "the audit")
        try:
            selection.read()
        except RequestError:
            return None
        return selection

    def show(self, report: Report, partly: bool) -> None:
        """Show a report; `partly`: reading was stopped before the end of the logs."""
        self.report = report
        self.table.set_columns(groups(by_bytes(report)))
        self.table.set_rows(group_lines(report))
        title = f"{integer(len(report.groups))} groups by {report.ranked_by} · rules of {report.kube_version}"
        entitle(self.table, line(title))
        self.query_one("#summary", Panel).show(
            lambda width, height: summary_content(report, partly, width, height)
        )
        self.paint()

    def put_cursor(self, rank: int) -> bool:
        """Move the cursor to the group of a rank. Return False if a filter hides it."""
        places = [place for place, row in enumerate(self.table.rows) if row.group.rank == rank]
        if places:
            self.table.move_to(places[0])
        return bool(places)

    @on(VTable.Highlighted)
    def paint(self) -> None:
        report, chosen = self.report, self.chosen
        if report is not None:
            self.query_one("#about", Panel).show(
                lambda width, height: about_content(chosen, report, width, height), (id(report), id(chosen))
            )


# The panels: title, and tab; in a small terminal one is shown at a time.
PANELS = {
    "route": ("route", "route"),
    "latency": ("latency and errors", "latency"),
    "instead": ("write instead", "instead"),
    "slow-reads": ("slow in etcd, probably caused by it", "slow in etcd"),
}


class GroupView(Container):
    """The panels about one group: its route, latency, cheaper variants, and etcd's slow requests."""

    _panel = 0

    def compose(self) -> ComposeResult:
        yield Panel("request", id="request", classes="box")
        yield Panel(id="tabs")
        with Container(id="detail"):
            yield Panel(PANELS["route"][0], id="route", classes="box")
            with Vertical(id="beside"):
                for name in ("latency", "instead", "slow-reads"):
                    yield Panel(PANELS[name][0], id=name, classes="box")

    def on_mount(self) -> None:
        self.turn(0)

    def show(self, group: GroupReport, report: Report) -> None:
        explained, slow = explanation_of(group, report), slow_reads_of(group, report)
        entitle(self.query_one("#request"), line(f"group #{group.rank} of {integer(len(report.groups))}"))
        entitle(self.query_one("#route"), line(f"route under {report.kube_version}"))
        builds: dict[str, Callable[[int, int], Content]] = {
            "request": lambda width, height: request_content(group, report, width, height),
            "route": lambda width, height: route_content(group, report, explained, width, height),
            "latency": lambda width, height: latency_content(group, width, height),
            "instead": lambda width, height: instead_content(group, width, height),
            "slow-reads": lambda width, height: slow_content(slow, bool(report.etcd), width, height),
        }
        for name, build in builds.items():
            self.query_one(f"#{name}", Panel).show(build)

    def turn(self, step: int) -> None:
        """Show the next panel, where there is room for only one."""
        self._panel = shown = (self._panel + step) % len(PANELS)
        for place, name in enumerate(PANELS):
            self.query_one(f"#{name}").set_class(place == shown, "-shown")
        self.query_one("#beside").set_class(shown > 0, "-shown")
        titles = [tab for _, tab in PANELS.values()]
        self.query_one("#tabs", Panel).show(lambda width, height: tabs_content(titles, shown, width))


WITHOUT, WITH = ("reading", "failed"), ("groups", "group", "versions", "slow")  # a report
_TITLES = {"versions": "all versions", "slow": "slow in etcd"}


class AuditViews:
    """The views by name, one of which is shown; the groups are a report's top."""

    def __init__(self, screen: ModeScreen) -> None:
        self.shown = "reading"
        self.reading, self.failed = Panel(id="reading"), Panel(id="failed")
        self.groups, self.group = GroupsView(id="groups"), GroupView(id="group")
        self.versions, self.slow = VersionsView(id="versions"), SlowView(id="slow")
        self._report: Report | None = None
        self._screen = screen

    def widgets(self) -> Iterator[Widget]:
        yield from (self.reading, self.failed, self.groups, self.group, self.versions, self.slow)

    @property
    def of_report(self) -> bool:
        """True while a view of a report is shown."""
        return self.shown in WITH

    @property
    def below_the_groups(self) -> bool:
        return self.shown in WITH[1:]

    @property
    def table(self) -> VTable[Any] | None:
        with_table: dict[str, GroupsView | VersionsView | SlowView] = {
            "groups": self.groups,
            "versions": self.versions,
            "slow": self.slow,
        }
        view = with_table.get(self.shown)
        return view.table if view is not None else None

    # Showing.

    def show(self, name: str) -> None:
        self.shown = name
        screen = self._screen
        for each in (*WITHOUT, *WITH):
            screen.set_class(each == name, f"-{each}")
        if name == "group":
            self._show_group()
        screen.refresh_bindings()
        screen.set_focus(self.table)
        screen.paint()
        screen.moved()

    def fail(self, title: str, problem: str) -> None:
        """Show why there is no report."""
        self.failed.show(lambda width, height: problem_content(title, problem, width, height))
        self.show("failed")

    def take(self, report: Report, *, partly: bool) -> None:
        """Show another report in the current view; `partly`: reading was stopped before the end."""
        self._report = report
        self.groups.show(report, partly)
        self.versions.show(report)
        self.slow.show(report)
        self.show(self.shown if self.of_report else WITH[0])

    def paint_progress(self, ranker: Ranker) -> None:
        """Update the progress of reading, while it is shown."""
        if self.shown == "reading":
            progress, making = ranker.reading.progress(), ranker.ranking
            self.reading.show(lambda width, height: reading_content(progress, making, width, height))

    # One group.

    def step(self, step: int) -> None:
        """Show the group `step` places on."""
        self.groups.table.action_cursor(step)
        self._show_group()

    def open_cause(self, ranks: Sequence[int]) -> bool:
        """Show the first of these groups. Return False if it is not in the table."""
        found = any(self.groups.put_cursor(rank) for rank in ranks[:1])
        if found:
            self.show("group")
        return found

    def _show_group(self) -> None:
        group = self.groups.chosen
        if group is not None and self._report is not None:
            self.group.show(group, self._report)

    # Places and selection.

    def crumbs(self, mode: str) -> Sequence[Crumb]:
        if not self.below_the_groups:
            return ()
        group = self.groups.chosen
        title = f"#{group.rank}" if self.shown == "group" and group is not None else self.shown
        return (Crumb(_TITLES.get(title, title), Place(mode, Part(self.shown))),)

    def selected_object(self) -> tuple[str, Any] | None:
        table = self.groups.table if self.shown == "group" else self.table
        row = table.row if table is not None else None
        if isinstance(row, GroupLine):
            return f"group #{row.group.rank}", msgspec.to_builtins(row.group)
        if isinstance(row, VersionLine):
            return f"LISTs under {row.version}", msgspec.to_builtins(row.share)
        return ("slow in etcd", msgspec.to_builtins(row)) if row is not None else None
