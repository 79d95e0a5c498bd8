"""Byte streams: look at the first bytes before reading, and limit what is unpacked."""

from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


LONGEST = 1 << 20
"""Bytes of a record beyond which only its two ends are kept."""
TAIL = 1 << 14


@dataclass(frozen=True, slots=True)
class LongLine:
    """A record longer than LONGEST: its first and its last bytes."""

    head: bytes
    tail: bytes


ERRORS = (OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError)
"""The errors of reading a damaged file or stream, besides EOFError."""
CHUNK = 1 << 18  # fits into a processor's cache while its lines are read
_FREE = 1 << 26  # bytes that any file may unpack to
_MOST_TIMES = 1000  # beyond: logs shrink 10 to 100 times, a decompression bomb thousands of times


class BrokenStream(Exception):
    """The stream broke off; the message says how. What was read before is valid."""


class ByteStream(Protocol):
    """A stream of bytes. (`read` of a broken gzip stream would lose what is already unpacked.)"""

    def read1(self, size: int = -1, /) -> bytes: ...


class UnpackLimit:
    """Limits what one file unpacks to; `taken` returns the bytes read of the packed file."""

    def __init__(self, taken: Callable[[], int]) -> None:
        self._taken = taken
        self._unpacked = 0

    def count(self, size: int) -> None:
        """Count unpacked bytes, of all levels of packing. Raises BrokenStream for a bomb."""
        self._unpacked += size
        if self._unpacked > _FREE and self._unpacked > _MOST_TIMES * max(1, self._taken()):
            raise BrokenStream(
                f"unpacks to more than {_MOST_TIMES:,} times its size: not read further, for it would fill "
                "memory or disk (a decompression bomb); what came before is counted"
            )


class BufferedStream(io.RawIOBase):
    """Buffers the first bytes of another stream, and counts what is read against `limit`.

    Reading raises BrokenStream where the other stream cannot be read or unpacked further.
    """

    def __init__(self, stream: ByteStream, limit: UnpackLimit | None = None) -> None:
        self._stream, self._limit = stream, limit
        self._head = b""
        self._more = memoryview(b"")  # rest of a chunk that did not fit into the buffer of `readinto`
        self._ended = False

    def head(self, size: int) -> bytes:
        """Return the next `size` bytes (fewer at the end) without reading them."""
        while len(self._head) < size and (chunk := self._next(CHUNK)):
            self._head += chunk
        return self._head[:size]

    def read1(self, size: int = CHUNK, /) -> bytes:
        size = size if size > 0 else CHUNK
        if self._head:
            chunk, self._head = self._head[:size], self._head[size:]
            return chunk
        return self._next(size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer)
        chunk = self._more or memoryview(self.read1(len(target)))
        size = min(len(target), len(chunk))  # decompressors may return more than requested
        target[:size], self._more = chunk[:size], chunk[size:]
        return size

    def _next(self, size: int) -> bytes:
        if self._ended:
            return b""
        try:
            chunk = self._stream.read1(size)
        except EOFError:
            raise BrokenStream("the compressed stream breaks off: what came before is counted") from None
        except ERRORS as error:
            raise BrokenStream(f"cannot be read further ({error}): what came before is counted") from None
        self._ended = not chunk
        if self._limit is not None:
            self._limit.count(len(chunk))
        return chunk
