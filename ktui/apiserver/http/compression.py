"""gzip for large responses, as in kube-apiserver's APIResponseCompression."""

from __future__ import annotations

import asyncio
import zlib

from isal import isal_zlib

from ktui.apiserver.http.response import Response
from ktui.telemetry.cpu import in_thread

# kube-apiserver: defaultGzipThresholdBytes and defaultGzipContentEncodingLevel.
THRESHOLD_BYTES = 128 * 1024
LEVEL = 1
GZIP_WINDOW = 31
# Up to this size compression is faster here than in a thread, and blocks for less than 5 ms.
MOST_AT_ONCE = 512 * 1024
# Output is sent in pieces of this size.
PIECE_BYTES = 64 * 1024


def accepts_gzip(accept_encoding: str) -> bool:
    """Return True if the header names gzip; as upstream only the bare name, not `gzip;q=0.5`."""
    return "gzip" in accept_encoding and any(part.strip() == "gzip" for part in accept_encoding.split(","))


class Body:
    """Writes a 200 response in pieces; compresses it once it exceeds THRESHOLD_BYTES.

    Until then nothing is sent if the client accepts gzip, because small responses are sent uncompressed.
    Other clients get each piece at once.
    """

    def __init__(self, response: Response, content_type: str, gzip: bool) -> None:
        self._response = response
        self._content_type = content_type
        self._gzip = gzip
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._deflater: isal_zlib.Compress | None = None

    @property
    def held_bytes(self) -> int:
        """Buffered bytes: first those held until compression is decided, then compressed ones."""
        return self._held_bytes

    async def write(self, piece: bytes) -> None:
        if self._deflater is not None:
            await self._deflate(piece)
        elif not self._gzip:
            if not self._response.started:
                await self._response.start(200, self._content_type)
            await self._response.write(piece)
        else:
            self._held.append(piece)
            self._held_bytes += len(piece)
            if self._held_bytes > THRESHOLD_BYTES:
                await self._begin_deflating()

    async def end(self) -> None:
        if self._deflater is not None:
            self._held.append(self._deflater.flush())
            await self._response.end(b"".join(self._held))
        elif self._response.started:
            await self._response.end()
        else:
            await self._response.whole(200, self._content_type, b"".join(self._held))

    async def _begin_deflating(self) -> None:
        self._deflater = isal_zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
        headers = [("content-encoding", "gzip"), ("vary", "Accept-Encoding")]
        await self._response.start(200, self._content_type, headers)
        held, self._held, self._held_bytes = b"".join(self._held), [], 0
        await self._deflate(held)

    async def _deflate(self, piece: bytes) -> None:
        assert self._deflater is not None
        if len(piece) <= MOST_AT_ONCE:
            packed = self._deflater.compress(piece)
        else:  # ISA-L releases the GIL: other requests continue meanwhile
            packed = await asyncio.to_thread(in_thread, self._deflater.compress, piece)
        self._held.append(packed)
        self._held_bytes += len(packed)
        if self._held_bytes >= PIECE_BYTES:
            ready, self._held, self._held_bytes = b"".join(self._held), [], 0
            await self._response.write(ready)
