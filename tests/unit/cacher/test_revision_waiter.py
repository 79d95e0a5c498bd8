from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ktui.cacher import progress as module
from ktui.cacher.progress import ProgressRequester
from ktui.cacher.watch_cache import RevisionWaiter
from ktui.supervision import Supervisor


def test_waiters_wake_in_the_order_of_what_they_wait_for():
    async def run():
        waiter, woken = RevisionWaiter(), []

        async def wait(rv: int) -> None:
            assert await waiter.wait(rv)
            woken.append(rv)

        tasks = [asyncio.create_task(wait(rv)) for rv in (30, 10, 20)]
        await asyncio.sleep(0)
        assert waiter.waiting == 3
        waiter.advance(19)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert woken == [10]
        assert waiter.waiting == 2
        waiter.advance(30)
        await asyncio.gather(*tasks)
        return woken, waiter.waiting

    assert asyncio.run(run()) == ([10, 20, 30], 0)


def test_what_is_reached_already_is_not_waited_for():
    waiter = RevisionWaiter()
    waiter.advance(10)
    waiter.advance(5)
    assert waiter.rv == 10
    assert asyncio.run(waiter.wait(10, within=0))


def test_a_wait_gives_up_and_is_forgotten():
    async def run():
        waiter = RevisionWaiter()
        assert not await waiter.wait(10, within=0.001)
        return waiter.waiting

    assert asyncio.run(run()) == 0


def test_a_cancelled_wait_is_forgotten():
    async def run():
        waiter = RevisionWaiter()
        task = asyncio.create_task(waiter.wait(10))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        waiter.advance(20)
        return waiter.waiting

    assert asyncio.run(run()) == 0


def test_progress_is_requested_at_once_then_periodically_and_only_while_a_reader_waits(monkeypatch):
    now, slept = 100.0, []
    go_on = asyncio.sleep

    async def sleep(seconds: float) -> None:
        nonlocal now
        slept.append(seconds)
        now += seconds
        await go_on(0)

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(module.asyncio, "sleep", sleep)

    async def run():
        asked: list[float] = []
        enough = asyncio.Event()

        async def ask() -> None:
            asked.append(now)
            if len(asked) == 3:
                enough.set()

        requester = ProgressRequester(Supervisor(), period=5.0)
        with requester.asking(ask), requester.asking(ask):
            await enough.wait()
        await requester._task
        return asked

    asked = asyncio.run(run())
    assert asked == [100.0, 105.0, 110.0]
    assert slept[:3] == [0.0, 5.0, 5.0]
