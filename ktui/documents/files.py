"""Read a file from outside ktui, up to a maximum size."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from ktui.documents.limits import TooLarge


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file. Raises OSError, and TooLarge for more than `most` bytes (/dev/zero)."""
    with path.open("rb") as file:
        return read_stream(file, most)


def read_stream(file: BinaryIO, most: int) -> bytes:
    """Return the rest of an open file. Raises OSError, and TooLarge for more than `most` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise TooLarge(f"it is larger than {most >> 10:,} KiB")
    return data
