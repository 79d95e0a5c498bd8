"""The Requests screen: the live log with details of one request, or the ranking of expensive requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from ktui.core.ranking.group_key import GroupKey
from ktui.core.ranking.rank_lines import RankLine, shape_text
from ktui.core.references import Crumb, Part, Place, Reference, RequestRef
from ktui.core.request_view import request_object
from ktui.core.selection import Selection, selection_of
from ktui.core.state import RequestRow, State
from ktui.tui.keys import bindings as keys
from ktui.tui.requests.log import LogView
from ktui.tui.requests.most_expensive import TOP
from ktui.tui.requests.ranking import TopView
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.panel import Panel, tabs_content

TITLES = ("log", "most expensive")  # of the views
KEYS = ("requests.view",)  # ids of the bindings that change the view


class RequestViews:
    """The log (whole or limited to one kind) and the ranking, one shown at a time."""

    def __init__(self, screen: ModeScreen, log: LogView, top: TopView) -> None:
        self.top_shown = False
        self._screen = screen
        self._log = log
        self._top = top

    @property
    def shown(self) -> LogView | TopView:
        return self._top if self.top_shown else self._log

    @property
    def row(self) -> RequestRow | None:
        """The request under the cursor; in the ranking the newest of the selected kind."""
        return self.shown.request

    @property
    def narrowed(self) -> bool:
        """True while the log is limited to one kind of requests."""
        return self._log.only is not None and not self.top_shown

    def show(self, *, top: bool) -> None:
        """Show the ranking, or the log as it was left."""
        screen = self._screen
        self.top_shown = top
        screen.set_class(top, "-top")
        index = int(top)
        tabs = screen.query_one("#views", Panel)
        tabs.show(lambda width, height: tabs_content(TITLES, index, width, KEYS))
        self.shown.table.focus()
        screen.refresh_bindings()
        screen.moved()
        screen.call_after_refresh(screen.paint)

    def turn(self) -> None:
        """Switch between the log and the ranking."""
        self.show(top=not self.top_shown)

    def narrow_to(self, only: GroupKey) -> None:
        """Show the log of one kind of requests."""
        self._log.narrow_to(only)
        self.show(top=False)

    def widen(self) -> None:
        """Leave one kind of requests for the ranking."""
        self._log.narrow_to(None)
        self.show(top=True)

    def leave_top(self) -> None:
        """Leave the ranking for the whole log."""
        self._log.narrow_to(None)
        self.show(top=False)

    # Places.

    def crumbs(self) -> Sequence[Crumb]:
        only, mode = self._log.only, self._screen.MODE
        found = []
        if self.top_shown or only is not None:
            found.append(Crumb(TOP.name, Place(mode, TOP)))
        if only is not None:
            name = _name_of(only)
            found.append(Crumb(name, Place(mode, Part(name))))
        return found

    def visit(self, reference: Reference | None, state: State) -> None:
        """Show the ranking, a group by its name, or else the whole log."""
        name = reference.name if isinstance(reference, Part) else ""
        if name == TOP.name:
            self.widen()
            return
        self._log.narrow_to(_group_named(name, state) if name else None)
        self.show(top=False)


def _name_of(key: GroupKey) -> str:
    return f"{key.client} {shape_text(key.shape)}"


def _group_named(name: str, state: State) -> GroupKey | None:
    keys = (group.key for group in state.ranking.ranked())
    return next((key for key in keys if _name_of(key) == name), None)


class RequestsScreen(ModeScreen):
    """Two views: the log with the selected request below, or the ranking."""

    MODE: ClassVar[str] = "requests"
    CSS_PATH = "requests.tcss"
    AUTO_FOCUS = "#log"
    BINDINGS: ClassVar[list[BindingType]] = keys.REQUESTS

    def __init__(self) -> None:
        super().__init__()
        self.log_view, self.top = LogView(), TopView()
        self.views = RequestViews(self, self.log_view, self.top)

    def compose_body(self) -> ComposeResult:
        yield Panel(id="views")
        yield self.log_view
        yield self.top

    def on_mount(self) -> None:
        self.views.show(top=False)
        super().on_mount()

    @property
    def log_table(self) -> VTable[RequestRow]:
        return self.log_view.table

    def active_table(self) -> VTable[Any]:
        return self.views.shown.table

    # Painting.

    def paint_tables(self, state: State) -> None:
        # A log that follows is painted together with its detail, so that both show the same request.
        if not self.views.top_shown and not self.log_table.following:
            self.log_view.paint()

    def paint_panels(self, state: State) -> None:
        if not self.ktui.paused:
            self.views.shown.paint()
        if not self.views.top_shown:
            self.log_view.paint_detail()

    # Keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "roll_up":
            return self.views.top_shown
        if action == "leave":
            return self.views.top_shown or self.views.narrowed
        if action == "panel":
            return not self.views.top_shown
        return super().check_action(action, parameters)

    def action_turn_view(self) -> None:
        """Switch between the log and the ranking."""
        self.views.turn()

    def action_roll_up(self) -> None:
        """Rank by client, by resource, by namespace."""
        self.top.roll_up()

    def action_leave(self) -> None:
        """Go up: from one kind of requests to the ranking, from there to the whole log."""
        if self.views.top_shown:
            self.views.leave_top()
        else:
            self.views.widen()

    def action_panel(self, step: int) -> None:
        """Show the next panel of the detail, where one has room."""
        self.log_view.detail.turn(step)

    def action_try_cheaper(self) -> None:
        """Compare the request under the cursor with a cheaper variant, in the Lab."""
        compared = self.top.compared if self.views.top_shown else self.log_view.compared
        if compared is not None:
            self.ktui.go_to(Place("lab", compared))
        else:
            self.notify("nothing to compare here: only GETs, LISTs and WATCHes are", markup=False)

    @on(VTable.Selected, "#log")
    def _request_selected(self) -> None:
        """Open related screens: the request's detail is on this one."""
        self.action_elsewhere()

    @on(VTable.Selected, "#top")
    def _kind_selected(self, event: VTable.Selected) -> None:
        row: RankLine = event.row
        if isinstance(row.key, str):
            self.top.open_roll_up(row.key)
        elif row.key is not None:
            self.views.narrow_to(row.key)

    # Places and selection.

    def crumbs(self) -> Sequence[Crumb]:
        return self.views.crumbs()

    def visit(self, reference: Reference | None) -> None:
        """Show a request by its id, the ranking, or a group by its name; None is the whole log."""
        self.views.visit(reference, self.ktui.state)
        if not self.views.top_shown:
            self.log_view.paint()
        if isinstance(reference, RequestRef):
            self.log_view.go_to(reference.id)

    def references(self) -> Sequence[Reference]:
        row = self.views.row
        return [RequestRef(row.id)] if row is not None else []

    def selected_request(self) -> Selection | None:
        return selection_of(self.views.row, "from Requests")

    def read_for_body(self) -> Selection | None:
        row, read = self.views.row, self.selected_request()
        return read if row is None or read is None else replace(read, accept=row.started.accept)

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.views.row
        return None if row is None else request_object(row)
