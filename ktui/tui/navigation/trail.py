"""The places that were visited, for back and forward."""

from __future__ import annotations

from ktui.core.references import Place

LONGEST = 50


class Trail:
    """A browser's history of places: going somewhere new forgets what was ahead."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    @property
    def here(self) -> Place | None:
        """The place last gone to; None before the first move."""
        return self._places[self._at] if self._places else None

    def visit(self, place: Place, coming_from: Place) -> None:
        """The user goes to `place`. Where they stood just before is what `back` leads to."""
        if not self._places:
            self._places, self._at = [coming_from], 0
        elif self._places[self._at] != coming_from:
            self._places[self._at :] = [self._places[self._at], coming_from]
            self._at += 1
        if place != self._places[self._at]:
            self._places = [*self._places[: self._at + 1], place][-LONGEST:]
            self._at = len(self._places) - 1

    def walk(self, step: int) -> Place | None:
        """The place `step` on (-1: back); None at the ends."""
        if not 0 <= self._at + step < len(self._places):
            return None
        self._at += step
        return self._places[self._at]
