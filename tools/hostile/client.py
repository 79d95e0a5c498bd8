"""A minimal HTTP/1.1 client that can send invalid requests."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from tools.hostile.requests import Request

ANSWER_SECONDS = 90.0


class Client:
    """One connection, which is reopened after the server has closed it."""

    def __init__(
        self, host: str, port: int, tls: ssl.SSLContext | None = None, seconds: float = ANSWER_SECONDS
    ) -> None:
        self._address = (host, port)
        self._tls = tls
        self._seconds = seconds
        self._source: asyncio.StreamReader | None = None
        self._sink: asyncio.StreamWriter | None = None

    async def send(self, request: Request) -> tuple[int, bytes]:
        """Return status and body; status 0 if the server closes the connection, -1 if it does not answer."""
        reused = self._sink is not None
        try:
            async with asyncio.timeout(self._seconds):
                return await self._exchange(request)
        except TimeoutError:
            self.close()
            return -1, b""
        except (OSError, EOFError, ValueError):
            self.close()
            return await self.send(request) if reused else (0, b"")

    def close(self) -> None:
        if self._sink is not None:
            self._sink.close()
        self._source = self._sink = None

    async def _exchange(self, request: Request) -> tuple[int, bytes]:
        if self._source is None or self._sink is None or self._sink.is_closing():
            self._source, self._sink = await asyncio.open_connection(
                *self._address, limit=1 << 20, ssl=self._tls
            )
        self._sink.write(request.raw or _encoded(request))
        if request.raw and self._sink.can_write_eof():
            self._sink.write_eof()
        status, body, closes = await _answer(self._source, bodyless=request.method == "HEAD")
        if closes or request.raw:
            self.close()
        return status, body


def _encoded(request: Request) -> bytes:
    lines = [f"{request.method} {request.target} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    lines += [f"Content-Length: {len(request.body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace") + request.body


async def _answer(source: asyncio.StreamReader, *, bodyless: bool) -> tuple[int, bytes, bool]:
    head = (await source.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    status = int(head[0].split()[1])
    headers = dict(line.partition(":")[::2] for line in head[1:] if line)
    closes = "close" in headers.get("connection", "")
    if bodyless or status in (204, 304):
        return status, b"", closes
    if "chunked" in headers.get("transfer-encoding", ""):
        return status, await _chunks(source), closes
    if "content-length" in headers:
        return status, await source.readexactly(int(headers["content-length"])), closes
    with contextlib.suppress(OSError):
        return status, await source.read(), True
    return status, b"", True


async def _chunks(source: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await source.readline()).partition(b";")[0], 16):
        body += await source.readexactly(size)
        await source.readexactly(2)
    await source.readline()
    return body
