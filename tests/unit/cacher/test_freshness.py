from __future__ import annotations

import asyncio

import pytest

from ktui.cacher.freshness import Freshness
from ktui.cacher.progress import ProgressRequester


def test_waiters_wake_in_the_order_of_what_they_wait_for():
    async def run():
        freshness, woken = Freshness(), []

        async def wait(rv: int) -> None:
            assert await freshness.wait(rv)
            woken.append(rv)

        tasks = [asyncio.create_task(wait(rv)) for rv in (30, 10, 20)]
        await asyncio.sleep(0)
        assert freshness.waiting == 3
        freshness.advance(19)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert woken == [10]
        assert freshness.waiting == 2
        freshness.advance(30)
        await asyncio.gather(*tasks)
        return woken, freshness.waiting

    assert asyncio.run(run()) == ([10, 20, 30], 0)


def test_what_is_reached_already_is_not_waited_for():
    freshness = Freshness()
    freshness.advance(10)
    freshness.advance(5)
    assert freshness.rv == 10
    assert asyncio.run(freshness.wait(10, within=0))


def test_a_wait_gives_up_and_is_forgotten():
    async def run():
        freshness = Freshness()
        assert not await freshness.wait(10, within=0.001)
        return freshness.waiting

    assert asyncio.run(run()) == 0


def test_a_cancelled_wait_is_forgotten():
    async def run():
        freshness = Freshness()
        task = asyncio.create_task(freshness.wait(10))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        freshness.advance(20)
        return freshness.waiting

    assert asyncio.run(run()) == 0


def test_progress_is_asked_for_at_once_then_periodically_and_only_while_somebody_waits():
    async def run():
        asked: list[float] = []
        enough = asyncio.Event()
        loop = asyncio.get_running_loop()

        async def ask() -> None:
            asked.append(loop.time())
            if len(asked) == 3:
                enough.set()

        requester, started = ProgressRequester(period=0.02), loop.time()
        with requester.asking(ask), requester.asking(ask):
            await enough.wait()
        await requester._task
        return [at - started for at in asked]

    first, second, third = asyncio.run(run())
    assert first < 0.015
    assert second - first >= 0.019
    assert third - second >= 0.019
