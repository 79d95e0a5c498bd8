"""Long loops that let everybody else run every few milliseconds."""

from __future__ import annotations

import time

from ktui.telemetry.meter import yield_to_loop

SLICE_SECONDS = 0.004


class Slices:
    """`await slices.yield_if_due()` inside a loop gives the event loop its turn every 4 ms."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due = time.perf_counter() + SLICE_SECONDS

    async def yield_if_due(self) -> None:
        if time.perf_counter() > self._due:
            await yield_to_loop()
            self._due = time.perf_counter() + SLICE_SECONDS
