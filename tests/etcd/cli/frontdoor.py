"""What a real kube-apiserver is for its clients: `ktui serve` behind a door that takes away all that
only ktui tells, and that can be as troublesome as the world is.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from ktui.client.connection import ServerConnection
from tests.etcd.serving import plain_client

OWN = ("x-ktui", "server-timing")
HOP = ("transfer-encoding", "content-length", "content-encoding", "connection")
TOKEN = "front-door"


@dataclass
class Trouble:
    """What the door does beside letting through. Bodies break off after `vanish_after` bytes."""

    metrics: int = 200
    token: str = TOKEN
    busy: int = 0  # LISTs that are answered with 429 first
    vanish_after: int | None = None
    meanwhile: str = ""  # another client's request, at each LIST


@dataclass
class FrontDoor:
    upstream: ServerConnection
    tls: tuple[Path, Path] | None = None  # certificate and key
    client_ca: Path | None = None  # who signs those of the clients
    trouble: Trouble = field(default_factory=Trouble)
    seen: list[str] = field(default_factory=list)
    url: str = ""

    async def open(self) -> None:
        context = None
        if self.tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.tls)
            if self.client_ca is not None:
                context.load_verify_locations(self.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
        self._http = plain_client(self.upstream.url, headers=dict(self.upstream.headers()), timeout=60)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{port}"

    async def close(self) -> None:
        self._server.close()
        await self._http.aclose()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            request, *lines = head.split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
            await self._answer(request.split()[1], headers, writer)
            await writer.drain()
        writer.close()

    async def _answer(self, target: str, headers: dict[str, str], writer: asyncio.StreamWriter) -> None:
        self.seen.append(target)
        path, trouble = target.partition("?")[0], self.trouble
        listing = path.startswith(("/api/v1/", "/apis/")) and not (
            "flowcontrol" in path or "limit=1" in target
        )
        if trouble.token and headers.get("authorization", "") != f"bearer {trouble.token}":
            _whole(writer, 401, b'{"kind":"Status","message":"Unauthorized"}')
        elif path.startswith("/ktui") or path == "/telemetry":
            _whole(writer, 404, b"404 page not found")
        elif path == "/metrics" and trouble.metrics != 200:
            _whole(writer, trouble.metrics, b'{"kind":"Status","message":"forbidden"}')
        elif listing and trouble.busy:
            trouble.busy -= 1
            _whole(writer, 429, b'{"kind":"Status","message":"too many"}', "Retry-After: 1")
        else:
            if listing and trouble.meanwhile:
                await self._http.get(trouble.meanwhile)
            await self._through(target, headers, writer, trouble.vanish_after if listing else None)

    async def _through(
        self, target: str, headers: dict[str, str], writer: asyncio.StreamWriter, room: int | None
    ) -> None:
        asked = {name: headers[name] for name in ("accept", "user-agent") if name in headers}
        async with self._http.stream("GET", target, headers=asked) as answer:
            kept = [
                f"{name}: {value}"
                for name, value in answer.headers.items()
                if not name.startswith((*OWN, *HOP))
            ]
            head = [
                f"HTTP/1.1 {answer.status_code} X",
                *kept,
                "Transfer-Encoding: chunked",
                "Connection: close",
            ]
            writer.write("\r\n".join([*head, "", ""]).encode())
            async for chunk in _cut(answer.aiter_bytes(), room):
                if chunk is None:
                    return  # gone, in the middle of the body
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await writer.drain()
            writer.write(b"0\r\n\r\n")


async def _cut(chunks: AsyncIterator[bytes], room: int | None) -> AsyncIterator[bytes | None]:
    async for chunk in chunks:
        if room is not None and len(chunk) >= room:
            yield chunk[:room]
            yield None
            return
        room = room - len(chunk) if room is not None else None
        yield chunk


def _whole(writer: asyncio.StreamWriter, status: int, body: bytes, *headers: str) -> None:
    lines = [
        f"HTTP/1.1 {status} X",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
