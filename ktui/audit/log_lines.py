"""Lines of a byte stream, plain or gzipped, in bounded memory however long a line is."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

_BLOCK = 1 << 20
LONGEST = 1 << 20
"""Bytes of a line beyond which only its two ends are kept."""
_TAIL = 1 << 14


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line longer than LONGEST: its first and its last bytes."""

    head: bytes
    tail: bytes


class BrokenStream(Exception):
    """The stream ended with an error, which is the message. The lines before are valid."""


class ByteStream(Protocol):
    """A byte stream. (`read` of a broken gzip stream would lose what it had already unpacked.)"""

    def read1(self, size: int = -1, /) -> bytes: ...


def unzipped(stream: io.BufferedReader) -> ByteStream:
    """The stream itself, or unpacked if it is gzipped: detected by its first two bytes, not by the name."""
    if stream.peek(2)[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=stream, mode="rb")
    return stream


def blocks(stream: ByteStream) -> Iterator[list[bytes] | LongLine]:
    """Lines without newlines, a list at a time, and each long one by itself, in order.

    Raises BrokenStream if the stream breaks off, after the lines before were returned.
    """
    rest, head = b"", b""  # `head` is set while the current line is too long
    while chunk := _read(stream):
        first, newline, others = chunk.partition(b"\n")
        rest += first
        if not newline:
            if len(rest) > LONGEST:
                head, rest = head or rest[:LONGEST], rest[-_TAIL:]
            continue
        yield _line(head, rest)
        *lines, rest = others.split(b"\n")
        head = b""
        if lines:
            yield lines
    if rest:
        yield _line(head, rest)


def _line(head: bytes, rest: bytes) -> list[bytes] | LongLine:
    if head:
        return LongLine(head, rest[-_TAIL:])
    return LongLine(rest[:LONGEST], rest[-_TAIL:]) if len(rest) > LONGEST else [rest]


def _read(stream: ByteStream) -> bytes:
    try:
        return stream.read1(_BLOCK)
    except EOFError:
        raise BrokenStream("the gzip stream breaks off: what came before is counted") from None
    except (OSError, zlib.error) as error:
        raise BrokenStream(f"cannot be read further ({error}): what came before is counted") from None
