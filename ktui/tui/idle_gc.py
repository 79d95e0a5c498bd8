"""Full garbage collections while no key is pressed.

Painted lines refer to each other, so only the collector frees them. Its young generations take 1–2 ms,
the full collection 20–30 ms: without this module it would delay the frame after a key.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from ktui.tui.key_activity import KeyActivity

EVERY = 1.0  # seconds between two checks
DUE = 15.0  # seconds between two full collections
OVERDUE = 45.0  # seconds after which one runs even while keys are pressed
QUIET = 0.5  # seconds without a key
SHORT_TURNS = (1_000, 5)  # thresholds of the young generations (Python's: 700, 10)
NEVER = 1_000_000_000


class Collector:
    """Acts only if the process has switched Python's collector off, which it must decide as a whole."""

    def __init__(
        self,
        keys: KeyActivity,
        clock: Callable[[], float] = time.monotonic,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._collect = collect
        self._last_turn = clock()

    def begin(self) -> bool:
        """Exempt all objects of now from collection. Return False, and do nothing, if the collector is on."""
        if gc.isenabled():
            return False
        gc.freeze()
        gc.set_threshold(*SHORT_TURNS, NEVER)
        gc.enable()
        return True

    def collect_if_due(self) -> None:
        """Run a full collection if it is due and no key was pressed for QUIET seconds."""
        since = self._clock() - self._last_turn
        if since >= OVERDUE or (since >= DUE and self._keys.idle_seconds >= QUIET):
            self._collect()
            self._last_turn = self._clock()
