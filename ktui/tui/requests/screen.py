"""The Requests screen: the live log with details of one request, or the ranking of expensive requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult

from ktui.core.ranking.rank_lines import RankLine, shape_text
from ktui.core.ranking.ranking import GroupKey
from ktui.core.references import Crumb, Part, Place, Reference, RequestRef, Selection, selection_of
from ktui.core.request_view import request_object
from ktui.core.state import State
from ktui.tui.requests.log import LogView
from ktui.tui.requests.ranking import TopView
from ktui.tui.requests.ranking_columns import TOP
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.panel import Panel, tabs_content

TITLES = ("log", "most expensive")  # of the views
KEYS = ("requests.view",)  # ids of the bindings that change the view


def _name_of(key: GroupKey) -> str:
    return f"{key.client} {shape_text(key.shape)}"


class RequestsScreen(ModeScreen, mode="requests"):
    """Two views: the log with the selected request below, or the ranking."""

    AUTO_FOCUS = "#log"

    def __init__(self) -> None:
        super().__init__()
        self.log_view, self.top = LogView(), TopView()
        self.top_shown = False

    def compose_body(self) -> ComposeResult:
        yield Panel(id="views")
        yield self.log_view
        yield self.top

    def on_mount(self) -> None:
        self._show(top=False)
        super().on_mount()

    def active_table(self) -> VTable[Any]:
        return self._shown.table

    # Views: the log (whole or limited to one kind) and the ranking, one shown at a time.

    @property
    def _shown(self) -> LogView | TopView:
        return self.top if self.top_shown else self.log_view

    def _show(self, *, top: bool) -> None:
        """Show the ranking, or the log as it was left."""
        self.top_shown = top
        self.set_class(top, "-top")
        tabs = self.query_one("#views", Panel)
        tabs.show(lambda width, height: tabs_content(TITLES, int(top), width, KEYS))
        self._shown.table.focus()
        self.refresh_bindings()
        self.moved()
        self.call_after_refresh(self.paint)

    def _narrow_to(self, only: GroupKey | None, *, top: bool = False) -> None:
        """Limit the log to one kind of requests, or to none, and show it or the ranking."""
        self.log_view.only = only
        self._show(top=top)

    # Painting.

    def paint_tables(self, state: State) -> None:
        # A log that follows is painted together with its detail, so that both show the same request.
        if not self.top_shown and not self.log_view.table.following:
            self.log_view.paint()

    def paint_panels(self, state: State) -> None:
        if not self.ktui.paused:
            self._shown.paint()
        if not self.top_shown:
            self.log_view.paint_detail()

    # Keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "roll_up":
            return self.top_shown
        if action == "leave":
            return self.top_shown or self.log_view.only is not None
        if action == "panel":
            return not self.top_shown
        return super().check_action(action, parameters)

    def action_turn_view(self) -> None:
        self._show(top=not self.top_shown)

    def action_roll_up(self) -> None:
        self.top.roll_up()

    def action_leave(self) -> None:
        """Go up: from one kind of requests to the ranking, from there to the whole log."""
        self._narrow_to(None, top=not self.top_shown)

    def action_panel(self, step: int) -> None:
        """Show the next panel of the detail, where one has room."""
        self.log_view.detail.turn(step)

    def action_try_cheaper(self) -> None:
        """Compare the request under the cursor with a cheaper variant, in the Lab."""
        if (compared := self._shown.compared) is not None:
            self.ktui.go_to(Place("lab", compared))
        else:
            self.notify("nothing to compare here: only GETs, LISTs and WATCHes are")

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
            self._narrow_to(row.key)

    # Places and selection.

    def crumbs(self) -> Sequence[Crumb]:
        only, found = self.log_view.only, []
        if self.top_shown or only is not None:
            found.append(Crumb(TOP.name, Place(self.MODE, TOP)))
        if only is not None:
            name = _name_of(only)
            found.append(Crumb(name, Place(self.MODE, Part(name))))
        return found

    def visit(self, reference: Reference | None) -> None:
        """Show a request by its id, the ranking, or a group by its name; None is the whole log."""
        name = reference.name if isinstance(reference, Part) else ""
        top = name == TOP.name
        keys = [group.key for group in self.ktui.state.ranking.ranked()] if name and not top else []
        self._narrow_to(next((key for key in keys if _name_of(key) == name), None), top=top)
        if not top:
            self.log_view.paint()
        if isinstance(reference, RequestRef):
            self.log_view.table.go_to(reference.id)

    def references(self) -> Sequence[Reference]:
        row = self._shown.request
        return [RequestRef(row.id)] if row is not None else []

    def selected_request(self) -> Selection | None:
        return selection_of(self._shown.request, "from Requests")

    def read_for_body(self) -> Selection | None:
        row, read = self._shown.request, self.selected_request()
        return read if row is None or read is None else replace(read, accept=row.started.accept)

    def selected_object(self) -> tuple[str, Any] | None:
        row = self._shown.request
        return None if row is None else request_object(row)
