"""When an app has nothing left to do: known by its loop, not by how little time the processor spent on it."""

from __future__ import annotations

import asyncio
from typing import Any

from textual._wait import wait_for_idle

FRAME = 0.02  # seconds: what a timer does by then (the next picture, the next step of a table) is waited for
MOST = 100  # frames: a timer that never rests is not waited for


async def until_quiet(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Textual's `wait_for_idle`; then until no callback waits for its turn and no timer for the next frame.

    By itself that one takes a machine that stalls for an app that is idle: neither uses the processor.
    """
    await wait_for_idle(min_sleep, max_sleep)
    for _ in range(MOST):
        if _quiet(asyncio.get_running_loop()):
            return
        await asyncio.sleep(FRAME)  # Textual paints with a timer, and sends no signal when it is done


def _quiet(loop: Any) -> bool:
    """Whether the loop would sleep for a frame and more, as far as it knows."""
    soon = loop.time() + FRAME
    due = any(timer.when() <= soon and not timer.cancelled() for timer in loop._scheduled)
    return not loop._ready and not due
