"""The audit of logs: read, ranked, and one group or one version taken apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from ktui.audit.report import GroupReport, Report, SlowReport
from ktui.kube.explain import Explanation
from ktui.kube.versions import KNOWN_VERSIONS, BehaviourError
from ktui.tui import keys
from ktui.tui.model import audit_view as view
from ktui.tui.model.audit_lines import GroupLine, group_lines
from ktui.tui.model.audit_reading import Reading, Wish
from ktui.tui.model.state import State
from ktui.tui.screens.audit import changes, columns, group, summary
from ktui.tui.screens.audit.header import header_line
from ktui.tui.screens.base import ModeScreen
from ktui.tui.screens.text import TextScreen
from ktui.tui.source import Link
from ktui.tui.widgets.header import HeaderBar
from ktui.tui.widgets.lines import entitle, line, lines
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.tabs import tabs_content
from ktui.tui.widgets.vtable import VTable

# One is shown at a time.
VIEWS = ("reading", "failed", "groups", "group", "versions", "slow")
# The panels of one group with their titles; in a small terminal one shows at a time.
PANELS = {
    "route": "route",
    "latency": "latency and errors",
    "instead": "write instead",
    "slow-reads": "slow in etcd, probably because of it",
}


class AuditScreen(ModeScreen):
    """The groups by cost; enter takes one apart, `v` and `t` show all versions and etcd's slow reads."""

    MODE: ClassVar[str] = "audit"
    CSS_PATH = "audit.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.DETAIL,
        Binding("v", "view('versions')", "versions", id="audit.versions", tooltip="all versions side by side"),
        Binding("t", "view('slow')", "slow etcd", id="audit.slow", tooltip="reads that etcd found slow"),
        Binding("i", "what_was_read", "what was read", id="audit.read", tooltip="files, malformed lines, notes"),
        Binding("less_than_sign", "version(-1)", "older", key_display="<", show=False, id="audit.older",
                tooltip="the rules of the version before"),
        Binding("greater_than_sign", "version(1)", "newer", key_display=">", show=False, id="audit.newer",
                tooltip="the rules of the next version"),
        Binding("x", "stop", "stop reading", id="audit.stop", tooltip="show what was read so far"),
        Binding("up,k", "step(-1)", "previous group", show=False, id="audit.up", tooltip="the group before"),
        Binding("down,j", "step(1)", "next group", show=False, id="audit.down", tooltip="the next group"),
        Binding("escape", "leave", "back", id="audit.leave", tooltip="back to the groups"),
    ]  # fmt: skip

    def __init__(self, reading: Reading, wish: Wish) -> None:
        super().__init__()
        self.reading, self.wish = reading, wish
        self.report: Report | None = None
        self.shown = "reading"
        self.problem = ("", "")
        self.making = False
        self._panel_shown = 0
        self._explained: tuple[int, Explanation] | None = None

    def compose_body(self) -> ComposeResult:
        yield Panel(id="reading")
        yield Panel(id="failed")
        with Vertical(id="groups"):
            yield Panel("audit", id="summary", classes="box")
            yield VTable[GroupLine]((), key=lambda row: row.identity, id="ranked", classes="box",
                                    empty="no GET, LIST or WATCH of a stored resource in these lines")  # fmt: skip
            yield Panel("route", id="about", classes="box")
        with Container(id="group"):
            yield Panel("request", id="request", classes="box")
            yield Panel(id="tabs")
            with Container(id="detail"):
                yield Panel(PANELS["route"], id="route", classes="box")
                with Vertical(id="beside"):
                    for name in ("latency", "instead", "slow-reads"):
                        yield Panel(PANELS[name], id=name, classes="box")
        with Vertical(id="versions"):
            yield VTable[view.VersionLine]((), key=lambda row: row.version, id="every-version", classes="box")
            yield Panel("what changes", id="changes", classes="box")
        with Vertical(id="slow"):
            yield VTable[SlowReport](columns.SLOW, key=lambda row: row, id="slow-ranges", classes="box",
                                     empty="no line of an etcd's log tells of a slow request")  # fmt: skip
            yield Panel("probably because of", id="probably", classes="box")

    # What is where.

    @property
    def ranked(self) -> VTable[GroupLine]:
        return self.query_one("#ranked", VTable)

    @property
    def versions(self) -> VTable[view.VersionLine]:
        return self.query_one("#every-version", VTable)

    @property
    def slow_ranges(self) -> VTable[SlowReport]:
        return self.query_one("#slow-ranges", VTable)

    def panel(self, name: str) -> Panel:
        return self.query_one(f"#{name}", Panel)

    @property
    def group(self) -> GroupReport | None:
        """The group in hand."""
        row = self.ranked.row
        return row.group if row is not None else None

    def active_table(self) -> VTable[Any] | None:
        tables = {"groups": "#ranked", "versions": "#every-version", "slow": "#slow-ranges"}
        return self.query_one(tables[self.shown], VTable) if self.shown in tables else None

    def object_in_hand(self) -> tuple[str, Any] | None:
        table = self.active_table()
        row = table.row if table is not None else self.ranked.row if self.shown == "group" else None
        if isinstance(row, GroupLine):
            return f"group #{row.group.rank}", msgspec.to_builtins(row.group)
        if isinstance(row, view.VersionLine):
            return f"LISTs under {row.version}", msgspec.to_builtins(row.share)
        return ("slow in etcd", msgspec.to_builtins(row)) if row is not None else None

    # Reading and ranking, in a thread.

    def on_mount(self) -> None:
        self.show_view("reading")
        self._show_panel(0)
        self.read()
        super().on_mount()

    def on_unmount(self) -> None:
        self.reading.stop()

    @work(thread=True, group="audit", exit_on_error=False)
    def read(self) -> None:
        """Read all, then rank."""
        try:
            self.reading.run()
        except OSError as error:
            problem = f"{error.filename or 'the log'}: {error.strerror or error}"
            self.app.call_from_thread(self.fail, "cannot be read", problem)
            return
        self.app.call_from_thread(self.ranking)
        self._rank(self.wish)

    @work(thread=True, group="audit", exit_on_error=False)
    def rank(self, wish: Wish) -> None:
        """Rank what was read anew."""
        self._rank(wish)

    def _rank(self, wish: Wish) -> None:
        try:
            report = wish.report(self.reading.tally)
        except BehaviourError as error:
            self.app.call_from_thread(self.refuse, str(error))
            return
        self.app.call_from_thread(self.show_report, wish, report)

    def ranking(self) -> None:
        self.making = True
        self.paint()

    def refuse(self, problem: str) -> None:
        """These rules cannot be: what is shown stays."""
        self.making = False
        self.notify(problem, severity="error", markup=False)

    def fail(self, title: str, problem: str) -> None:
        self.problem = (title, problem)
        self.show_view("failed")

    def show_report(self, wish: Wish, report: Report) -> None:
        """A report has been made."""
        first = self.report is None
        self.wish, self.report, self.making, self._explained = wish, report, False, None
        if view.nothing_recognised(report) and not report.etcd:
            self.fail("nothing here is a log that ktui knows", _unknown(report))
            return
        self.ranked.set_columns(columns.groups(view.by_bytes(report)))
        self.ranked.set_rows(group_lines(report))
        self.slow_ranges.set_rows(report.etcd)
        self._fit_versions()
        self.versions.set_rows(view.version_lines(report))
        if first:
            self.show_view("groups")
            chosen = [row.version for row in self.versions.rows].index(report.kube_version)
            self.versions.move_to(chosen)
        self.paint()

    # Views.

    def show_view(self, name: str) -> None:
        self.shown = name
        for each in VIEWS:
            self.set_class(each == name, f"-{each}")
        self.refresh_bindings()
        table = self.active_table()
        self.set_focus(table)
        self.paint()

    def action_view(self, name: str) -> None:
        self.show_view("groups" if self.shown == name else name)

    def action_leave(self) -> None:
        self.show_view("groups")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        told = self.report is not None and self.shown not in ("reading", "failed")
        if action in ("view", "version", "what_was_read"):
            return told or (action == "what_was_read" and self.report is not None)
        if action == "stop":
            return self.shown == "reading" and not self.making
        if action == "leave":
            return told and self.shown != "groups"
        if action in ("step", "panel"):
            return self.shown == "group"
        return super().check_action(action, parameters)

    def action_stop(self) -> None:
        self.reading.stop()

    def action_what_was_read(self) -> None:
        if self.report is not None:
            self.app.push_screen(TextScreen("what was read", view.read_text(self.report)))

    def action_step(self, step: int) -> None:
        self.ranked.action_cursor(step)
        self.paint()

    def action_version(self, step: int) -> None:
        place = KNOWN_VERSIONS.index(self.wish.kube_version) + step
        if 0 <= place < len(KNOWN_VERSIONS):
            self.choose(KNOWN_VERSIONS[place])

    def choose(self, version: str) -> None:
        """Rank by the rules of another version."""
        self.rank(replace(self.wish, kube_version=version))

    @on(VTable.Selected, "#ranked")
    def _open_group(self) -> None:
        self.show_view("group")

    @on(VTable.Selected, "#every-version")
    def _choose_version(self, event: VTable.Selected) -> None:
        self.choose(event.row.version)

    @on(VTable.Selected, "#slow-ranges")
    def _open_cause(self, event: VTable.Selected) -> None:
        """The likeliest group, where it is in the table."""
        ranks = event.row.ranks
        places = [place for place, row in enumerate(self.ranked.rows) if row.group.rank in ranks[:1]]
        if places:
            self.ranked.move_to(places[0])
            self.show_view("group")
        else:
            self.notify("no group of requests is known that would cause such a read", markup=False)

    @on(VTable.Highlighted)
    def _highlighted(self) -> None:
        if self.report is not None:
            self.paint_panels(self.ktui.state)

    # One panel at a time in a small terminal.

    def action_panel(self, step: int) -> None:
        self._show_panel((self._panel_shown + step) % len(PANELS))

    def _show_panel(self, index: int) -> None:
        self._panel_shown = index
        names = list(PANELS)
        for place, name in enumerate(names):
            self.panel(name).set_class(place == index, "-shown")
        self.query_one("#beside").set_class(names[index] != "route", "-shown")
        self.panel("tabs").show(
            lambda width, height: tabs_content(("route", "latency", "instead", "etcd"), index)
        )

    # Painting.

    def paint_frame(self, state: State, link: Link) -> None:
        report, names = self.report, [file.name for file in self.reading.tally.files]
        version = self.wish.kube_version
        stamp = (id(report), len(names), version)
        self.query_one(HeaderBar).show(lambda width, _: header_line(names, version, report, width), stamp)

    def paint_tables(self, state: State) -> None:
        if self.shown == "reading":
            progress, making = self.reading.progress(), self.making
            self.panel("reading").show(lambda w, h: summary.reading_content(progress, making, w, h))

    def paint_panels(self, state: State) -> None:
        if self.shown == "failed":
            self.panel("failed").show(lambda w, h: summary.problem_content(*self.problem, w, h))
        report = self.report
        if report is None:
            return
        paint = {"groups": self._paint_groups, "group": self._paint_group, "versions": self._paint_versions,
                 "slow": self._paint_slow}.get(self.shown)  # fmt: skip
        if paint is not None:
            paint(report)

    def _paint_groups(self, report: Report) -> None:
        partly = self.reading.stopped
        self.panel("summary").show(lambda w, h: summary.summary_content(report, partly, w, h), id(report))
        count = f"{len(report.groups):,} groups by {report.ranked_by} · rules of {report.kube_version}"
        entitle(self.ranked, line(count))
        chosen = self.group
        self.panel("about").show(
            lambda w, h: group.about_content(chosen, report, w, h), (id(report), id(chosen))
        )

    def _paint_group(self, report: Report) -> None:
        chosen = self.group
        if chosen is None:
            return
        explained = self._explanation(chosen, report)
        slow = view.slow_reads_of(chosen, report)
        entitle(self.panel("request"), line(f"group #{chosen.rank} of {len(report.groups):,}"))
        entitle(self.panel("route"), line(f"route under {report.kube_version}"))
        stamp = (id(report), chosen.rank)
        builds = {
            "request": lambda w, h: group.request_content(chosen, report, w, h),
            "route": lambda w, h: group.route_content(chosen, report, explained, w, h),
            "latency": lambda w, h: group.latency_content(chosen, w, h),
            "instead": lambda w, h: group.instead_content(chosen, w, h),
            "slow-reads": lambda w, h: group.slow_content(slow, bool(report.etcd), w, h),
        }
        for name, build in builds.items():
            self.panel(name).show(build, stamp)

    def _explanation(self, chosen: GroupReport, report: Report) -> Explanation:
        if self._explained is None or self._explained[0] != chosen.rank:
            self._explained = (chosen.rank, view.explanation_of(chosen, report))
        return self._explained[1]

    def _paint_versions(self, report: Report) -> None:
        row = self.versions.row
        entitle(self.versions, line(f"your LISTs under every version · {report.kube_version} is chosen"))
        entitle(self.panel("changes"), line(changes.changes_title(row)))
        self.panel("changes").show(
            lambda w, h: changes.changes_content(row, report, w, h), (id(report), id(row))
        )

    def _paint_slow(self, report: Report) -> None:
        row = self.slow_ranges.row
        entitle(self.slow_ranges, line("slow in etcd"))
        why = row.probably if row is not None else ()
        self.panel("probably").show(
            lambda w, h: lines(
                [line(text).truncate(w, ellipsis=True) for text in why or ("nothing that was read",)][:h]
            ),
            (id(report), id(row)),
        )

    def on_resize(self) -> None:
        self._fit_versions()

    def _fit_versions(self) -> None:
        if self.report is not None:
            self.versions.set_columns(columns.versions(self.app.size.width - 6))


def _unknown(report: Report) -> str:
    """What was read instead, with examples."""
    told = [f"{report.lines.total:,} lines were read, {report.lines.malformed:,} of them malformed."]
    told += [f"{bad.file}:{bad.line}: {bad.why}: {bad.text}" for bad in report.malformed[:3]]
    told += [f"{file.name}: {file.problem}" for file in report.files if file.problem]
    told += ["", "It reads kube-apiserver's audit log (JSON lines), its httplog lines (-v=3 and up), and etcd's "
             "JSON lines of slow requests, each plain or gzipped."]  # fmt: skip
    return "\n".join(told)
