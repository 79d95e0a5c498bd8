"""Limit the number of concurrent requests with large bodies, and free the memory of their documents."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from ktui.kube.status import too_many_requests
from ktui.telemetry.off_loop import COLLECTOR, free_trees

AT_ONCE = 6
EACH_AT_ONCE = 2
MOST_WAITING = 128
EACH_WAITING = 64


class LargeRequests:
    """Places for requests with large bodies: a few for each user, in turns with the others.

    Further requests wait, and beyond `most_waiting` (`each_waiting` of one user) are refused.
    """

    def __init__(
        self,
        at_once: int = AT_ONCE,
        each_at_once: int = EACH_AT_ONCE,
        most_waiting: int = MOST_WAITING,
        each_waiting: int = EACH_WAITING,
    ) -> None:
        self._free, self._each = at_once, each_at_once
        self._most_waiting, self._each_waiting = most_waiting, each_waiting
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by user, in the order of their turns

    async def enter(self, user: str = "") -> None:
        """Wait for a place; raise StatusError 429 if too many requests wait."""
        if self._free and self._held[user] < self._each:
            self._take(user)
            return
        queue = self._waiting.setdefault(user, deque())
        if len(queue) >= self._each_waiting or sum(map(len, self._waiting.values())) >= self._most_waiting:
            raise too_many_requests("Too many requests, please try again later.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(user)
            elif turn in queue:
                queue.remove(turn)
            raise

    def leave(self, user: str = "") -> None:
        """Release the place for the next request."""
        self._free += 1
        self._held[user] -= 1
        while self._free and (turn := self._next()) is not None:
            turn.set_result(None)

    def _take(self, user: str) -> None:
        self._free -= 1
        self._held[user] += 1

    def _next(self) -> asyncio.Future[None] | None:
        """Take a place for the first request of the next user, who then waits behind the others."""
        self._held = +self._held
        for user, queue in [*self._waiting.items()]:
            while queue and queue[0].done():
                queue.popleft()
            if not queue:
                del self._waiting[user]
            elif self._held[user] < self._each:
                turn = queue.popleft()
                del self._waiting[user]
                if queue:
                    self._waiting[user] = queue
                self._take(user)
                return turn
        return None


class LargeRequest:
    """A large request: until its response begins it has a place, and is cancelled if its client disconnects.

    `gone`: that has happened. `pauses`: it has begun a pause of the garbage collector, for its trees.
    """

    gone = pauses = False
    _leaving: asyncio.Task[None] | None = None  # while it has a place

    def __init__(self, places: LargeRequests, user: str) -> None:
        self._places = places
        self._user = user

    async def enter(self, disconnection: Callable[[], asyncio.Task[None]]) -> None:
        """Wait for a place; raise StatusError 429."""
        task = asyncio.current_task()
        assert task is not None

        async def cancel_when_gone() -> None:
            await disconnection()
            self.gone = True
            task.cancel()

        leaving = asyncio.ensure_future(cancel_when_gone())
        try:
            await self._places.enter(self._user)
        except BaseException:
            leaving.cancel()
            raise
        self._leaving = leaving
        self.pauses = True
        COLLECTOR.begin()

    def leave(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None  # its CancelledError has this request: no cycle is left
            self._places.leave(self._user)


_FREEING: set[asyncio.Task[None]] = set()


def free_later(trees: list[Any], *, paused: bool) -> None:
    """Free the trees of a request piece by piece; `paused`: it has begun a pause of the garbage collector."""
    if not paused:
        COLLECTOR.begin()
    freeing = asyncio.ensure_future(_free(trees))
    _FREEING.add(freeing)
    freeing.add_done_callback(_FREEING.discard)


async def _free(trees: list[Any]) -> None:
    try:
        await free_trees(trees)
    finally:
        COLLECTOR.end()
