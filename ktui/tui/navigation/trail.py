"""The history of visited places, for back and forward."""

from __future__ import annotations

from ktui.core.references import Place

LONGEST = 50  # places


class Trail:
    """A history like a browser's: a new place drops those that were ahead."""

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
