"""CPU work that is too long for the event loop: one thread does it, and gives the interpreter back often."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from time import thread_time
from typing import ParamSpec, TypeVar

from ktui.telemetry.meter import current_meter

P = ParamSpec("P")
T = TypeVar("T")

LARGE_BYTES = 32 * 1024  # an object of this size takes milliseconds to decode, change, validate and encode
LARGE_ANSWER_BYTES = 256 * 1024  # and of this size only to encode
# One thread: with more of them the event loop would wait longer for its turn.
_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large")


def expect(size: int, large: int = LARGE_BYTES) -> None:
    """The current request works on `size` bytes: from `large` on, its CPU work goes to the thread."""
    if size >= large:
        current_meter().large = True


async def compute(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`function(*args)`, in the thread if the current request is a large one."""
    meter = current_meter()
    if not meter.large:
        return function(*args, **kwargs)
    work = partial(copy_context().run, _clocked, partial(function, *args, **kwargs))
    result, seconds = await asyncio.get_running_loop().run_in_executor(_THREAD, work)
    meter.cpu_ms += seconds * 1000.0
    return result


def _clocked(work: Callable[[], T]) -> tuple[T, float]:
    began = thread_time()
    return work(), thread_time() - began
