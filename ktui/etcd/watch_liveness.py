"""Finds a watch that hangs although its connection works.

etcd, or a proxy before it, may stop sending on one stream and go on answering on the others: no call
fails. So a watch that has been silent is asked for its progress. One that does not answer while
something else is answered over the same connection hangs, and is given up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ktui.etcd.connection import EtcdConnection

# An etcd started by kubeadm or ktui notifies every watch of its progress every 5 s: no request is needed.
QUIET_SECONDS = 5.5
ANSWER_SECONDS = 3.5
LATE_SECONDS = 1.0  # a timer that fires this late: it was this process that stood still


class WatchLiveness:
    """A timer beside one watch: `ask` sends a progress request, `give_up` ends the watch.

    `answers` says whether this etcd has ever told progress: those before 3.4 and some that only speak
    etcd's protocol do not answer such requests, and their watches are not given up.
    """

    def __init__(
        self,
        connection: EtcdConnection,
        ask: Callable[[], None],
        give_up: Callable[[float], None],
        answers: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._ask = ask
        self._give_up = give_up
        self._answers = answers
        self._heard_at = time.monotonic()
        self._asked_at = 0.0  # 0: it has been heard since
        self._loop = asyncio.get_running_loop()
        self._timer = self._after(QUIET_SECONDS)

    def heard(self) -> None:
        """etcd has sent something on the watch."""
        self._heard_at, self._asked_at = time.monotonic(), 0.0

    def stop(self) -> None:
        self._timer.cancel()

    def _after(self, seconds: float) -> asyncio.TimerHandle:
        return self._loop.call_later(seconds, self._look, self._loop.time() + seconds)

    def _look(self, due: float) -> None:
        silent = time.monotonic() - self._heard_at
        if self._loop.time() - due > LATE_SECONDS:
            self._timer = self._after(ANSWER_SECONDS)
        elif silent < QUIET_SECONDS:
            self._timer = self._after(QUIET_SECONDS - silent)
        elif self._asked_at and self._answers() and self._connection.heard_at > self._asked_at:
            self._give_up(silent)
        else:
            if not self._asked_at:
                self._asked_at = time.monotonic()
                self._ask()
            self._timer = self._after(ANSWER_SECONDS)
