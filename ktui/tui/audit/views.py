"""The audit's views: progress, the reason for having no report, or one of the report's four views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from textual.widget import Widget

from ktui.audit.report import Report
from ktui.core.references import Crumb, Part, Place
from ktui.tui.audit.group_view import GroupView
from ktui.tui.audit.groups_view import GroupsView
from ktui.tui.audit.ranker import Ranker
from ktui.tui.audit.rows import GroupLine
from ktui.tui.audit.slow_view import SlowView
from ktui.tui.audit.summary import problem_content, reading_content
from ktui.tui.audit.version_rows import VersionLine
from ktui.tui.audit.versions_view import VersionsView
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.panel import Panel

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
