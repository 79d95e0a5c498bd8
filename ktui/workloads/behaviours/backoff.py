"""The pauses of client-go's reflector between two attempts, and the errors after which it resumes its watch.

reflector.go: 800 ms, doubling up to 30 s, plus a random part up to the same length; 800 ms again after two
quiet minutes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ktui.client.connection import ClientError, WatchRefused
from ktui.workloads.running.figures import REJECTED

FIRST_SECONDS, MOST_SECONDS, QUIET_SECONDS = 0.8, 30.0, 120.0


@dataclass(slots=True)
class ReflectorBackoff:
    """Computes the pauses of one reflector. `pause` returns the seconds to wait before the next attempt."""

    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # 0 to 1
    _next: float = FIRST_SECONDS
    _last_attempt: float = float("-inf")

    def pause(self) -> float:
        now = self.clock()
        if now - self._last_attempt > QUIET_SECONDS:
            self._next = FIRST_SECONDS
        self._last_attempt = now
        pause, self._next = self._next, min(MOST_SECONDS, self._next * 2)
        return pause * (1 + self.jitter())


def keeps_its_place(error: ClientError) -> bool:
    """Return whether a reflector sends the same WATCH again: after a 429, or if the connection failed.

    After any other refusal it sends a LIST.
    """
    return not isinstance(error, WatchRefused) or error.status == REJECTED
