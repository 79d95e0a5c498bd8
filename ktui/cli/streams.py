"""Read a child process' output line by line, whatever the length of a line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

LONGEST = 8192  # bytes of a line that are kept
_CHUNK = 1 << 16


async def lines_of(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield each line without its end, cut at LONGEST bytes. (asyncio's iteration fails at a long line.)"""
    rest = b""
    while chunk := await stream.read(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line[:LONGEST].decode("utf-8", "replace").rstrip()
        rest = rest[:LONGEST]
    if rest:
        yield rest.decode("utf-8", "replace").rstrip()
