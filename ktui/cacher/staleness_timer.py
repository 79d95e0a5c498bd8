"""Detects caches that no longer follow etcd while they still serve reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ktui.supervision import Supervisor, stop

LOOK_SECONDS = 1.0


class StalenessTimer:
    """One timer for all caches: calls the added functions once a second."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._looks: set[Callable[[], None]] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, look: Callable[[], None]) -> None:
        self._looks.add(look)
        if self._task is None or self._task.done():
            self._task = self._supervisor.start("the check for stale caches", self._run)

    def remove(self, look: Callable[[], None]) -> None:
        self._looks.discard(look)

    async def close(self) -> None:
        await stop(self._task)

    async def _run(self) -> None:
        while self._looks:
            await asyncio.sleep(LOOK_SECONDS)
            for look in list(self._looks):
                look()
