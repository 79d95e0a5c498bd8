"""Split a response body into small pieces, between which other tasks of the event loop can run."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator

from ktui.client.connection import ClientError

# Counting the items of this many bytes takes less than a millisecond.
PIECE_BYTES = 128 * 1024


async def pieces(chunks: AsyncIterator[bytes], encoding: str = "") -> AsyncIterator[bytes]:
    """Yield `chunks` unpacked and in small pieces. Raises ClientError.

    `encoding` is the response's Content-Encoding. A small chunk from the network may unpack to
    megabytes, which would block the dashboard.
    """
    packing = encoding.strip().lower()
    if packing not in ("", "identity", "gzip"):
        raise ClientError(f"the answer has the Content-Encoding {packing[:40]!r}, which ktui did not request")
    unpacked = _Gzip() if packing == "gzip" else None
    async for chunk in chunks:
        first = True
        for piece in _cut(chunk) if unpacked is None else unpacked.feed(chunk):
            if not first:
                await asyncio.sleep(0)
            first = False
            yield piece
    if unpacked is not None and not unpacked.complete:
        raise ClientError("the answer's gzip data is broken off")


def _cut(chunk: bytes) -> Iterator[bytes]:
    for start in range(0, len(chunk), PIECE_BYTES):
        yield chunk[start : start + PIECE_BYTES]


class _Gzip:
    """Unpacks in pieces of at most PIECE_BYTES, whatever the compression ratio."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)
        self._began = False

    @property
    def complete(self) -> bool:
        """True if no more input is needed; an empty response is complete."""
        return self._inflate.eof or not self._began

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        self._began = self._began or bool(chunk)
        while chunk:
            if self._inflate.eof:  # another gzip member follows
                self._inflate = zlib.decompressobj(wbits=31)
            try:
                piece = self._inflate.decompress(chunk, PIECE_BYTES)
            except zlib.error:
                raise ClientError("the answer's gzip data is damaged") from None
            if piece:
                yield piece
            chunk = self._inflate.unconsumed_tail or self._inflate.unused_data
