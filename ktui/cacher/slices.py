"""Long loops that let everybody else run every few milliseconds."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from ktui.telemetry.meter import yield_to_loop

T = TypeVar("T")

SLICE_SECONDS = 0.004
_CHECK_EVERY = 512


async def sliced(items: Sequence[T], size: int = _CHECK_EVERY) -> AsyncIterator[Sequence[T]]:
    """`items` in chunks of at most `size`; between two chunks the loop runs if 4 ms have passed."""
    started = time.perf_counter()
    for low in range(0, len(items), size):
        if time.perf_counter() - started > SLICE_SECONDS:
            await yield_to_loop()
            started = time.perf_counter()
        yield items[low : low + size] if len(items) > size else items
