"""The recording that is made while the dashboard runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.contract.errors import RecordingError
from ktui.contract.events import Marker
from ktui.core.format import long_bytes
from ktui.tui.intake import Intake

if TYPE_CHECKING:
    from ktui.core.recordings.recorder import Recorder


class ActiveRecording:
    """At most one recorder, fed with what the intake takes. `clock` gives Unix seconds."""

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
        """Whether anything that came has not been written yet."""
        return self._recorder is not None and self._recorder.waiting

    @property
    def problem(self) -> str:
        """Why the recording has ended by itself, "" while all is well."""
        return self._recorder.problem if self._recorder is not None else ""

    @property
    def sign(self) -> str:
        """`● REC 1.2 MB` while recording, else ""."""
        return f"● REC {long_bytes(self._recorder.bytes)}" if self._recorder is not None else ""

    def start(self, path: Path | None = None) -> str:
        """Record to a new file, from the present on; what is wrong, "" when nothing is.

        A recording must not begin in the middle: it begins with the current state.
        """
        # start-up time
        from ktui.core.recordings.recorder import Recorder
        from ktui.core.state_events import state_events

        if self._recorder is not None:
            return f"recording to {self._recorder.path.name} already: R stops it"
        try:
            recorder = Recorder(path or self._free_name(), fresh=True)
        except RecordingError as error:
            return str(error)
        self._intake.fold()
        recorder.write(state_events(self._intake.state, self._clock()))
        self._begin(recorder)
        return ""

    def _begin(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._intake.tap = recorder.write

    def _free_name(self) -> Path:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self._clock()))
        return Path.cwd() / f"ktui-{stamp}.ndjson.gz"

    def stop(self) -> str:
        """End the file; what was recorded, or why it had ended already. "" when nothing was recording."""
        recorder, self._recorder, self._intake.tap = self._recorder, None, None
        if recorder is None:
            return ""
        recorder.close()
        return recorder.problem or f"{long_bytes(recorder.bytes)} recorded in {recorder.path}"

    def failed(self) -> str:
        """Why the recording has ended by itself, reported once; "" while all is well."""
        return self.stop() if self.problem else ""

    def mark(self, text: str, at: float) -> None:
        """Write a marker into the recording."""
        if self._recorder is not None:
            self._recorder.write([Marker(at=at, text=text)])
