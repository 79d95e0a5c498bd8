"""The telemetry of a server, as a dashboard gets it: what tests wait for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import httpx

from ktui.contract.events import AnyEvent, RequestFinished, WatcherState
from ktui.telemetry.bus import Subscription

E = TypeVar("E")


class Told:
    """Reads on from where it was left; everything that is not asked for is passed over."""

    def __init__(self, subscription: Subscription) -> None:
        self._events = self._flat(subscription)

    async def _flat(self, subscription: Subscription) -> AsyncIterator[AnyEvent]:
        async for batch in subscription.batches():
            for event in batch:
                yield event

    async def next(self, kind: type[E], holds: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of this kind of which that holds."""
        async with asyncio.timeout(60):
            async for event in self._events:
                if isinstance(event, kind) and holds(event):
                    return event
        raise AssertionError(f"the stream ended before a {kind.__name__}")

    async def account(self, answer: httpx.Response) -> RequestFinished:
        """That of a request which was answered: another one's may still be on its way."""
        return await self.next(RequestFinished, lambda event: event.id == request_id(answer))

    async def live(self, count: int) -> None:
        """Wait until `count` WATCHes have caught up."""
        found: set[int] = set()
        while len(found) < count:
            found.add((await self.next(WatcherState, lambda state: state.live)).id)


def request_id(answer: httpx.Response) -> int:
    return int(answer.headers["x-ktui-request-id"])
