"""Bodies in pieces: nothing is lost, and others get a turn."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from ktui.client.list_stream import PIECE_BYTES, pieces


async def _chunks(chunks: Sequence[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def _pieces_of(chunks: Sequence[bytes]) -> list[bytes]:
    return [piece async for piece in pieces(_chunks(chunks))]


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES + 7])
def test_pieces_are_the_body(size: int) -> None:
    body = bytes(size)
    found = asyncio.run(_pieces_of([body, b"end"]))
    assert b"".join(found) == body + b"end"
    assert max(map(len, found)) <= PIECE_BYTES


def test_other_tasks_run_between_two_pieces_of_a_chunk() -> None:
    done: list[str] = []

    async def other() -> None:
        for _ in range(4):
            done.append("other")
            await asyncio.sleep(0)

    async def both() -> None:
        task = asyncio.create_task(other())
        async for _ in pieces(_chunks([bytes(5 * PIECE_BYTES)])):
            done.append("piece")
        await task

    asyncio.run(both())
    assert done == ["piece", "other"] * 4 + ["piece"]
