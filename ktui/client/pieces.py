"""A body in small pieces, so that whoever else runs in this loop gets a turn between two."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

# Counting the items of so much takes less than a millisecond.
PIECE_BYTES = 128 * 1024


async def pieces(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """`chunks`, the large ones cut.

    What comes from the network at once is small, but unpacked it may be a megabyte and a half of JSON:
    keys that are pressed meanwhile would wait for each such chunk several times over.
    """
    async for chunk in chunks:
        yield chunk[:PIECE_BYTES]
        for start in range(PIECE_BYTES, len(chunk), PIECE_BYTES):
            await asyncio.sleep(0)
            yield chunk[start : start + PIECE_BYTES]
