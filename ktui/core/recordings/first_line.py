"""Check that a file is a recording before the dashboard opens; imports little, for start-up time."""

from __future__ import annotations

import zlib
from io import BufferedIOBase
from pathlib import Path

from ktui.contract.events import AnyEvent
from ktui.contract.recording import LONGEST, RecordingError, decode_first_line
from ktui.core.recordings.unpacking import GZIP_MAGIC


def check_beginning(path: Path) -> AnyEvent | None:
    """Return the first event of a recording, or of a directory of segments; None for a newer ktui's type.

    Raises RecordingError if the file cannot be read or its first line is not an event.
    """
    if path.is_dir():
        from ktui.core.recordings.segments import first_segment  # start-up time

        path = first_segment(path)
    try:
        with _opened(path) as plain:
            first = plain.readline(LONGEST)
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingError(f"cannot read {path}: {error}") from error
    if not first:
        raise RecordingError(f"{path} is empty: nothing was recorded")
    try:
        return decode_first_line(first)
    except RecordingError as error:
        raise RecordingError(f"{path} is not a recording: line 1: {error}") from error


def _opened(path: Path) -> BufferedIOBase:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP_MAGIC
    if not packed:
        return path.open("rb")
    import gzip  # start-up time

    return gzip.open(path)
