"""A cache's state for telemetry: published when it changes, at most four times a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ktui.contract.events import CacheStatus
from ktui.telemetry.bus import Bus

SHORTEST_INTERVAL = 0.25


class StatePublisher:
    """Publishes what `describe` returns, soon after each call of `changed`."""

    def __init__(self, bus: Bus, describe: Callable[[], CacheStatus]) -> None:
        self._bus = bus
        self._describe = describe
        self._last = 0.0
        self._pending: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """Publish now, or as soon as a quarter of a second has passed since the last time."""
        if self._pending is not None or not self._bus.watched:
            return
        wait = self._last + SHORTEST_INTERVAL - time.monotonic()
        if wait <= 0:
            self._publish()
        else:
            self._pending = asyncio.get_running_loop().call_later(wait, self._publish)

    def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None

    def _publish(self) -> None:
        self._pending = None
        self._last = time.monotonic()
        self._bus.publish(self._describe())
