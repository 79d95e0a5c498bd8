"""A byte stream that shows its first bytes before it is read, and limits what is unpacked."""

from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ERRORS = (OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError)
"""What reading a damaged file or stream raises, beside EOFError."""
CHUNK = 1 << 18  # stays in a processor's cache while its lines are read
_FREE = 1 << 26  # bytes that any file may unpack to
_MOST_TIMES = 1000  # beyond: logs shrink 10 to 100 times, a decompression bomb thousands of times


class BrokenStream(Exception):
    """The stream ended badly; the text says how. What came before is good."""


class ByteStream(Protocol):
    """Bytes as they come. (`read` of a broken gzip stream would lose what it had already unpacked.)"""

    def read1(self, size: int = -1, /) -> bytes: ...


class UnpackLimit:
    """Limits what one file unpacks to; `taken` gives the bytes read of the file itself."""

    def __init__(self, taken: Callable[[], int]) -> None:
        self._taken = taken
        self._given = 0

    def give(self, size: int) -> None:
        """Count unpacked bytes, of all levels of packing. Raises BrokenStream for a bomb."""
        self._given += size
        if self._given > _FREE and self._given > _MOST_TIMES * max(1, self._taken()):
            raise BrokenStream(
                f"unpacks to more than {_MOST_TIMES:,} times its size: not read further, for it would fill "
                "memory or disk (a decompression bomb); what came before is counted"
            )


class BufferedStream(io.RawIOBase):
    """`read1` of another stream, with its first bytes at hand; counts against `limit` if there is one.

    Reading raises BrokenStream where the other stream cannot be read or unpacked further.
    """

    def __init__(self, stream: ByteStream, limit: UnpackLimit | None = None) -> None:
        self._stream, self._budget = stream, limit
        self._head = b""
        self._more = memoryview(b"")  # of a chunk that `readinto` had no room for
        self._ended = False

    def head(self, size: int) -> bytes:
        """The first bytes, not yet read: `size` of them, or all if there are fewer."""
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
        size = min(len(target), len(chunk))  # decompressors may give more than was asked for
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
        if self._budget is not None:
            self._budget.give(len(chunk))
        return chunk
