"""The lines of a WATCH, and what is decoded of an event."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec

LONGEST_LINE = 16 * 1024 * 1024


async def watch_lines(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a stream, each with its newline. A line longer than 16 MiB ends the iteration."""
    rest = b""
    try:
        async for piece in pieces:
            *whole, rest = (rest + piece).splitlines(keepends=True) or [b""]
            if rest.endswith(b"\n"):
                whole, rest = [*whole, rest], b""
            for line in whole:
                yield line
            if len(rest) > LONGEST_LINE:
                return
    finally:
        await pieces.aclose()


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    code: int = 0  # of a Status
    rows: list[ReceivedEvent] = []  # of a Table: each has the object of its row


class ReceivedEvent(msgspec.Struct):
    type: str = ""
    object: _Object = msgspec.field(default_factory=_Object)


EVENT = msgspec.json.Decoder(ReceivedEvent)
