"""Call a function once a cursor has come to rest."""

from __future__ import annotations

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer

SETTLE = 0.12  # seconds that a cursor must rest before etcd is asked: a patient is not poked at every step


class Rest:
    """Runs the last callback it was given, `seconds` after it was given; earlier ones never."""

    def __init__(self, node: MessagePump, seconds: float) -> None:
        self._node = node
        self._seconds = seconds
        self._timer: Timer | None = None

    def then(self, callback: Callable[[], object]) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._node.set_timer(self._seconds, callback)
