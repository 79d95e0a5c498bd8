"""What a component says of itself."""

from __future__ import annotations

import asyncio

from ktui.apiserver.verbs import components


def test_head_and_body_need_not_come_together() -> None:
    async def scenario() -> bytes:
        reader = asyncio.StreamReader()
        reading = asyncio.create_task(components._read_all(reader))
        for piece in (b"HTTP/1.1 200 OK\r\n\r\n", b"o", b"k"):
            reader.feed_data(piece)
            await asyncio.sleep(0)
        reader.feed_eof()
        return await reading

    assert asyncio.run(scenario()) == b"HTTP/1.1 200 OK\r\n\r\nok"
