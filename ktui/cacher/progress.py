"""Request progress notifications from etcd while readers wait for a revision.

kube-apiserver's conditional progress requester: one request every 100 ms while there is at least one waiter;
the first at once, unless the last request is more recent.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from ktui.supervision import Supervisor, stop

PERIOD = 0.1

# Must not raise: a broken stream is handled by its reflector.
Ask = Callable[[], Awaitable[None]]


class ProgressRequester:
    """Requests progress on the watch streams of all caches that have waiting readers."""

    def __init__(self, supervisor: Supervisor, period: float = PERIOD) -> None:
        self._supervisor = supervisor
        self._period = period
        self._waiting: Counter[Ask] = Counter()
        self._task: asyncio.Task[None] | None = None
        self._last = -period

    @contextmanager
    def asking(self, ask: Ask) -> Iterator[None]:
        """Call `ask` every period while the block runs."""
        self._waiting[ask] += 1
        if self._task is None or self._task.done():
            self._task = self._supervisor.start("the progress requester", self._run)
        try:
            yield
        finally:
            self._waiting[ask] -= 1
            if not self._waiting[ask]:
                del self._waiting[ask]

    async def close(self) -> None:
        await stop(self._task)

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(max(0.0, self._last + self._period - time.monotonic()))
            self._last = time.monotonic()
            await asyncio.gather(*(ask() for ask in self._waiting))
