"""Run CPU work that is too long for the event loop in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from time import thread_time
from typing import Any, ParamSpec, TypeVar

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
    meter = current_meter()
    if not meter.large:
        return function(*args, **kwargs)
    result = await compute_large(function, *args, **kwargs)
    if isinstance(result, dict | list):
        meter.trees.append(result)
    return result


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


async def let_go(trees: list[Any]) -> None:
    """Free trees piece by piece: at once, 100,000 objects and lists would take 50 ms."""
    left, found = trees[:], list[Any]()
    trees.clear()
    while left:
        tree = left.pop()
        found.append(tree)
        left += [part for part in (tree.values() if isinstance(tree, dict) else tree) if type(part) in _TREES]
        if len(found) % _FREED_AT_ONCE == 0:
            await asyncio.sleep(0)
    tree = None
    found.reverse()
    while found:
        for _ in range(min(_FREED_AT_ONCE, len(found))):
            found.pop()  # a tree before its parts, which are still held
        await asyncio.sleep(0)


_TREES = (dict, list)
_FREED_AT_ONCE = 2000
