"""The views of the Requests screen: which is shown, and for which kind of requests."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.core.ranking.group_key import GroupKey
from ktui.core.ranking.shape_words import shape_text
from ktui.core.references import Crumb, Part, Place, Reference
from ktui.core.state import RequestRow, State
from ktui.tui.requests.log import LogView
from ktui.tui.requests.most_expensive import TOP
from ktui.tui.requests.ranking import TopView
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.tabs import tabs_content

TITLES = ("log", "most expensive")
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
