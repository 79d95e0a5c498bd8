"""Run long CPU work without holding up the event loop: in a thread, or in slices."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextvars import copy_context
from functools import partial
from time import thread_time
from typing import Any, ParamSpec, TypeVar

from ktui.telemetry.large_work import LARGE_WORK
from ktui.telemetry.meter import current_meter, yield_to_loop

LONGEST_PAUSE = 10.0  # seconds after which young objects are collected during a pause
MOST_YOUNG = 20_000  # objects, whose collection takes some 4 ms; with large trees in use there are more


class CollectorPause:
    """Pauses Python's garbage collector while at least one caller uses large trees. Only for the event loop.

    Each pass over a tree of 100,000 objects and lists stops the process for tens of milliseconds, and finds
    nothing: such trees have no cycles, and are freed with the last reference. Some of them may still be there
    when the pause ends, and the first pass after it would visit them. So if many objects are young then, they
    are set aside (`gc.freeze`, which visits nothing): they are freed as before, and no pass visits them.
    Cycles among them, of other requests meanwhile, are kept until `tidy_when_quiet` looks through what is set
    aside; so few objects are not, which the next pass visits in a moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holders = 0
        self._since = 0.0

    def begin(self) -> None:
        """Begin a pause, after a pass over the few objects that are young.

        During a long pause there is such a pass every LONGEST_PAUSE seconds, at a moment with few of them.
        """
        if not self._holders:
            gc.collect(0)
            gc.disable()
            self._since = self._clock()
        elif self._clock() - self._since > LONGEST_PAUSE and gc.get_count()[0] < MOST_YOUNG:
            gc.collect(0)
            self._since = self._clock()
        self._holders += 1

    def end(self) -> None:
        self._holders -= 1
        if not self._holders:
            if gc.get_count()[0] > MOST_YOUNG:
                gc.freeze()
            gc.enable()


COLLECTOR = CollectorPause()

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
    """Return `function(*args)`, computed and metered in a thread; it ends if this call is cancelled."""

    def clocked() -> tuple[T, float]:
        began = thread_time()
        return function(*args, **kwargs), thread_time() - began

    meter, work = current_meter(), partial(copy_context().run, clocked)
    COLLECTOR.begin()  # until no thread has trees that a pass would visit
    result, seconds = await LARGE_WORK.run(work, meter.user, COLLECTOR.end)
    meter.cpu_ms += seconds * 1000.0
    return result


_TREES = (dict, list)
_FREED_AT_ONCE = 2000


async def free_trees(trees: list[Any]) -> None:
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


SLICE_SECONDS = 0.004
_CHECK_EVERY = 512


class Slices:
    """`await slices.yield_if_due()` inside a loop lets the event loop run every 4 ms."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due = time.perf_counter() + SLICE_SECONDS

    async def yield_if_due(self) -> None:
        if time.perf_counter() > self._due:
            await yield_to_loop()
            self._due = time.perf_counter() + SLICE_SECONDS


async def sliced(items: Sequence[T], size: int = _CHECK_EVERY) -> AsyncIterator[Sequence[T]]:
    """Yield `items` in chunks of at most `size`; the event loop runs between chunks if 4 ms have passed."""
    slices = Slices()
    for low in range(0, len(items), size):
        await slices.yield_if_due()
        yield items[low : low + size] if len(items) > size else items
