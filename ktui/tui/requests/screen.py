"""The Requests screen: the live log with details of one request, or the ranking of expensive requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from ktui.core.ranking.lines import RankLine
from ktui.core.references import Crumb, Place, Reference, RequestRef
from ktui.core.request_view import request_object
from ktui.core.selection import Selection, selection_of
from ktui.core.state import RequestRow, State
from ktui.tui.keys import bindings as keys
from ktui.tui.requests.log import LogView
from ktui.tui.requests.ranking import TopView
from ktui.tui.requests.views import RequestViews
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.panel import Panel


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
