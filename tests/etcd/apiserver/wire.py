"""HTTP as bytes on a connection: what no client library sends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Reply:
    """`rest` is what came after the head, until the server closed the connection or the body was complete."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> str:
        """The message of a Status; AssertionError if the body is not one."""
        document: dict[str, Any] = json.loads(self.body)
        assert (document["kind"], document["code"]) == ("Status", self.status), document
        message: str = document["message"]
        return message


async def exchange(url: str, sent: bytes, *, end: bool = False) -> Reply:
    """Send bytes over a connection of their own; with `end` say that no more will follow."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(sent)
        await writer.drain()
        if end:
            writer.write_eof()
        async with asyncio.timeout(60):
            return await _reply(reader)
    finally:
        writer.close()


async def _reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Reply(int(first.split()[1]), headers, body)
