"""Full garbage collections run while no key is pressed.

What has been painted refers to itself, so only the collector frees it. Its short turns take a
millisecond or two, the long one 20 to 30: left to itself it comes between a key and its frame.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from ktui.tui.key_activity import Hands

EVERY = 1.0  # seconds between two looks whether it is time
DUE = 15.0  # seconds between two long turns
OVERDUE = 45.0  # then it is taken in any case
QUIET = 0.5  # seconds without a key
SHORT_TURNS = (1_000, 5)  # Python's own thresholds, the short turns somewhat shorter
NEVER = 1_000_000_000


class Collector:
    """Acts only for who has switched Python's collector off beforehand: it is a whole process' affair."""

    def __init__(
        self,
        hands: Hands,
        clock: Callable[[], float] = time.monotonic,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        self._hands = hands
        self._clock = clock
        self._collect = collect
        self._last_turn = clock()

    def begin(self) -> bool:
        """All that lives now lives for good. Whether turns are to be taken from now on."""
        if gc.isenabled():
            return False
        gc.freeze()
        gc.set_threshold(*SHORT_TURNS, NEVER)
        gc.enable()
        return True

    def look(self) -> None:
        """Take the long turn if it is time."""
        since = self._clock() - self._last_turn
        if since >= OVERDUE or (since >= DUE and self._hands.still >= QUIET):
            self._collect()
            self._last_turn = self._clock()
