"""When a key was last pressed: ktui paints the reaction to a key before anything else."""

from __future__ import annotations

import time
from collections.abc import Callable

CLOSE = 0.12  # seconds between two keys of a user who goes on typing or walking
MOST = 3  # ticks in a row that wait for them


class Hands:
    """When a key was last pressed, and what waits meanwhile."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._moved_at = clock()
        self._waited = MOST  # nothing waits before the first key

    def moved(self) -> None:
        """A key was pressed, or a button of the mouse."""
        if self.still >= CLOSE:
            self._waited = 0
        self._moved_at = self._clock()

    @property
    def still(self) -> float:
        """Seconds since then."""
        return self._clock() - self._moved_at

    def busy(self) -> bool:
        """Asked at each tick: whether it should leave the next frame to the next key.

        Not for long: every fourth tick comes in any case.
        """
        if self.still >= CLOSE or self._waited >= MOST:
            self._waited = 0
            return False
        self._waited += 1
        return True
