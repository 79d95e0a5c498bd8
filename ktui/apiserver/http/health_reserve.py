"""Answer health checks of this machine while all connections are in use.

A kubelet or a load balancer beside the server must learn that it lives. The reserve has a few connections
of its own; each gets one answer over HTTP/1.1. Everything but `/healthz`, `/livez` and `/readyz` gets a 429.
When none is free, a new one takes the place of the oldest whose client had GRACE_SECONDS to ask, and waits
until there is one: many silent ones at once do not close a health check before it is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import ssl
import time
from dataclasses import dataclass

import h11

from ktui.apiserver.http import ASGIApp, Message, Scope
from ktui.apiserver.http.tls import TlsFiles
from ktui.kube.status import StatusError

log = logging.getLogger(__name__)

PLACES = 32
SECONDS = 5.0  # for one connection
GRACE_SECONDS = 0.2  # to send the request, after the connection is taken and again after TLS's handshake
MOST_HEAD_BYTES = 16_384
HEALTH = ("healthz", "livez", "readyz")


def as_body(error: StatusError) -> bytes:
    """Return the JSON of an error that is answered without the application."""
    return json.dumps(error.body()).encode() + b"\n"


_WHY = "Too many connections are open, please try again later."
TOO_MANY = as_body(StatusError(429, "TooManyRequests", _WHY, {"retryAfterSeconds": 1}))
TOO_MANY_HEADERS = [(b"content-type", b"application/json"), (b"retry-after", b"1")]


def is_health_check(path: bytes | str) -> bool:
    """Return whether a path, as sent, is one that the reserve answers."""
    text = path.decode("latin-1") if isinstance(path, bytes) else path
    return text.split("/")[1:2] in ([name] for name in HEALTH)


@dataclass(slots=True)
class _Place:
    """`file` of a connection; `since` when its client is asked to go on (time.monotonic())."""

    file: int
    since: float


class HealthReserve:
    """Serves `app`'s health checks on connections that are handed to it."""

    def __init__(self, app: ASGIApp, tls: TlsFiles | None) -> None:
        self._app = app
        self._tls = tls
        self._context: ssl.SSLContext | None = None
        self._serving: dict[asyncio.Task[None], _Place] = {}

    @property
    def files(self) -> set[int]:
        return {place.file for place in self._serving.values()}

    def has_place(self) -> bool:
        """Return whether a connection may be taken now."""
        return len(self._serving) < PLACES or self._late() is not None

    def take(self, connection: socket.socket) -> None:
        """Serve a connection, and close it. Requires `has_place`."""
        if len(self._serving) >= PLACES and (late := self._late()) is not None:
            del self._serving[late]
            late.cancel()
        place = _Place(connection.fileno(), time.monotonic())
        task = asyncio.create_task(self._serve(connection, place))
        self._serving[task] = place
        task.add_done_callback(self._end)

    def _late(self) -> asyncio.Task[None] | None:
        """Return the one whose client is silent for longest, if that is longer than GRACE_SECONDS."""
        task, place = min(self._serving.items(), key=lambda item: item[1].since)
        return task if time.monotonic() - place.since >= GRACE_SECONDS else None

    async def stop(self) -> None:
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._serving.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a health check failed", exc_info=error)

    async def _serve(self, connection: socket.socket, place: _Place) -> None:
        reader = asyncio.StreamReader(limit=MOST_HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        with connection, contextlib.suppress(OSError, TimeoutError, h11.ProtocolError):
            async with asyncio.timeout(SECONDS):
                transport, _ = await loop.connect_accepted_socket(
                    lambda: protocol, connection, ssl=self._ssl()
                )
                place.since = time.monotonic()
                writer = asyncio.StreamWriter(transport, protocol, reader, loop)
                try:
                    await self._answer(reader, writer)
                    writer.close()
                    await writer.wait_closed()
                finally:
                    transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD_BYTES)
        request = http.next_event()
        while request is h11.NEED_DATA:
            http.receive_data(await reader.read(MOST_HEAD_BYTES))
            request = http.next_event()
        if not isinstance(request, h11.Request):
            return
        status, headers, body = await self._response(request, writer)
        own = (b"content-length", b"connection", b"transfer-encoding")
        kept = [(name, value) for name, value in headers if name.lower() not in own]
        kept += [(b"content-length", str(len(body)).encode()), (b"connection", b"close")]
        pieces = [http.send(h11.Response(status_code=status, headers=kept))]
        pieces.append(http.send(h11.Data(b"" if request.method == b"HEAD" else body)))
        writer.write(b"".join(piece for piece in pieces if piece))
        await writer.drain()

    async def _response(
        self, request: h11.Request, writer: asyncio.StreamWriter
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        raw_path, _, query = request.target.partition(b"?")
        if not is_health_check(raw_path):
            return 429, TOO_MANY_HEADERS, TOO_MANY
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method.decode("ascii"),
            "scheme": "http" if self._tls is None else "https",
            "path": raw_path.decode("ascii"),
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": list(request.headers),
            "client": writer.get_extra_info("peername")[:2],
            "server": writer.get_extra_info("sockname")[:2],
        }
        sent: list[Message] = []

        async def keep(message: Message) -> None:
            sent.append(message)

        received = asyncio.Queue[Message]()  # no body; then the application waits, as the client stays
        received.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        await self._app(scope, received.get, keep)
        body = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], [(bytes(n), bytes(v)) for n, v in sent[0].get("headers", ())], body

    def _ssl(self) -> ssl.SSLContext | None:
        if self._tls is not None and self._context is None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(self._tls.cert, self._tls.key)
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context
