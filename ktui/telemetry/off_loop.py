"""Run CPU work that is too long for the event loop in a thread."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from time import thread_time
from typing import ParamSpec, TypeVar

from ktui.telemetry.large_work import LARGE_WORK
from ktui.telemetry.meter import current_meter
from ktui.telemetry.paused_gc import COLLECTOR

P = ParamSpec("P")
T = TypeVar("T")

LARGE_BYTES = 32 * 1024  # an object of this size takes milliseconds to decode, change, validate and encode


def expect(size: int, large: int = LARGE_BYTES) -> None:
    """Mark the current request as large, to use a thread, if `size` is at least `large`."""
    if size >= large:
        current_meter().large = True


async def compute(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return `function(*args)`, computed in a thread if the current request is large."""
    if not current_meter().large:
        return function(*args, **kwargs)
    return await compute_large(function, *args, **kwargs)


async def compute_large(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return `function(*args)`, computed in a thread, and add its CPU time to the current meter.

    If this call is cancelled, the computation ends.
    """
    work = partial(copy_context().run, _clocked, partial(function, *args, **kwargs))
    meter = current_meter()
    COLLECTOR.begin()
    try:
        result, seconds = await LARGE_WORK.run(work, meter.user)
    finally:
        COLLECTOR.end()
    meter.cpu_ms += seconds * 1000.0
    return result


def _clocked(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result, and the seconds of CPU time."""
    began = thread_time()
    return work(), thread_time() - began
