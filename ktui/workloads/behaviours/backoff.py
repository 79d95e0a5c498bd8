"""The pauses of client-go's reflector between two attempts, and when it keeps its place.

reflector.go: 800 ms, doubling up to 30 s, each with up to as much again; from 800 ms after two quiet minutes.
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
    """`pause` is how long to wait before the next attempt, in seconds."""

    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random().random)  # 0 to 1
    _next: float = FIRST_SECONDS
    _asked: float = float("-inf")

    def pause(self) -> float:
        now = self.clock()
        if now - self._asked > QUIET_SECONDS:
            self._next = FIRST_SECONDS
        self._asked = now
        pause, self._next = self._next, min(MOST_SECONDS, self._next * 2)
        return pause * (1 + self.jitter())


def keeps_its_place(error: ClientError) -> bool:
    """Whether a reflector sends the same WATCH again: it was refused with 429, or the connection failed.

    After another refusal it LISTs.
    """
    return not isinstance(error, WatchRefused) or error.status == REJECTED
