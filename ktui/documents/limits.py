"""Limits on the size and depth of a document, and the errors for documents that exceed them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

# Go's libraries allow 10,000 levels; Python's stack holds far fewer, and later steps recurse over the tree.
MAX_DEPTH = 200
# Objects and lists in one document. The largest objects that etcd can store hold about 50,000.
MAX_CONTAINERS = 100_000
# Bytes of a YAML document with its aliases expanded.
MAX_EXPANDED_BYTES = 8 * 1024 * 1024


class DocumentError(ValueError):
    """The document is invalid; str() is the reason, with the message of Go's libraries if they have one."""


class TooLarge(DocumentError):
    """The document is valid as far as it was read, but exceeds a limit."""


def too_many_containers() -> TooLarge:
    return TooLarge(f"limit is {MAX_CONTAINERS} objects and lists in one document")


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
