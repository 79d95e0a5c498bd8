"""Recordings, as tests read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ktui.contract.events import AnyEvent
from ktui.core.recordings.reader import RecordingReader


def read_recording(path: Path) -> Iterator[AnyEvent]:
    """Yield the events of a recording. Raises RecordingError with the file and the line at fault.

    An unfinished line at the end (ktui was killed) is skipped; `RecordingReader.warning` reports it.
    """
    with RecordingReader(path) as reader:
        for line in reader.lines():
            if line.event is not None:
                yield line.event
