"""What progress answers of an etcd before 3.4.31 or 3.5.13 are worth.

Such an etcd answers with its head, whatever is still to be sent to the watcher:

- the answer takes another queue than events that are ready to be sent. They have
  come when the answer to a later request has;
- a watcher that starts in the past, or whose queue ran full, is brought up to date
  by a loop that runs every 100 ms. Answers in between prove nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# Longer than that loop takes, with some patience for a busy machine.
SETTLE_SECONDS = 0.3
# etcd's queue of a watch stream holds 128 answers: half of it at once is a burst.
BURST_EVENTS = 64
BURST_SECONDS = 0.1


class ProgressConfirmation:
    """Follows one watch. `created_at` is when etcd confirmed it: before, that loop cannot have run for it."""

    def __init__(self, created_at: Callable[[], float], clock: Callable[[], float] = time.monotonic) -> None:
        self._created_at = created_at
        self._clock = clock
        self._settled = 0.0
        self._pending = 0
        self._burst_started = 0.0
        self._burst = 0

    def event(self) -> None:
        """An event has come."""
        now = self._clock()
        if now - self._burst_started > BURST_SECONDS:
            self._burst_started, self._burst = now, 0
        self._burst += 1
        if self._burst >= BURST_EVENTS:
            self._settled = now + SETTLE_SECONDS

    def answered(self, rv: int) -> int:
        """Take in an answer; the revision up to which every event is proven to be here, 0 for none."""
        if self._clock() < max(self._settled, self._created_at() + SETTLE_SECONDS):
            self._pending = 0
            return 0
        proven, self._pending = self._pending, rv
        return proven

    @property
    def pending(self) -> int:
        """What the next answer will prove."""
        return self._pending
