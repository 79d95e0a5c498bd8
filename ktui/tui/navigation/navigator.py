"""Moves between screens and what is open on them, and the way back."""

from __future__ import annotations

from functools import cached_property

from textual import on

from ktui.core.references import CompareRef, Place, Read, Reference
from ktui.tui.dashboard import Dashboard
from ktui.tui.replay.actions import ReplayActions
from ktui.tui.screen_bases.mode_screen import ModeScreen

LONGEST = 50  # places


class Trail:
    """The history of visited places, like a browser's: a new place drops those that were ahead."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    @property
    def here(self) -> Place | None:
        """The last place; None before the first move."""
        return self._places[self._at] if self._places else None

    def visit(self, place: Place, coming_from: Place) -> None:
        """Add `place`, to which the user goes from `coming_from`."""
        if not self._places:
            self._places, self._at = [coming_from], 0
        elif self._places[self._at] != coming_from:
            self._places[self._at :] = [self._places[self._at], coming_from]
            self._at += 1
        if place != self._places[self._at]:
            self._places = [*self._places[: self._at + 1], place][-LONGEST:]
            self._at = len(self._places) - 1

    def step(self, step: int) -> Place | None:
        """Move by `step` (-1: back) and return the place there; None at the ends."""
        if not 0 <= self._at + step < len(self._places):
            return None
        self._at += step
        return self._places[self._at]


class NavigationActions(ReplayActions):
    """The app's moves between screens, of which it keeps a history."""

    _jump: tuple[Place, Place] | None = None  # start and end of the last jump to another screen
    _left_jump = False  # the user has since moved on from its end

    @cached_property
    def _trail(self) -> Trail:
        return Trail()

    @property
    def here(self) -> Place:
        """The current place."""
        screen = self.screen
        if isinstance(screen, ModeScreen) and screen.MODE in self.MODES:
            return screen.place
        return Place(self.current_mode)

    @property
    def came_from(self) -> Place | None:
        """The start of the jump at whose end the user is, where Esc leads; None elsewhere."""
        if self._jump is None or self._left_jump or self._jump[1].mode != self.current_mode:
            return None
        return self._jump[0]

    async def action_come_back(self) -> None:
        """Return to the screen where the jump began, as it was left."""
        if place := self.came_from:
            await self.action_go(place.mode)

    @on(Dashboard.GoTo)
    async def _go_to(self, event: Dashboard.GoTo) -> None:
        await self._go(event.place)

    async def _go(self, place: Place) -> None:
        """Open a place at its reference."""
        before, remembered = self.here, place
        if isinstance(place.reference, CompareRef):  # on the way back it is not sent again
            remembered = Place(place.mode, Read(place.reference.original))
        to_another_screen = place.reference is not None and place.mode != before.mode
        self._jump, self._left_jump = (before, remembered) if to_another_screen else None, False
        await self._show_mode(place.mode)
        self._open_reference(place.reference)
        self._trail.visit(remembered, before)

    async def action_go(self, mode: str) -> None:
        """Show another screen as it was left; the current screen goes to its top."""
        if mode == self.current_mode:
            await self._go(Place(mode))
            return
        before, self._jump = self.here, None
        await self._show_mode(mode)
        self._trail.visit(self.here, before)

    async def action_travel(self, step: int) -> None:
        """Go back (-1) or forward (1) in the history."""
        if place := self._trail.step(step):
            self._jump = None
            await self._show_mode(place.mode)
            self._open_reference(place.reference)

    @on(ModeScreen.Moved)
    def _moved(self, event: ModeScreen.Moved) -> None:
        """Record that the user has opened or left something on the current screen."""
        now = event.now
        self._left_jump = self._jump is not None and now != self._jump[1]
        if now.mode in self.MODES and now != self._trail.here:
            self._trail.visit(now, event.before)

    async def _show_mode(self, mode: str) -> None:
        self.keep_selection()
        if mode != self.current_mode:
            await self.switch_mode(mode)

    def keep_selection(self) -> None:
        """Keep the request under the cursor as the app's selection."""
        screen = self.screen
        if isinstance(screen, ModeScreen) and screen.paintable:
            self.selection = screen.selected_request() or self.selection

    def _open_reference(self, reference: Reference | None) -> None:
        screen = self.screen
        if isinstance(reference, Read):
            self.selection = reference.selection
        elif isinstance(reference, CompareRef):
            self.selection = reference.original
        if isinstance(screen, ModeScreen):
            screen.call_after_refresh(screen.open, reference)
