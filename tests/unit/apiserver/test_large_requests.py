"""Places for requests with large bodies, and turns of bodies at the parser processes."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from ktui.apiserver.large_requests import LargeRequests
from ktui.apiserver.parsing.pool import ParserPool
from ktui.kube.status import StatusError
from ktui.telemetry.meter import Meter, metered

pytestmark = pytest.mark.anyio


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_user_with_many_requests_leaves_places_to_others() -> None:
    places = LargeRequests(at_once=3, each_at_once=2, most_waiting=4, each_waiting=2)
    for _ in range(2):
        await places.enter("a")
    waiting = [asyncio.create_task(places.enter("a")) for _ in range(2)]
    await settled()
    with pytest.raises(StatusError, match="Too many requests"):
        await places.enter("a")
    await places.enter("b")
    third = asyncio.create_task(places.enter("c"))
    await settled()
    assert not third.done() and not any(each.done() for each in waiting)
    places.leave("a")  # a's next is first in line
    await settled()
    assert waiting[0].done() and not third.done()
    places.leave("b")
    await settled()
    assert third.done() and not waiting[1].done()
    places.leave("c")  # free, but a has two
    await settled()
    assert not waiting[1].done()
    waiting[1].cancel()
    with suppress(asyncio.CancelledError):
        await waiting[1]
    for user in ("a", "a"):
        places.leave(user)
    for user in ("x", "y", "z"):
        await places.enter(user)


async def test_a_place_that_is_given_to_a_cancelled_request_goes_to_the_next() -> None:
    places = LargeRequests(at_once=1)
    await places.enter("a")
    first, second = (asyncio.create_task(places.enter(user)) for user in "bc")
    await settled()
    places.leave("a")
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    await second


async def test_bodies_of_one_user_leave_a_process_to_others() -> None:
    pool, order = ParserPool(processes=2, each=1), list[str]()
    release = asyncio.Event()

    async def parse(user: str, size: int) -> None:
        with metered(Meter(user=user)):
            async with pool._turn(size):
                order.append(f"{user}{size}")
                await release.wait()

    tasks = [asyncio.create_task(parse("a", size)) for size in (9, 5, 7)]
    await settled()
    assert order == ["a9"]
    tasks.append(asyncio.create_task(parse("b", 8)))
    await settled()
    assert order == ["a9", "b8"]
    tasks[1].cancel()
    release.set()
    await asyncio.wait(tasks)
    assert order == ["a9", "b8", "a7"]
