"""Work that blocks, in a thread that a process which ends does not wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

Result = TypeVar("Result")


def in_daemon_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """What `work` returns or raises. asyncio.to_thread would keep the program from ending meanwhile."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: Exception | None) -> None:
        if future.done():  # cancelled meanwhile
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(cast(Result, result))

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as failure:  # the one who waits gets it
            error = failure
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="credentials", daemon=True).start()
    return future
