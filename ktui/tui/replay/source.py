"""A recording as the dashboard's source of events."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from ktui.contract.events import AnyEvent
from ktui.contract.recording import RecordingError
from ktui.tui.source import Link, Report, Stage, TelemetrySource


class ReplaySource(TelemetrySource):
    """Reads a recording through once; after that its `playback` makes the states.

    `speed` is a factor, FASTEST for no waiting; `clock` is monotonic, in seconds.
    """

    replays = True

    def __init__(
        self, path: Path, speed: float = 1.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = path
        self._speed = speed
        self._clock = clock

    async def connect(self, report: Report) -> None:
        from ktui.core.replay.index import Index  # start-up time
        from ktui.tui.replay.playback import Playback

        name, loop, left = self.path.name, asyncio.get_running_loop(), threading.Event()
        report(f"reading {name}")
        reported = 0

        def report_share(share: float) -> None:
            nonlocal reported
            if left.is_set():  # at its end the program waits for its threads
                raise RecordingError("the replay was closed")
            if (percent := int(share * 100)) > reported:
                reported = percent
                loop.call_soon_threadsafe(report, f"reading {name}: {percent}%")

        try:
            index = await asyncio.to_thread(Index, self.path, report_share)
        except asyncio.CancelledError:
            left.set()
            raise
        self.playback = Playback(index, self._speed, self._clock)
        if self.path.is_dir():
            self.playback.open_at_worst()

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        """Yield nothing: the playback applies the events itself."""
        nothing: tuple[list[AnyEvent], ...] = ()
        for batch in nothing:
            yield batch

    def link(self) -> Link:
        return Link(Stage.REPLAY, self.path.name)

    async def close(self) -> None:
        if self.playback is not None:
            await self.playback.close()
