"""Pause Python's garbage collector while large trees are in use.

Each pass over a tree of 100,000 objects and lists stops the process for tens of milliseconds, and finds
nothing: such trees have no cycles, and are freed with the last reference.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

LONGEST_PAUSE = 10.0  # seconds after which young objects are collected during a pause
MOST_YOUNG = 100_000  # objects, whose collection takes some 20 ms; with large trees in use there are more


class CollectorPause:
    """Pauses the collector while at least one caller needs it. Call it only on the event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders = 0
        self._since = 0.0

    def begin(self) -> None:
        """Begin a pause; during a long one, young objects are collected every LONGEST_PAUSE seconds.

        If there are many, they wait for a moment with fewer, or for the end of the pause.
        """
        if not self._holders:
            gc.disable()
            self._since = self._clock()
        elif self._clock() - self._since > LONGEST_PAUSE and gc.get_count()[0] < MOST_YOUNG:
            gc.collect(0)
            self._since = self._clock()
        self._holders += 1

    def end(self) -> None:
        self._holders -= 1
        if not self._holders:
            gc.enable()


COLLECTOR = CollectorPause()
