"""Split a WATCH's stream into events: one line of JSON each."""

from __future__ import annotations

from collections.abc import AsyncGenerator

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
