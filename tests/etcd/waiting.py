"""Wait for what sends no signal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

HANGS = 60.0  # seconds


async def until(condition: Callable[[], bool], meanwhile: Callable[[], object] = lambda: None) -> None:
    """Wait until the condition holds; `meanwhile` is called before each look."""
    async with asyncio.timeout(HANGS):
        while not condition():
            meanwhile()
            await asyncio.sleep(0.005)  # the state of a cache or a connection changes without a signal
