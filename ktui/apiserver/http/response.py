"""One HTTP response, sent in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ktui.apiserver.http.asgi import Send

Headers = list[tuple[str, str]]


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

    def add_headers(self, headers: Iterable[tuple[str, str]]) -> None:
        """Add headers to send with the status."""
        self._headers.extend(headers)

    def replace_header(self, name: str, value: str) -> None:
        """Send a header with this value instead of the values added before."""
        self._headers = [(key, sent) for key, sent in self._headers if key != name]
        self._headers.append((name, value))

    async def start(self, status: int, content_type: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        self.status = status
        typed = [("content-type", content_type)] if content_type else []
        every = dict.fromkeys([*typed, *self._headers, *headers])  # without duplicates
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in every],
            }
        )
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
        """Send a complete body."""
        await self.start(status, content_type, [("content-length", str(len(body)))])
        await self.end(body)

    async def refuse_head(self, why: str = "") -> None:
        """Answer an invalid request target, or header fields, as Go's server does."""
        self.add_headers([("connection", "close")])
        text = f"400 Bad Request: {why}" if why else "400 Bad Request"
        await self.whole(400, "text/plain; charset=utf-8", text.encode())

    async def text(self, status: int, text: str) -> None:
        """Send plain text as Go's http.Error does."""
        self.add_headers([("x-content-type-options", "nosniff")])
        await self.whole(status, "text/plain; charset=utf-8", text.encode())
