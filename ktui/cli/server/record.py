"""`ktui serve --record`: write the server's telemetry to a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ktui.cli.output import tell
from ktui.core.recordings.recorder import Recorder
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus


class ServerRecording:
    """All events of the bus in a file, until `stop`. Raises RecordingError if it cannot start.

    A later failure is reported on standard error, and the server continues.
    """

    def __init__(self, bus: Bus, supervisor: Supervisor, path: Path) -> None:
        self._recorder = Recorder(path)
        self._subscription = bus.subscribe()
        self._task = supervisor.start("the recording", self._run)
        self._task.add_done_callback(lambda _: self._close())

    async def _run(self) -> None:
        async for batch in self._subscription.batches():
            self._recorder.write(batch)
            if self._recorder.problem:
                tell(f"ktui serve: {self._recorder.problem}")
                return

    def _close(self) -> None:
        self._subscription.close()
        self._recorder.close()

    async def stop(self) -> None:
        """Write what was published so far, and close the file."""
        self._subscription.close()
        await asyncio.wait((self._task,))
