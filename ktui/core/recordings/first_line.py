"""Check that a file is a recording before the dashboard opens; imports little, for start-up time."""

from __future__ import annotations

import zlib
from io import BufferedIOBase
from pathlib import Path

from ktui.contract.errors import RecordingError
from ktui.contract.events import AnyEvent
from ktui.contract.recording import LONGEST, decode_line

GZIP_MAGIC = b"\x1f\x8b"


def check_beginning(path: Path) -> AnyEvent | None:
    """Return a recording's first event; None if its type is of a newer ktui.

    Raises RecordingError if the file cannot be read or its first line is not an event.
    """
    try:
        with _opened(path) as plain:
            first = plain.readline(LONGEST)
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingError(f"cannot read {path}: {error}") from error
    if not first:
        raise RecordingError(f"{path} is empty: nothing was recorded")
    try:
        return decode_line(first)
    except RecordingError as error:
        raise RecordingError(f"{path} is not a recording: line 1: {error}") from error


def _opened(path: Path) -> BufferedIOBase:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP_MAGIC
    if not packed:
        return path.open("rb")
    import gzip  # start-up time

    return gzip.open(path)
