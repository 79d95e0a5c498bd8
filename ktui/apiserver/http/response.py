"""One HTTP response, sent in pieces."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterable
from itertools import accumulate

from isal import isal_zlib

from ktui.apiserver.http import Send
from ktui.kube.golang.formatting import quote
from ktui.telemetry.meter import in_thread

Header = tuple[bytes, bytes]
Headers = list[Header]


def header(name: str, value: str) -> Header:
    """Return a header as it is sent; characters beyond Latin-1 become `?`."""
    return name.encode(), value.encode("latin-1", "replace")


class Response:
    """Sends headers, then body pieces, then the end, and counts what was sent.

    granian breaks the connection off (over HTTP/2 the stream) if the end of a body is not sent.

    `bodyless`: the response to a HEAD, whose body is not sent. `on_start` is called with the headers sent.
    """

    __slots__ = ("_headers", "_send", "bodyless", "ended", "on_start", "sent_bytes", "status")

    def __init__(self, send: Send, *, bodyless: bool = False) -> None:
        self._send = send
        self.bodyless = bodyless
        self._headers: Headers = []
        self.status = 0
        self.sent_bytes = 0
        self.ended = False
        self.on_start: Callable[[], None] | None = None

    @property
    def started(self) -> bool:
        return self.status != 0

    def add_headers(self, headers: Iterable[Header]) -> None:
        self._headers.extend(headers)

    def replace_header(self, name: bytes, value: bytes) -> None:
        """Send a header with this value instead of the values added before."""
        self._headers = [(key, sent) for key, sent in self._headers if key != name]
        self._headers.append((name, value))

    async def start(self, status: int, content_type: str, headers: Iterable[Header] = ()) -> None:
        self.status = status
        typed = [(b"content-type", content_type.encode())] if content_type else []
        every = list(dict.fromkeys([*typed, *self._headers, *headers]))  # without duplicates
        await self._send({"type": "http.response.start", "status": status, "headers": every})
        if self.on_start is not None:
            self.on_start()

    async def flush(self) -> None:
        """Send the headers before there is a body, as granian holds them back until the first piece."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": True})

    async def write(self, piece: bytes) -> None:
        """Send a piece; return when the transport has taken it (back-pressure)."""
        if self.bodyless:
            return
        self.sent_bytes += len(piece)
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self, piece: bytes = b"") -> None:
        self.ended = True
        if self.bodyless:
            piece = b""
        self.sent_bytes += len(piece)
        await self._send({"type": "http.response.body", "body": piece, "more_body": False})

    async def whole(self, status: int, content_type: str, body: bytes) -> None:
        await self.start(status, content_type, [(b"content-length", b"%d" % len(body))])
        await self.end(body)

    async def refuse_head(self, why: str = "") -> None:
        """Answer an invalid request target, or header fields, as Go's server does."""
        self.add_headers([(b"connection", b"close")])
        text = f"400 Bad Request: {why}" if why else "400 Bad Request"
        await self.whole(400, "text/plain; charset=utf-8", text.encode())

    async def text(self, status: int, text: str) -> None:
        """Send plain text as Go's http.Error does."""
        self.add_headers([(b"x-content-type-options", b"nosniff")])
        await self.whole(status, "text/plain; charset=utf-8", text.encode())


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


GZIPPED: Headers = [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]


async def gzip_member(piece: bytes) -> bytes:
    """Return a piece compressed on its own, as upstream does per flush of a streaming WATCH (its 1.37)."""
    if len(piece) <= MOST_AT_ONCE:
        return _member(piece)
    return await asyncio.to_thread(in_thread, _member, piece)


def _member(piece: bytes) -> bytes:
    deflater = isal_zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
    packed: bytes = deflater.compress(piece) + deflater.flush()
    return packed


class Body:
    """Writes a 200 response in pieces; compresses it once it exceeds THRESHOLD_BYTES.

    Until then nothing is sent if the client accepts gzip, because small responses are sent uncompressed.
    Other clients get each piece at once. `held_bytes` are buffered: first those held until compression is
    decided, then compressed ones.
    """

    def __init__(self, response: Response, content_type: str, gzip: bool) -> None:
        self._response = response
        self._content_type = content_type
        self._gzip = gzip
        self._held: list[bytes] = []
        self.held_bytes = 0
        self._deflater: isal_zlib.Compress | None = None

    async def write(self, piece: bytes) -> None:
        if self._deflater is not None:
            await self._deflate(piece)
        elif not self._gzip:
            if not self._response.started:
                await self._response.start(200, self._content_type)
            await self._response.write(piece)
        else:
            self._held.append(piece)
            self.held_bytes += len(piece)
            if self.held_bytes > THRESHOLD_BYTES:
                self._deflater = isal_zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
                await self._response.start(200, self._content_type, GZIPPED)
                held, self._held, self.held_bytes = b"".join(self._held), [], 0
                await self._deflate(held)

    async def end(self) -> None:
        if self._deflater is not None:
            self._held.append(self._deflater.flush())
            await self._response.end(b"".join(self._held))
        elif self._response.started:
            await self._response.end()
        else:
            await self._response.whole(200, self._content_type, b"".join(self._held))

    async def _deflate(self, piece: bytes) -> None:
        assert self._deflater is not None
        if len(piece) <= MOST_AT_ONCE:
            packed = self._deflater.compress(piece)
        else:  # ISA-L releases the GIL: other requests continue meanwhile
            packed = await asyncio.to_thread(in_thread, self._deflater.compress, piece)
        self._held.append(packed)
        self.held_bytes += len(packed)
        if self.held_bytes >= PIECE_BYTES:
            ready, self._held, self.held_bytes = b"".join(self._held), [], 0
            await self._response.write(ready)


# kube-apiserver: truncateAtTotalRunes and truncateItemRunes in endpoints/filters/warning.go.
MAX_CHARACTERS = 4 * 1024
MAX_ITEM_CHARACTERS = 256


def warning_headers(texts: Iterable[str]) -> Headers:
    """Return a header for each distinct text."""
    return [header("warning", f"299 - {quote(text)}") for text in _within_limits(list(dict.fromkeys(texts)))]


def _within_limits(texts: list[str]) -> list[str]:
    """Cut each text to MAX_ITEM_CHARACTERS if they exceed MAX_CHARACTERS; leave out texts after these."""
    fitting = sum(total <= MAX_CHARACTERS for total in accumulate(map(len, texts)))
    if fitting == len(texts):
        return texts
    cut = [text[:MAX_ITEM_CHARACTERS] for text in texts]
    shown = cut[: fitting + 1]
    written = sum(map(len, shown))
    for text in cut[fitting + 1 :]:
        if written >= MAX_CHARACTERS:
            break
        shown.append(text)
        written += len(text)
    return shown
