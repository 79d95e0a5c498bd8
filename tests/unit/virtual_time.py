"""Runs a coroutine in a loop whose clock jumps to the next timer: times are exact, and none is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """`now` is its time in seconds. A test that moves it on makes its loop stall."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        due = [timer.when() for timer in self._scheduled if not timer.cancelled()]
        if due and not self._ready:
            self.now = max(self.now, min(due))
        super()._run_once()


def run(work: Coroutine[Any, Any, T]) -> T:
    """As asyncio.run; the coroutine must not wait for threads or other processes."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
