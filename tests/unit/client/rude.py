"""An HTTP server of one's own that answers whatever bytes it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator, Callable, Iterable

from ktui.client.connection import ServerConnection

Answer = bytes | Iterable[bytes]


def whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A well-formed answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def endless(first: bytes, then: bytes, *headers: str) -> Iterable[bytes]:
    """A body without an end."""
    yield "\r\n".join(["HTTP/1.1 200 OK", *headers, "", ""]).encode() + first
    while True:
        yield then


HTML = whole(b"<!DOCTYPE html><html><body>log in first</body></html>", "Content-Type: text/html")
DEEP = whole(b'{"metadata":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001)
WRONG = whole(b'[1, 2, {"kind": 7}]')
NOT_UTF8 = whole(b'{"kind":"PodList","metadata":{"resourceVersion":"\xff\xfe"},"items":[]}')
HALF = whole(b"x" * 100)[:-90]
SHORT = whole(b'{"kind":"PodList","metadata":{"resourceVersion":"1"')  # the body ends, and says so
DAMAGED = whole(gzip.compress(b"{}" * 1000)[:10] + b"\xff" * 30, "Content-Encoding: gzip")
CUT_GZIP = whole(gzip.compress(bytes(100_000))[:40], "Content-Encoding: gzip")
NO_HTTP = b"\x00\x01\x02 SSH-2.0-OpenSSH\r\n\r\n"
CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"
NOTHING = b""
ODD_HEADERS = whole(
    b"{}",
    "X-Ktui-Request-Id: \xb2",
    f"X-Ktui-Cost: fetched={'9' * 5000}, returned=\xb2, seats",
    "Retry-After: " + "9" * 5000,
    "X-Ktui-Route: \x9b31m",
)
BROKEN = {
    "html": HTML,
    "deep": DEEP,
    "wrong": WRONG,
    "not utf-8": NOT_UTF8,
    "half": HALF,
    "short": SHORT,
    "damaged gzip": DAMAGED,
    "cut gzip": CUT_GZIP,
    "no http": NO_HTTP,
    "chunks": CHUNKS,
    "nothing": NOTHING,
}


@contextlib.asynccontextmanager
async def rude_server(answer: Callable[[str, str], Answer]) -> AsyncIterator[ServerConnection]:
    """`answer` is given the path and the head of each request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            made = answer(head.split()[1], head)
            for piece in [made] if isinstance(made, bytes) else made:
                writer.write(piece)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield ServerConnection(f"http://127.0.0.1:{port}")
