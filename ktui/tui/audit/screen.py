"""The audit screen: logs are read and ranked in a thread, then shown in four views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ktui.audit.build import Wish
from ktui.audit.report import Report
from ktui.core.format import many
from ktui.core.references import Crumb, Part, Read, Reference
from ktui.core.selection import Selection
from ktui.core.state import State
from ktui.tui.audit.log_reading import Reading
from ktui.tui.audit.ranker import Ranker, RulesChoice
from ktui.tui.audit.report_view import nothing_recognised, read_text, unknown_text
from ktui.tui.audit.views import AuditViews
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.keys import bindings as keys
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.source import Link
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.header import HeaderBar, clickable
from ktui.tui.widgets.lines import between, line

_DOT = (" · ", "$ink-faint")


def header_line(
    names: Sequence[str], version: str, report: Report | None, width: int, view: str = ""
) -> Content:
    """Return the top line: `ktui › Audit · audit.log and 2 more › #1 · rules of kube 1.30`.

    At its end is the number of lines read. In a view, a click on the files leads back to the groups.
    """
    first = names[0].rpartition("/")[2] if names else "groups"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    files = line((f"{first}{more}", "$accent" if view else "bold $ink-strong"))
    if view:
        step = line((" › ", "$ink-faint"), (view, "bold $ink-strong"))
        files = clickable(files, "screen.leave") + step
    named = [line(_DOT), files] if names or view else []
    rules = line(_DOT, ("rules of kube ", "$ink-muted"), (version or "…", "$foreground"))
    left = Content.assemble(
        line(("ktui", "bold $accent"), (" › ", "$ink-faint"), ("Audit", "$foreground")), *named, rules
    )
    text = "" if report is None else _read(report.lines.total)
    return between(left, line((text, "$ink-muted")), width)


def _read(lines: int) -> str:
    return f"{many(lines, 'line')} read"


_AGAIN = 2.0  # seconds between two rankings of logs that are followed


class AuditScreen(ModeScreen):
    """The groups by cost; enter opens one, `v` and `t` show all versions and etcd's slow requests."""

    MODE: ClassVar[str] = "audit"
    CSS_PATH = "audit.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.AUDIT

    def __init__(self, reading: Reading, wish: Wish, *, over: bool = False) -> None:
        super().__init__()
        self.over = over  # whether escape returns to another screen
        self.views = AuditViews(self)
        self.ranker = Ranker(self, reading, wish, ranked=self._show_report, failed=self.views.fail)
        self.choosing = RulesChoice(self, self.ranker)

    def compose_body(self) -> ComposeResult:
        yield from self.views.widgets()

    def on_mount(self) -> None:
        self.views.show("reading")
        self.ranker.read()
        if self.ranker.reading.live:
            self.set_interval(_AGAIN, self.ranker.rank_again)
        super().on_mount()

    def on_unmount(self) -> None:
        self.ranker.stop()

    def _show_report(self, report: Report) -> None:
        """Show a report of newly read lines, or by other rules."""
        if nothing_recognised(report) and self.ranker.reading.live and not self.ranker.reading.stopped:
            return  # no line about a request yet
        if nothing_recognised(report):
            self.views.fail("no file here is a log that ktui can read", unknown_text(report))
        else:
            self.views.take(report, partly=self.ranker.reading.stopped)

    # Views and selection.

    def active_table(self) -> VTable[Any] | None:
        return self.views.table

    def crumbs(self) -> Sequence[Crumb]:
        return self.views.crumbs(self.MODE)

    def visit(self, reference: Reference | None) -> None:
        """Show a view; None is the groups."""
        if self.views.of_report:
            self.views.show(reference.name if isinstance(reference, Part) else "groups")

    def references(self) -> Sequence[Reference]:
        selection = self.selected_request()
        return () if selection is None else (Read(selection),)

    def selected_request(self) -> Selection | None:
        """Return the group's example, for the dashboard's Versions screen."""
        return self.views.groups.selected_request()

    def selected_object(self) -> tuple[str, Any] | None:
        return self.views.selected_object()

    # Keys.

    def action_choose_rules(self) -> None:
        self.choosing.ask()

    def action_older(self) -> None:
        self.choosing.step(-1)

    def action_newer(self) -> None:
        self.choosing.step(1)

    def action_stop(self) -> None:
        self.ranker.stop()

    def action_show_input(self) -> None:
        if self.ranker.report is not None:
            self.app.push_screen(TextScreen("input", read_text(self.ranker.report)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        views = self.views
        if action in ("filter", "sort", "sort_turn", "export") and views.table is None:
            return False
        wanted = {
            "stop": views.shown == "reading" and not self.ranker.ranking,
            "show_input": self.ranker.report is not None,
            **dict.fromkeys(("view", "choose_rules", "older", "newer"), views.of_report),
            "leave": self.over or views.below_the_groups,
            "step": views.shown == "group",
            "panel": views.shown == "group",
        }
        return wanted[action] if action in wanted else super().check_action(action, parameters)

    def action_view(self, name: str) -> None:
        """Show a view, or if it is shown already the groups."""
        self.views.show("groups" if self.views.shown == name else name)

    def action_leave(self) -> None:
        if self.views.below_the_groups:
            self.views.show("groups")
        elif self.over:
            self.app.pop_screen()

    def action_step(self, step: int) -> None:
        self.views.step(step)
        self.paint_frame(self.ktui.state, self.ktui.link)

    def action_panel(self, step: int) -> None:
        self.views.group.turn(step)

    @on(VTable.Selected, "#ranked")
    def _group_selected(self) -> None:
        self.views.show("group")

    @on(VTable.Selected, "#slow-ranges")
    def _slow_selected(self, event: VTable.Selected) -> None:
        if not self.views.open_cause(event.row.ranks):
            self.notify("no group in the table would cause such a read", markup=False)

    @on(VTable.Selected, "#every-version")
    def _version_selected(self, event: VTable.Selected) -> None:
        self.choosing.choose(event.row.version)

    # Painting: a view paints itself when its data changes.

    def paint_frame(self, state: State, link: Link) -> None:
        ranker = self.ranker
        names = [file.name for file in ranker.reading.tally.files]
        report = ranker.report
        version = report.kube_version if report is not None else ranker.wish.kube_version
        view = "".join(crumb.text for crumb in self.crumbs())
        stamp = (id(report), len(names), version, view)
        self.query_one(HeaderBar).show(
            lambda width, _: header_line(names, version, report, width, view), stamp
        )

    def paint_tables(self, state: State) -> None:
        self.views.paint_progress(self.ranker)
