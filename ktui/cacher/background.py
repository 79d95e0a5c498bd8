"""Tasks that outlive the request that happened to start them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any


def start(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Run `work` in a context of its own: what it costs is not on that request's meter."""
    return asyncio.create_task(work, name=name, context=Context())


async def stop(*tasks: asyncio.Task[None] | None) -> None:
    """Cancel the tasks and wait until they have ended."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
