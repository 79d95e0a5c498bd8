"""Decide when a progress notification of an etcd before 3.4.31 or 3.5.13 can be trusted.

Such an etcd answers with its current revision, even if events are still to be sent to the watcher:

- the answer uses another queue than events that are ready to be sent. They have
  arrived once the answer to a later request has;
- a watcher that starts at an older revision, or whose queue was full, is caught up
  by a loop that runs every 100 ms. Answers before that prove nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# Longer than one iteration of that loop, with a margin for a busy machine.
SETTLE_SECONDS = 0.3
# etcd's queue of a watch stream holds 128 answers: half of it at once is a burst.
BURST_EVENTS = 64
BURST_SECONDS = 0.1


class ProgressConfirmation:
    """Tracks one watch. `created_at` returns when etcd confirmed it, before which the loop ignores it."""

    def __init__(self, created_at: Callable[[], float], clock: Callable[[], float] = time.monotonic) -> None:
        self._created_at = created_at
        self._clock = clock
        self._settled = 0.0
        self._pending = 0
        self._burst_started = 0.0
        self._burst = 0

    def event(self) -> None:
        """Record that an event arrived."""
        now = self._clock()
        if now - self._burst_started > BURST_SECONDS:
            self._burst_started, self._burst = now, 0
        self._burst += 1
        if self._burst >= BURST_EVENTS:
            self._settled = now + SETTLE_SECONDS

    def answered(self, rv: int) -> int:
        """Record an answer; return the revision up to which all events have arrived, 0 if none is proven."""
        if self._clock() < max(self._settled, self._created_at() + SETTLE_SECONDS):
            self._pending = 0
            return 0
        proven, self._pending = self._pending, rv
        return proven

    @property
    def pending(self) -> int:
        """The revision that the next answer will prove."""
        return self._pending
