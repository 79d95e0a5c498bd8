"""Call a function once the cursor has stopped moving."""

from __future__ import annotations

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer

SETTLE = 0.12  # seconds without a move before etcd is read: not once for every row passed


class Debounce:
    """Runs the callback that was scheduled last, `seconds` later; earlier ones are dropped."""

    def __init__(self, node: MessagePump, seconds: float) -> None:
        self._node = node
        self._seconds = seconds
        self._timer: Timer | None = None

    def schedule(self, callback: Callable[[], object]) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._node.set_timer(self._seconds, callback)
