"""The audit screen: logs are read and ranked in a thread, then shown in four views."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from textual import on, work
from textual.app import ComposeResult

from ktui.audit.build import Wish
from ktui.audit.reading.files import open_logs
from ktui.audit.report import Report
from ktui.audit.server_version import settable
from ktui.audit.tally import Tally
from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.prediction.assumptions import server_behaviour
from ktui.core.prediction.sizes import ResourceSize, sizes_in_etcd
from ktui.core.references import Crumb, Part, Place, Reference, Selection
from ktui.core.state import State
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, BehaviourError
from ktui.tui.audit import summary
from ktui.tui.audit.group_columns import GroupLine, behaviour_in
from ktui.tui.audit.log_reading import LiveReading, Reading
from ktui.tui.audit.versions_view import VersionLine, VersionsView
from ktui.tui.audit.views import GroupsView, GroupView, effect_content
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.rules import RulesScreen
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.source import Link
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.header import HeaderBar
from ktui.tui.widgets.panel import Panel

_AGAIN = 2.0  # seconds between two rankings of logs that are followed


WITHOUT, WITH = ("reading", "failed"), ("groups", "group", "versions", "slow")  # a report
_TITLES = {"versions": "all versions", "slow": "slow in etcd"}


class AuditScreen(ModeScreen, mode="audit"):
    """The groups by cost; enter opens one, `v` and `t` show all versions and etcd's slow requests."""

    def __init__(self, reading: Reading, wish: Wish, *, over: bool = False) -> None:
        super().__init__()
        self.over = over  # whether escape returns to another screen
        self.shown = "reading"  # the view
        self.report: Report | None = None  # the last one, by the rules of `wish`
        self._logs, self._wish = reading, wish
        self._ranking = False  # everything is read, and a report is being made
        self.reading, self.failed = Panel(id="reading"), Panel(id="failed")
        self.groups, self.group = GroupsView(), GroupView(id="group")
        self.versions, self.slow = VersionsView(), summary.SlowView()

    def compose_body(self) -> ComposeResult:
        yield from (self.reading, self.failed, self.groups, self.group, self.versions, self.slow)

    def on_mount(self) -> None:
        self._show_view("reading")
        self._read()
        if self._logs.live:
            self.set_interval(_AGAIN, self._rank_again)
        super().on_mount()

    def on_unmount(self) -> None:
        self._logs.stop()

    # Reading and ranking, in a thread.

    @work(thread=True, group="audit")
    def _read(self) -> None:
        call = self.app.call_from_thread
        try:
            self._logs.run()
        except OSError as error:
            what = f"{error.filename or 'the log'}: {error.strerror or error}"
            call(self._fail, "this cannot be read", what)
            return
        call(self._begin)
        self._make_report(self._wish)

    @work(thread=True, group="audit")
    def _rank(self, wish: Wish) -> None:
        """Rank what was read by other rules."""
        self._make_report(wish)

    def _rank_again(self) -> None:
        """Rank the lines that have come since, in logs that are followed."""
        logs = self._logs
        if isinstance(logs, LiveReading) and logs.ready and not self._ranking and not logs.stopped:
            self._ranking = True
            self._rank(self._wish)

    def _make_report(self, wish: Wish) -> None:
        call = self.app.call_from_thread
        try:
            report = self._logs.report(wish)
        except BehaviourError as error:  # these rules are invalid: the last report stays
            call(self._refuse, str(error))
        else:
            call(self._show_report, wish, report)

    def _begin(self) -> None:
        self._ranking = True
        self.paint()

    def _refuse(self, why: str) -> None:
        self._ranking = False
        self.notify(why, severity="error")

    # Views.

    @property
    def below_the_groups(self) -> bool:
        return self.shown in WITH[1:]

    def active_table(self) -> VTable[Any] | None:
        tables: dict[str, VTable[Any]] = {
            "groups": self.groups.table, "versions": self.versions.table, "slow": self.slow.table,
        }  # fmt: skip
        return tables.get(self.shown)

    def _show_view(self, name: str) -> None:
        self.shown = name
        for each in (*WITHOUT, *WITH):
            self.set_class(each == name, f"-{each}")
        if name == "group":
            self._show_group()
        self.refresh_bindings()
        self.set_focus(self.active_table())
        self.paint()
        self.moved()

    def _show_group(self) -> None:
        group, report = self.groups.chosen, self.report
        if group is not None and report is not None:
            self.group.show(group, report)

    def _show_report(self, wish: Wish, report: Report) -> None:
        """Show a report of newly read lines, or by other rules."""
        self._wish, self.report, self._ranking = wish, report, False
        reading = self._logs
        if not summary.nothing_recognised(report):
            self.groups.show(report, partly=reading.stopped)
            self.versions.show(report)
            self.slow.show(report)
            self._show_view(self.shown if self.shown in WITH else WITH[0])
        elif not reading.live or reading.stopped:  # else no line about a request has come yet
            self._fail("no file here is a log that ktui can read", summary.unknown_text(report))

    def _fail(self, title: str, problem: str) -> None:
        self.failed.show(partial(summary.problem_content, title, problem))
        self._show_view("failed")

    # Places and selection.

    def crumbs(self) -> Sequence[Crumb]:
        if not self.below_the_groups:
            return ()
        group = self.groups.chosen
        title = f"#{group.rank}" if self.shown == "group" and group is not None else self.shown
        return (Crumb(_TITLES.get(title, title), Place(self.MODE, Part(self.shown))),)

    def visit(self, reference: Reference | None) -> None:
        """Show a view; None is the groups."""
        if self.shown in WITH:
            self._show_view(reference.name if isinstance(reference, Part) else "groups")

    def selected_request(self) -> Selection | None:
        """Return the group's example, for the dashboard's Versions screen; None if it is not a read."""
        group = self.groups.chosen
        if group is None:
            return None
        selection = Selection(group.verb.upper(), group.example, "the audit")
        try:
            selection.read()
        except RequestError:
            return None
        return selection

    def selected_object(self) -> tuple[str, Any] | None:
        table = self.groups.table if self.shown == "group" else self.active_table()
        row = table.row if table is not None else None
        if isinstance(row, GroupLine):
            return f"group #{row.group.rank}", msgspec.to_builtins(row.group)
        if isinstance(row, VersionLine):
            return f"LISTs under {row.version}", msgspec.to_builtins(row.share)
        return ("slow in etcd", msgspec.to_builtins(row)) if row is not None else None

    # Keys.

    def action_choose_rules(self) -> None:
        def follow(chosen: Behaviour) -> None:
            self._rank(replace(self._wish, kube_version=chosen.version, gates=chosen.changed_gates))

        if (report := self.report) is not None:
            effect, title = partial(effect_content, report), "route by the rules of"
            RulesScreen(behaviour_in(report), "", effect, title, "chooses").ask(self.app, follow)

    def choose_version(self, version: str) -> None:
        """Rank by the rules of another version, with those of the set gates that it has."""
        wish = self._wish
        self._rank(replace(wish, kube_version=version, gates=settable(version, wish.gates)))

    def action_step_version(self, step: int) -> None:
        """Rank by the version `step` places on, if there is one."""
        if (report := self.report) is not None:
            place = KNOWN_VERSIONS.index(f"1.{behaviour_in(report).minor}") + step
            if 0 <= place < len(KNOWN_VERSIONS):
                self.choose_version(KNOWN_VERSIONS[place])

    def action_stop(self) -> None:
        """Stop reading, and rank what was read."""
        self._logs.stop()

    def action_show_input(self) -> None:
        if self.report is not None:
            self.app.push_screen(TextScreen("input", summary.read_text(self.report)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("filter", "sort", "sort_turn", "export") and self.active_table() is None:
            return False
        wanted = {
            "stop": self.shown == "reading" and not self._ranking,
            "show_input": self.report is not None,
            **dict.fromkeys(("view", "choose_rules", "step_version"), self.shown in WITH),
            "leave": self.over or self.below_the_groups,
            **dict.fromkeys(("step", "panel"), self.shown == "group"),
        }
        return wanted[action] if action in wanted else super().check_action(action, parameters)

    def action_view(self, name: str) -> None:
        """Show a view, or if it is shown already the groups."""
        self._show_view("groups" if self.shown == name else name)

    def action_leave(self) -> None:
        if self.below_the_groups:
            self._show_view("groups")
        elif self.over:
            self.app.pop_screen()

    def action_step(self, step: int) -> None:
        """Show the group `step` places on."""
        self.groups.table.action_cursor(step)
        self._show_group()
        self.paint_frame(self.ktui.state, self.ktui.link)

    def action_panel(self, step: int) -> None:
        self.group.turn(step)

    @on(VTable.Selected, "#ranked")
    def _group_selected(self) -> None:
        self._show_view("group")

    @on(VTable.Selected, "#slow-ranges")
    def _slow_selected(self, event: VTable.Selected) -> None:
        """Show the group that most probably caused the reads, unless a filter hides it."""
        table, causes = self.groups.table, event.row.ranks[:1]
        if places := [place for place, row in enumerate(table.rows) if row.group.rank in causes]:
            table.move_to(places[0])
            self._show_view("group")
        else:
            self.notify("no group in the table would cause such a read")

    @on(VTable.Selected, "#every-version")
    def _version_selected(self, event: VTable.Selected) -> None:
        self.choose_version(event.row.version)

    # Painting: a view paints itself when its data changes.

    def paint_frame(self, state: State, link: Link) -> None:
        names, report = [file.name for file in self._logs.tally.files], self.report
        version = report.kube_version if report is not None else self._wish.kube_version
        view = "".join(crumb.text for crumb in self.crumbs())
        stamp = (id(report), len(names), version, view)
        self.query_one(HeaderBar).show(
            lambda width, _: summary.header_line(names, version, report, width, view), stamp
        )

    def paint_tables(self, state: State) -> None:
        if self.shown == "reading":
            self.reading.show(partial(summary.reading_content, self._logs.progress(), self._ranking))


def open_audit(app: Dashboard, text: str) -> str:
    """Open the audit of the named files. Return an error, "" if there is none."""
    try:
        names = [str(Path(name).expanduser()) for name in shlex.split(text)]
    except ValueError:
        return "a quote is still open"
    if not names:
        return "of which log? audit FILE…"
    missing = next((name for name in names if not Path(name).exists()), None)
    if missing is not None:
        return f"there is no file {missing}"
    app.run_worker(_open(app, names), group="audit")
    return ""


async def _open(app: Dashboard, names: list[str]) -> None:
    sizes, sizes_from = await _sizes(app)
    rules = server_behaviour(app.state)
    wish = Wish(rules.version, rules.changed_gates, sizes, sizes_from)
    reading = Reading(partial(open_logs, names), Tally(datetime.now(UTC)))
    await app.push_screen(AuditScreen(reading, wish, over=True))


async def _sizes(app: Dashboard) -> tuple[dict[str, ResourceSize], str]:
    """Return sizes by resource, and their source; ({}, "") without them: costs are not estimated."""
    if app.client is None:
        return {}, ""
    try:
        return await sizes_in_etcd(KtuiApi(app.client).prefixes), "this server's etcd"
    except ClientError as error:
        app.notify(f"no sizes: {error}", severity="warning")
        return {}, ""
