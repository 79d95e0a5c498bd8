"""CPU work in threads: fair to users, and ended when no request waits for it."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from ktui.telemetry.large_work import LargeWork

pytestmark = pytest.mark.anyio


def endless(begun: threading.Event, ended: threading.Event) -> Callable[[], None]:
    def work() -> None:
        begun.set()
        try:
            while True:
                pass
        finally:
            ended.set()

    return work


async def started(work: LargeWork, user: str) -> tuple[asyncio.Task[None], threading.Event]:
    begun, ended = threading.Event(), threading.Event()
    task = asyncio.create_task(work.run(endless(begun, ended), user))
    assert await asyncio.to_thread(begun.wait, 30)
    return task, ended


class Tree:
    """Stands for what a large request holds."""


async def test_an_error_keeps_nothing_of_its_frames() -> None:
    """No cycle through its traceback: trees of refused requests would wait for the garbage collector."""
    work, kept = LargeWork(), list[weakref.ref[Tree]]()

    def refuse() -> None:
        tree = Tree()
        kept.append(weakref.ref(tree))
        raise ValueError(len(kept))

    async def handle() -> None:
        tree = Tree()
        kept.append(weakref.ref(tree))
        await work.run(refuse, "a")

    gc.disable()
    try:
        with pytest.raises(ValueError, match="2"):
            await handle()
        await work.run(int, "a")  # the thread has forgotten the work before
        assert [each() for each in kept] == [None, None]
    finally:
        gc.enable()


async def test_results_and_errors_come_from_a_thread() -> None:
    work = LargeWork()
    assert await work.run(threading.get_ident, "a") != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await work.run(lambda: 1 // 0, "a")  # type: ignore[arg-type]
    assert work.users == []


async def test_cancelled_work_ends_and_its_thread_does_other_work() -> None:
    work = LargeWork(threads=1)
    task, ended = await started(work, "a")
    waiting = asyncio.create_task(work.run(lambda: "b", "b"))
    never = asyncio.create_task(work.run(lambda: pytest.fail("no request waits for it"), "a"))
    await asyncio.sleep(0)
    never.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 30)
    assert await waiting == "b"
    for _ in range(50):  # no exception is left over for them
        assert await work.run(lambda: sum(range(100)), "a") == 4950
    assert work.users == []


class Gate(threading.Condition):
    """As a thread leaves the lock for the `at`th time, it waits until `then` was called by the loop."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at, self._loop, self._main = at, asyncio.get_running_loop(), threading.get_ident()
        self._passed = threading.Event()
        self.then: Callable[[], object] = lambda: None

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)
        if threading.get_ident() == self._main:
            return
        self._at -= 1
        if self._at == 0:
            self._loop.call_soon_threadsafe(self.then)
            self._passed.wait(60)

    def open(self, *_: object) -> None:
        self._passed.set()


@pytest.mark.parametrize("at", [1, 2])
async def test_work_that_is_cancelled_as_it_begins_or_ends_leaves_its_thread_usable(at: int) -> None:
    work = LargeWork(threads=1)
    work._changed = gate = Gate(at)
    task = asyncio.create_task(work.run(lambda: 1, "a"))
    task.add_done_callback(gate.open)
    gate.then = task.cancel
    await asyncio.wait([task])
    async with asyncio.timeout(60):
        assert await work.run(lambda: 2, "a") == 2
    assert work.users == []


async def test_work_that_catches_the_exception_is_ended_again() -> None:
    work, begun, caught = LargeWork(threads=1), threading.Event(), []

    def stubborn() -> None:
        begun.set()
        while len(caught) < 3:
            try:
                while True:
                    pass
            except BaseException as error:
                caught.append(type(error).__name__)

    task = asyncio.create_task(work.run(stubborn, "a"))
    await asyncio.to_thread(begun.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await work.run(lambda: 1, "b") == 1
    assert caught == ["Ended"] * 3


async def test_one_user_occupies_one_thread() -> None:
    work = LargeWork(threads=2)
    task, _ = await started(work, "a")
    more = [asyncio.create_task(work.run(lambda: "a", "a")) for _ in range(10)]
    await asyncio.sleep(0)
    assert await work.run(lambda: "b", "b") == "b"
    assert not any(each.done() for each in more)
    task.cancel()
    assert await asyncio.gather(*more) == ["a"] * 10


async def test_users_take_turns() -> None:
    work, order = LargeWork(threads=1), []
    task, _ = await started(work, "z")
    waiting = [
        asyncio.create_task(work.run(lambda name=name: order.append(name), name))  # type: ignore[misc]
        for name in ("a", "a", "a", "b", "c", "c")
    ]
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(*waiting)
    assert order == ["a", "b", "c", "a", "c", "a"]


async def test_all_work_ends_when_the_server_stops() -> None:
    work = LargeWork(threads=1)
    task, ended = await started(work, "a")
    waiting = asyncio.create_task(work.run(lambda: 1, "b"))
    await asyncio.sleep(0)
    work.end_all()
    for each in (task, waiting):
        with pytest.raises(asyncio.CancelledError):
            await each
    assert await asyncio.to_thread(ended.wait, 30)
    assert await work.run(lambda: 1, "a") == 1
