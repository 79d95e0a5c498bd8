"""Drives an ASGI callable or a handler without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response


@dataclass
class Answer:
    """What came back; `pieces` are the body as it was sent."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    pieces: list[bytes] = field(default_factory=list)
    ended: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif message.get("body"):
            self.pieces.append(message["body"])
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.ended = True


class Exchange:
    """One request and its answer; `hang_up()` makes the client go away."""

    def __init__(
        self,
        path: str = "/",
        *,
        method: str = "GET",
        query: str = "",
        headers: Mapping[str, str] | Sequence[tuple[str, str | bytes]] | None = None,
        client: tuple[str, int] | None = None,
    ) -> None:
        pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "client": client,
            "headers": [
                (name.lower().encode(), value.encode() if isinstance(value, str) else value)
                for name, value in pairs
            ],
        }
        self.answer = Answer()
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.request = Request(self.scope, self._inbox.get)
        self.response = Response(self.answer.send, bodyless=method == "HEAD")

    def body(self, *pieces: bytes) -> Exchange:
        for at, piece in enumerate(pieces):
            self._inbox.put_nowait({"type": "http.request", "body": piece, "more_body": at < len(pieces) - 1})
        return self

    def hang_up(self) -> None:
        self._inbox.put_nowait({"type": "http.disconnect"})
