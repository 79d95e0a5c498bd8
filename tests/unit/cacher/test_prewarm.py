"""What is built before the first request, and what is not."""

from __future__ import annotations

import asyncio

import pytest

from ktui.cacher.resource_cache import LARGE, prewarm
from ktui.cacher.sorted_store import SortedStore
from ktui.storage.errors import UnreadableError


class Item:
    size = 3

    def __init__(self, number: int, asked: list[str], readable: bool) -> None:
        self.key = f"{number:05d}"
        self._asked, self._readable = asked, readable

    def item_pieces(self) -> tuple[bytes, ...]:
        self._asked.append(self.key)
        if not self._readable:
            raise UnreadableError(self.key, "it is encrypted")
        return (b"{}",)


@pytest.mark.parametrize(
    ("count", "readable", "expected"),
    [(0, True, []), (LARGE - 1, True, []), (LARGE, True, ["00000"]), (LARGE, False, ["00000"])],
)
def test_one_object_of_a_large_cache_is_transcoded_once_it_is_filled(count, readable, expected):
    asked: list[str] = []

    async def run() -> list[str]:
        filled, store = asyncio.Event(), SortedStore()
        prewarming = asyncio.create_task(prewarm(filled, store))
        await asyncio.sleep(0)
        store.replace([Item(number, asked, readable) for number in range(count)])
        before = list(asked)
        filled.set()
        await prewarming
        return before

    assert asyncio.run(run()) == []
    assert asked == expected
