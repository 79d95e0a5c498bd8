"""Requests that begin in one turn of the loop: a bounded time of them, and every client in rotation."""

from __future__ import annotations

import asyncio
from typing import Any

from ktui.apiserver.http.turns import RELEASED, TURN_SECONDS, Turns

COST = TURN_SECONDS / 10  # of one start


class Starts:
    """Requests whose starts take COST each on the clock; `begun` has their clients, by turn of the loop."""

    def __init__(self) -> None:
        self.now = 0.0
        self.turn = 0
        self.turns = Turns(lambda: self.now)
        self.begun: list[list[str]] = [[]]

    async def start(self, client: str, path: str = "/api/v1/pods") -> None:
        headers = [(b"accept", b"*/*"), (b"authorization", client.encode())] if client else []
        scope: dict[str, Any] = {"path": path, "headers": headers, "client": ("10.0.0.1", 4242)}
        if self.turns.full():
            await self.turns.wait(scope)
        self.now += COST
        self.begun[-1].append(client or path)

    async def all_begun(self) -> None:
        while len(asyncio.all_tasks()) > 1:
            self.begun.append([])
            await asyncio.sleep(0)

    def in_order(self) -> list[str]:
        return [client for turn in self.begun for client in turn]


async def begin(*clients: str) -> Starts:
    starts = Starts()
    tasks = [asyncio.create_task(starts.start(client)) for client in clients]
    await starts.all_begun()
    await asyncio.gather(*tasks)
    return starts


def test_what_fits_into_a_turn_begins_at_once():
    starts = asyncio.run(begin(*"abcde"))
    assert [turn for turn in starts.begun if turn] == [list("abcde")]


def test_a_turn_begins_a_bounded_number_of_a_thousand():
    starts = asyncio.run(begin(*["mallory"] * 1000))
    sizes = [len(turn) for turn in starts.begun if turn]
    assert sum(sizes) == 1000
    assert sizes[0] <= TURN_SECONDS / COST + 1
    assert max(sizes[1:]) <= RELEASED
    assert starts.turns.waiting == 0


def test_the_first_request_of_another_client_does_not_wait_for_a_thousand():
    starts = asyncio.run(begin(*["mallory"] * 1000, "alice", "bob"))
    order = starts.in_order()
    assert order.index("alice") < 30
    assert order.index("bob") < 30


def test_checks_of_health_are_a_client_of_their_own():
    async def run() -> Starts:
        starts = Starts()
        tasks = [asyncio.create_task(starts.start("mallory")) for _ in range(1000)]
        tasks.append(asyncio.create_task(starts.start("", "/healthz")))
        await starts.all_begun()
        await asyncio.gather(*tasks)
        return starts

    assert asyncio.run(run()).in_order().index("/healthz") < 30


def test_a_request_whose_client_goes_while_it_waits_delays_no_other():
    async def run() -> Starts:
        starts = Starts()
        tasks = [asyncio.create_task(starts.start(f"c{number}")) for number in range(100)]
        await asyncio.sleep(0)
        for task in tasks[50:80]:
            task.cancel()
        await starts.all_begun()
        await asyncio.gather(*tasks, return_exceptions=True)
        return starts

    starts = asyncio.run(run())
    assert len(starts.in_order()) == 70
    assert starts.turns.waiting == 0
