"""Spread the starts of requests over the turns of the event loop.

Connections of HTTP/2, or thousands of clients, begin many requests in one turn of the loop, and everything
else would wait until all of them have begun. So a turn begins requests for TURN_SECONDS. Further ones wait,
in a queue for each client, and later turns begin RELEASED of them, one of each queue in rotation: a client
with a thousand requests does not delay another one's first.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable

from ktui.apiserver.http import Scope
from ktui.apiserver.http.health_reserve import is_health_check

TURN_SECONDS = 0.005
RELEASED = 8  # a turn later they take about a millisecond
_HEALTH = "health"


class Turns:
    """Decides which requests begin in this turn of the running loop."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._queues: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()
        self._open = False  # a request has begun in this turn
        self._until = 0.0

    @property
    def waiting(self) -> int:
        """How many requests wait for a later turn."""
        return sum(map(len, self._queues.values()))

    def full(self) -> bool:
        """Return whether a request has to `wait`."""
        if not self._open:
            self._open = True
            self._until = self._clock() + TURN_SECONDS
            asyncio.get_running_loop().call_soon(self._next)
        return bool(self._queues) or self._clock() > self._until

    async def wait(self, scope: Scope) -> None:
        future = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client_of(scope), deque()).append(future)
        await future

    def _next(self) -> None:
        self._open = False
        released = 0
        while self._queues and released < RELEASED:
            client, queue = self._queues.popitem(last=False)
            future = queue.popleft()
            if queue:
                self._queues[client] = queue
            if not future.done():  # the client has not gone
                future.set_result(None)
                released += 1
        if self._queues:
            self._open = True
            self._until = 0.0
            asyncio.get_running_loop().call_soon(self._next)


def client_of(scope: Scope) -> Hashable:
    """Return what identifies a client: credentials, else the connection; all checks of health are one."""
    if is_health_check(scope["path"]):
        return _HEALTH
    sent = (value for name, value in scope["headers"] if name == b"authorization")
    return next(sent, None) or scope.get("client")
