"""`ktui serve --record`: write the server's telemetry to a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ktui.cli.output import tell
from ktui.core.recordings.recorder import Recorder
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus


def record(bus: Bus, supervisor: Supervisor, path: Path) -> asyncio.Task[None]:
    """Write all events of the bus to a file until cancelled. Raises RecordingError if it cannot start.

    A later failure is reported on standard error, and the server continues.
    """
    recorder = Recorder(path)
    subscription = bus.subscribe()

    async def run() -> None:
        async for batch in subscription.batches():
            recorder.write(batch)
            if recorder.problem:
                tell(f"ktui serve: {recorder.problem}")
                return

    def close(task: asyncio.Task[None]) -> None:
        subscription.close()
        recorder.close()

    recording = supervisor.start("the recording", run)
    recording.add_done_callback(close)
    return recording
