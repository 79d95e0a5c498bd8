"""The recording that the dashboard makes while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.contract.events import Marker
from ktui.contract.recording import RecordingError
from ktui.core.format import long_bytes
from ktui.tui.intake import Intake

if TYPE_CHECKING:
    from ktui.core.recordings.recorder import Recorder


class ActiveRecording:
    """At most one recorder, which receives all events of the intake. `clock` returns Unix seconds."""

    def __init__(self, intake: Intake, clock: Callable[[], float], recorder: Recorder | None = None) -> None:
        self._intake = intake
        self._clock = clock
        self._recorder: Recorder | None = None
        intake.sign = lambda: self.sign
        if recorder is not None:
            self._begin(recorder)

    @property
    def running(self) -> bool:
        return self._recorder is not None

    @property
    def waiting(self) -> bool:
        """True while some events have not been written yet."""
        return self._recorder is not None and self._recorder.waiting

    @property
    def problem(self) -> str:
        """The error that has ended the recording, "" without one."""
        return self._recorder.problem if self._recorder is not None else ""

    @property
    def sign(self) -> str:
        """`● REC 1.2 MB` while recording, else ""."""
        return f"● REC {long_bytes(self._recorder.bytes)}" if self._recorder is not None else ""

    def start(self, path: Path | None = None) -> str:
        """Start recording to a new file. Return an error, "" if there is none.

        The file begins with the current state, so that a replay is complete from the start.
        """
        # start-up time
        from ktui.core.recordings.recorder import Recorder
        from ktui.core.reducer import state_events

        if self._recorder is not None:
            return f"recording to {self._recorder.path.name} already: R stops it"
        try:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self._clock()))
            recorder = Recorder(path or Path.cwd() / f"ktui-{stamp}.ndjson.gz", fresh=True)
        except RecordingError as error:
            return str(error)
        self._intake.fold()
        recorder.write(state_events(self._intake.state, self._clock()))
        self._begin(recorder)
        return ""

    def _begin(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._intake.tap = recorder.write

    def stop(self) -> str:
        """End the recording. Return what was recorded, or its error; "" if nothing was being recorded."""
        recorder, self._recorder, self._intake.tap = self._recorder, None, None
        if recorder is None:
            return ""
        recorder.close()
        return recorder.problem or f"{long_bytes(recorder.bytes)} recorded in {recorder.path}"

    def failed(self) -> str:
        """Return, once, the error that has ended the recording; "" without one."""
        return self.stop() if self.problem else ""

    def mark(self, text: str, at: float) -> None:
        if self._recorder is not None:
            self._recorder.write([Marker(at=at, text=text)])
