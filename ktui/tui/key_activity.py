"""When keys were pressed: ktui paints the effect of a key before anything else."""

from __future__ import annotations

import time
from collections.abc import Callable

CLOSE = 0.12  # seconds between the keys of a user who is typing or holds an arrow key
MOST = 3  # ticks in a row that are deferred


class KeyActivity:
    """When a key was last pressed, and how many ticks were deferred for it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pressed_at = clock()
        self._deferred = MOST  # none before the first key

    def pressed(self) -> None:
        """Record that a key or a mouse button was pressed."""
        if self.idle_seconds >= CLOSE:
            self._deferred = 0
        self._pressed_at = self._clock()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last key."""
        return self._clock() - self._pressed_at

    def defers_tick(self) -> bool:
        """Return True if this tick should leave the next frame to the next key.

        Every fourth tick runs in any case.
        """
        if self.idle_seconds >= CLOSE or self._deferred >= MOST:
            self._deferred = 0
            return False
        self._deferred += 1
        return True
