"""Going from place to place: modes, what is open inside them, and the way back."""

from __future__ import annotations

from ktui.core.references import CompareRef, Place, Read, Reference
from ktui.tui.dashboard import Dashboard
from ktui.tui.navigation.trail import Trail
from ktui.tui.screen_bases.mode_screen import ModeScreen


class Navigator:
    """Keeps the trail of one app. Every way to another place leads through `go` or `walk`."""

    def __init__(self, app: Dashboard) -> None:
        self._app = app
        self._trail = Trail()
        self._leap: tuple[Place, Place] | None = None  # the last jump to another screen, undone by Esc
        self._strayed = False  # deeper or higher than where it led

    @property
    def here(self) -> Place:
        """Where the user stands now."""
        screen = self._app.screen
        if isinstance(screen, ModeScreen) and screen.MODE in self._app.MODES:
            return screen.place
        return Place(self._app.current_mode)

    @property
    def came_from(self) -> Place | None:
        """Where Esc leads back to: the start of the jump at whose end the user stands; None elsewhere."""
        if self._leap is None or self._strayed or self._leap[1].mode != self._app.current_mode:
            return None
        return self._leap[0]

    async def come_back(self) -> None:
        """To where the jump began, as it was left."""
        if place := self.came_from:
            await self.go_to_mode(place.mode)

    async def go(self, place: Place) -> None:
        """Somewhere else, as it is opened at its reference."""
        before = self.here
        elsewhere = place.reference is not None and place.mode != before.mode
        remembered = _remembered(place)
        self._leap, self._strayed = (before, remembered) if elsewhere else None, False
        await self._show(place.mode)
        self._open(place.reference)
        self._trail.visit(remembered, before)

    async def go_to_mode(self, mode: str) -> None:
        """Another screen as it was left; the screen that is shown already comes up to its top."""
        if mode == self._app.current_mode:
            await self.go(Place(mode))
            return
        before, self._leap = self.here, None
        await self._show(mode)
        self._trail.visit(self.here, before)

    async def walk(self, step: int) -> None:
        """Back (-1) or forward (1) on the trail."""
        if place := self._trail.walk(step):
            self._leap = None
            await self._show(place.mode)
            self._open(place.reference)

    def moved(self, before: Place, now: Place) -> None:
        """A screen has gone in or out of something by itself."""
        self._strayed = self._leap is not None and now != self._leap[1]
        if now.mode in self._app.MODES and now != self._trail.here:
            self._trail.visit(now, before)

    async def _show(self, mode: str) -> None:
        self.keep_selection()
        if mode != self._app.current_mode:
            await self._app.switch_mode(mode)

    def keep_selection(self) -> None:
        """The request under the cursor goes along."""
        screen = self._app.screen
        if isinstance(screen, ModeScreen) and screen.paintable:
            self._app.selection = screen.selected_request() or self._app.selection

    def _open(self, reference: Reference | None) -> None:
        screen = self._app.screen
        if isinstance(reference, Read):
            self._app.selection = reference.selection
        elif isinstance(reference, CompareRef):
            self._app.selection = reference.original
        if isinstance(screen, ModeScreen):
            screen.call_after_refresh(screen.open, reference)


def _remembered(place: Place) -> Place:
    """The way back to a comparison does not send it again."""
    if isinstance(place.reference, CompareRef):
        return Place(place.mode, Read(place.reference.original))
    return place
