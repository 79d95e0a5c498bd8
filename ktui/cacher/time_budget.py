"""The time that slow watchers may delay the dispatch of events to other watchers.

kube-apiserver's timeBudget: refilled by 50 ms each second, never above 100 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable

REFILL_PER_SECOND = 0.05
MAXIMUM = 0.1


class TimeBudget:
    """Seconds that the dispatcher may still wait for slow watchers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._available = MAXIMUM
        self._refilled = clock()

    def take(self) -> float:
        """Take and return all available seconds; `give_back` returns the unused ones."""
        self._refill()
        taken, self._available = self._available, 0.0
        return taken

    def give_back(self, unused: float) -> None:
        self._available = min(MAXIMUM, self._available + max(0.0, unused))

    def _refill(self) -> None:
        whole = int(self._clock() - self._refilled)
        if whole > 0:
            self._refilled += whole
            self._available = min(MAXIMUM, self._available + whole * REFILL_PER_SECOND)
