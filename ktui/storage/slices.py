"""Let other tasks run every few milliseconds during long loops."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from ktui.telemetry.meter import yield_to_loop

T = TypeVar("T")

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
