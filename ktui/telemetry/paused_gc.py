"""Python's garbage collector, paused while large trees are in use.

Each pass over a tree of 100,000 objects and lists stops the process for tens of milliseconds, and finds
nothing: such trees have no cycles, and go when the last reference does.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

LONGEST_PAUSE = 10.0  # seconds; then the young objects are collected all the same


class CollectorPause:
    """Counts who needs the pause. Call it on the event loop only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders = 0
        self._since = 0.0

    def begin(self) -> None:
        """Stop collecting; while one large request follows another, collect now and then."""
        if not self._holders:
            gc.disable()
            self._since = self._clock()
        elif self._clock() - self._since > LONGEST_PAUSE:
            gc.collect(0)
            self._since = self._clock()
        self._holders += 1

    def end(self) -> None:
        self._holders -= 1
        if not self._holders:
            gc.enable()


COLLECTOR = CollectorPause()
