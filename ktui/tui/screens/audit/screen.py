"""The audit of logs: read and ranked in a thread, then shown in one of four views."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from ktui.audit.report import Report
from ktui.audit.versions import settable
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, BehaviourError
from ktui.tui import keys
from ktui.tui.model.audit_lines import GroupLine
from ktui.tui.model.audit_reading import Reading, Wish
from ktui.tui.model.audit_versions import VersionLine
from ktui.tui.model.audit_view import behaviour_in, nothing_recognised, read_text, unknown_text
from ktui.tui.model.in_hand import InHand
from ktui.tui.model.state import State
from ktui.tui.screens.audit.group_view import GroupView
from ktui.tui.screens.audit.groups_view import GroupsView
from ktui.tui.screens.audit.header import header_line
from ktui.tui.screens.audit.rules import AuditRules
from ktui.tui.screens.audit.slow_view import SlowView
from ktui.tui.screens.audit.summary import problem_content, reading_content
from ktui.tui.screens.audit.versions_view import VersionsView
from ktui.tui.screens.base import ModeScreen
from ktui.tui.screens.text import TextScreen
from ktui.tui.source import Link
from ktui.tui.widgets.header import HeaderBar
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.vtable import VTable

# One is shown at a time: before there is a report, and with one.
WITHOUT, WITH = ("reading", "failed"), ("groups", "group", "versions", "slow")


class AuditScreen(ModeScreen):
    """The groups by cost; enter takes one apart, `v` and `t` show all versions and etcd's slow reads."""

    MODE: ClassVar[str] = "audit"
    CSS_PATH = "audit.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.DETAIL,
        Binding("v", "view('versions')", "versions", id="audit.versions", tooltip="all versions compared"),
        Binding("t", "view('slow')", "slow etcd", id="audit.slow", tooltip="what etcd found slow"),
        Binding("i", "what_was_read", "input", id="audit.read", tooltip="files, malformed lines, notes"),
        Binding("V", "rules", "rules", id="audit.rules", tooltip="choose the version and its gates"),
        Binding("less_than_sign", "older", "older", key_display="<", show=False, id="audit.older",
                tooltip="the rules of the version before"),
        Binding("greater_than_sign", "newer", "newer", key_display=">", show=False, id="audit.newer",
                tooltip="the rules of the version after"),
        Binding("x", "stop", "stop reading", id="audit.stop", tooltip="show what was read so far"),
        Binding("up,k", "step(-1)", "previous", show=False, id="audit.up", tooltip="the group before"),
        Binding("down,j", "step(1)", "next", show=False, id="audit.down", tooltip="the next group"),
        Binding("escape", "leave", "back", id="audit.leave", tooltip="back to the groups"),
    ]  # fmt: skip

    def __init__(self, reading: Reading, wish: Wish, *, over: bool = False) -> None:
        super().__init__()
        self.reading, self.wish = reading, wish
        self.over = over  # another screen, to which escape comes back
        self.report: Report | None = None
        self.shown = "reading"
        self.ranking = False

    def compose_body(self) -> ComposeResult:
        yield Panel(id="reading")
        yield Panel(id="failed")
        yield GroupsView(id="groups")
        yield GroupView(id="group")
        yield VersionsView(id="versions")
        yield SlowView(id="slow")

    @property
    def groups(self) -> GroupsView:
        return self.query_one(GroupsView)

    @property
    def versions(self) -> VersionsView:
        return self.query_one(VersionsView)

    @property
    def slow(self) -> SlowView:
        return self.query_one(SlowView)

    def active_table(self) -> VTable[Any] | None:
        if self.shown == "groups":
            return self.groups.table
        if self.shown == "versions":
            return self.versions.table
        return self.slow.table if self.shown == "slow" else None

    def object_in_hand(self) -> tuple[str, Any] | None:
        table = self.groups.table if self.shown == "group" else self.active_table()
        row = table.row if table is not None else None
        if isinstance(row, GroupLine):
            return f"group #{row.group.rank}", msgspec.to_builtins(row.group)
        if isinstance(row, VersionLine):
            return f"LISTs under {row.version}", msgspec.to_builtins(row.share)
        return ("slow in etcd", msgspec.to_builtins(row)) if row is not None else None

    def request_in_hand(self) -> InHand | None:
        """The group's example, for the dashboard's Versions screen."""
        group = self.groups.chosen if self.report is not None else None
        if group is None:
            return None
        in_hand = InHand(group.verb.upper(), group.example, "the audit")
        try:
            in_hand.read()
        except RequestError:
            return None
        return in_hand

    # Reading and ranking, in a thread.

    def on_mount(self) -> None:
        self.show_view("reading")
        self.read()
        super().on_mount()

    def on_unmount(self) -> None:
        self.reading.stop()

    @work(thread=True, group="audit")
    def read(self) -> None:
        """Read all, then rank."""
        try:
            self.reading.run()
        except OSError as error:
            what = f"{error.filename or 'the log'}: {error.strerror or error}"
            self.app.call_from_thread(self.fail, "this cannot be read", what)
            return
        self.app.call_from_thread(self.begin_ranking)
        self._rank(self.wish)

    @work(thread=True, group="audit")
    def rank(self, wish: Wish) -> None:
        """Rank what was read by other rules."""
        self._rank(wish)

    def _rank(self, wish: Wish) -> None:
        try:
            report = wish.report(self.reading.tally)
        except BehaviourError as error:
            self.app.call_from_thread(self.refuse, str(error))
        else:
            self.app.call_from_thread(self.show_report, wish, report)

    def begin_ranking(self) -> None:
        self.ranking = True
        self.paint()

    def refuse(self, problem: str) -> None:
        """These rules cannot be: what is shown stays."""
        self.ranking = False
        self.notify(problem, severity="error", markup=False)

    def fail(self, title: str, problem: str) -> None:
        """There is no report to show."""
        self.query_one("#failed", Panel).show(
            lambda width, height: problem_content(title, problem, width, height)
        )
        self.show_view("failed")

    def show_report(self, wish: Wish, report: Report) -> None:
        """A report has been made: of what was just read, or by other rules."""
        self.wish, self.report, self.ranking = wish, report, False
        if nothing_recognised(report):
            self.fail("nothing here is a log that ktui knows", unknown_text(report))
            return
        self.groups.show(report, self.reading.stopped)
        self.versions.show(report)
        self.slow.show(report)
        self.show_view("groups" if self.shown in WITHOUT else self.shown)

    # Views.

    def show_view(self, name: str) -> None:
        self.shown = name
        for each in (*WITHOUT, *WITH):
            self.set_class(each == name, f"-{each}")
        if name == "group":
            self._show_group()
        self.refresh_bindings()
        self.set_focus(self.active_table())
        self.paint()

    def _show_group(self) -> None:
        group, report = self.groups.chosen, self.report
        if group is not None and report is not None:
            self.query_one(GroupView).show(group, report)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        told = self.shown in WITH
        wanted = {
            "view": told,
            "rules": told,
            "older": told,
            "newer": told,
            "what_was_read": self.report is not None,
            "stop": self.shown == "reading" and not self.ranking,
            "leave": self.over or (told and self.shown != "groups"),
            "step": self.shown == "group",
            "panel": self.shown == "group",
        }
        return wanted[action] if action in wanted else super().check_action(action, parameters)

    def action_view(self, name: str) -> None:
        self.show_view("groups" if self.shown == name else name)

    def action_leave(self) -> None:
        if self.shown in WITH and self.shown != "groups":
            self.show_view("groups")
        elif self.over:
            self.app.pop_screen()

    def action_stop(self) -> None:
        self.reading.stop()

    def action_what_was_read(self) -> None:
        if self.report is not None:
            self.app.push_screen(TextScreen("what was read", read_text(self.report)))

    def action_step(self, step: int) -> None:
        self.groups.table.action_cursor(step)
        self._show_group()

    def action_panel(self, step: int) -> None:
        self.query_one(GroupView).turn(step)

    @on(VTable.Selected, "#ranked")
    def _open_group(self) -> None:
        self.show_view("group")

    @on(VTable.Selected, "#slow-ranges")
    def _open_cause(self, event: VTable.Selected) -> None:
        """The likeliest group."""
        if any(self.groups.put_cursor(rank) for rank in event.row.ranks[:1]):
            self.show_view("group")
        else:
            self.notify("no group in the table would cause such a read", markup=False)

    # Rules.

    def action_rules(self) -> None:
        if self.report is not None:
            self.app.push_screen(AuditRules(behaviour_in(self.report), self.report), self.follow)

    def follow(self, chosen: Behaviour | None) -> None:
        """Rank by rules that were chosen."""
        if chosen is not None:
            self.rank(replace(self.wish, kube_version=chosen.version, gates=chosen.changed_gates))

    def choose(self, version: str) -> None:
        """Rank by the rules of another version, with those of the gates that it lets be set."""
        self.rank(replace(self.wish, kube_version=version, gates=settable(version, self.wish.gates)))

    @on(VTable.Selected, "#every-version")
    def _choose_version(self, event: VTable.Selected) -> None:
        self.choose(event.row.version)

    def action_older(self) -> None:
        self._step_version(-1)

    def action_newer(self) -> None:
        self._step_version(1)

    def _step_version(self, step: int) -> None:
        if self.report is not None:
            place = KNOWN_VERSIONS.index(f"1.{behaviour_in(self.report).minor}") + step
            if 0 <= place < len(KNOWN_VERSIONS):
                self.choose(KNOWN_VERSIONS[place])

    # Painting: the views paint themselves when there is something new.

    def paint_frame(self, state: State, link: Link) -> None:
        names = [file.name for file in self.reading.tally.files]
        version, report = self.wish.kube_version, self.report
        stamp = (id(report), len(names), version)
        self.query_one(HeaderBar).show(lambda width, _: header_line(names, version, report, width), stamp)

    def paint_tables(self, state: State) -> None:
        if self.shown == "reading":
            progress, ranking = self.reading.progress(), self.ranking
            self.query_one("#reading", Panel).show(
                lambda width, height: reading_content(progress, ranking, width, height)
            )
