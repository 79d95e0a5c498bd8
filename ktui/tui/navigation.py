"""Going from place to place: modes, what is open inside them, and the way back."""

from __future__ import annotations

from ktui.tui.dashboard import Dashboard
from ktui.tui.model.references import Place, Read, Reference
from ktui.tui.screens.base import ModeScreen
from ktui.tui.trail import Trail


class Navigator:
    """Keeps the trail of one app. Every way to another place leads through `go` or `walk`."""

    def __init__(self, app: Dashboard) -> None:
        self._app = app
        self._trail = Trail()

    @property
    def here(self) -> Place:
        """Where somebody stands now."""
        screen = self._app.screen
        if isinstance(screen, ModeScreen) and screen.MODE in self._app.MODES:
            return screen.place
        return Place(self._app.current_mode)

    async def go(self, place: Place) -> None:
        """Somewhere else, as it is opened at its reference."""
        before = self.here
        await self._show(place.mode)
        self._open(place.reference)
        self._trail.visit(place, before)

    async def go_to_mode(self, mode: str) -> None:
        """Another screen as it was left; the screen that is shown already comes up to its top."""
        if mode == self._app.current_mode:
            await self.go(Place(mode))
            return
        before = self.here
        await self._show(mode)
        self._trail.visit(self.here, before)

    async def walk(self, step: int) -> None:
        """Back (-1) or forward (1) on the trail."""
        if place := self._trail.walk(step):
            await self._show(place.mode)
            self._open(place.reference)

    def moved(self, before: Place, now: Place) -> None:
        """A screen has gone in or out of something by itself."""
        if now.mode in self._app.MODES and now != self._trail.here:
            self._trail.visit(now, before)

    async def _show(self, mode: str) -> None:
        self.take_in_hand()
        if mode != self._app.current_mode:
            await self._app.switch_mode(mode)

    def take_in_hand(self) -> None:
        """The request under the cursor goes along."""
        screen = self._app.screen
        if isinstance(screen, ModeScreen) and screen.paintable:
            self._app.in_hand = screen.request_in_hand() or self._app.in_hand

    def _open(self, reference: Reference | None) -> None:
        screen = self._app.screen
        if isinstance(reference, Read):
            self._app.in_hand = reference.in_hand
        if isinstance(screen, ModeScreen):
            screen.call_after_refresh(screen.open, reference)
