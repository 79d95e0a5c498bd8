"""Detect a watch that hangs although its connection works.

etcd, or a proxy in front of it, may stop sending on one stream and continue on the others: no call fails. So
a silent watch gets a progress request. If it does not answer while other calls over the same connection are
answered, it hangs, and is given up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ktui.etcd.connection import EtcdConnection

# An etcd started by kubeadm or ktui sends every watch its progress every 5 s, so no request is needed.
QUIET_SECONDS = 5.5
ANSWER_SECONDS = 3.5
LATE_SECONDS = 1.0  # if a timer fires this late, this process was stopped or busy


class WatchLiveness:
    """A timer for one watch: `ask` sends a progress request, `give_up` ends the watch.

    `answers` tells whether this etcd has ever sent its progress: versions before 3.4, and some that only
    implement etcd's protocol, do not answer such requests, and their watches are not given up.
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
        self._asked_at = 0.0  # 0: a message has arrived since
        self._loop = asyncio.get_running_loop()
        self._timer = self._after(QUIET_SECONDS)

    def heard(self) -> None:
        """Record that etcd has sent something on the watch."""
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
