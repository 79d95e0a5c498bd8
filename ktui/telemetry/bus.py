"""The event bus: publishers never block, slow subscribers lose events and learn how many."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import closing

import msgspec.structs

from ktui.contract.events import AnyEvent, Dropped

# A dashboard reads at 10 Hz; 20,000 covers two seconds of a storm of 10,000 events/s.
DEFAULT_BACKLOG = 20_000


class Subscription:
    """A subscriber's bounded queue. When it is full, the oldest events are dropped and counted."""

    def __init__(self, bus: Bus, backlog: int) -> None:
        self._bus = bus
        self._queue: deque[AnyEvent] = deque()
        self._backlog = backlog
        self._wake = asyncio.Event()
        self._dropped = 0
        self._closed = False

    def offer(self, event: AnyEvent) -> None:
        if len(self._queue) >= self._backlog:
            self._queue.popleft()
            self._dropped += 1
        self._queue.append(event)
        self._wake.set()

    def close(self) -> None:
        self._closed = True
        self._wake.set()
        self._bus.unsubscribe(self)

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        """Yield the events since the last batch; ends once the subscription is closed."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch: list[AnyEvent] = []
            if self._dropped:
                batch.append(Dropped(count=self._dropped, at=self._bus.now()))
                self._dropped = 0
            while self._queue:
                batch.append(self._queue.popleft())
            if batch:
                yield batch
            if self._closed:
                return


class Bus:
    """Numbers events and passes them to every subscriber."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self._seq = 0
        self._subscriptions: list[Subscription] = []
        self.watched = False  # there are subscribers: without any, no event need be made
        # Return events that describe the current state, which a new subscriber receives first.
        self._snapshots: list[Callable[[], Iterable[AnyEvent]]] = []

    def publish(self, event: AnyEvent) -> None:
        self._seq += 1
        if not self._subscriptions:
            return
        event = msgspec.structs.replace(event, seq=self._seq, at=event.at or self.now())
        for subscription in self._subscriptions:
            subscription.offer(event)

    def skip(self) -> None:
        """Number an event without subscribers, instead of making it."""
        self._seq += 1

    def add_snapshot(self, describe: Callable[[], Iterable[AnyEvent]]) -> None:
        self._snapshots.append(describe)

    def present(self) -> Iterator[AnyEvent]:
        """Yield events that describe the current state; a new subscriber receives them first."""
        for describe in self._snapshots:
            for event in describe():
                yield msgspec.structs.replace(event, seq=self._seq, at=event.at or self.now())

    def subscribe(self, backlog: int = DEFAULT_BACKLOG) -> Subscription:
        subscription = Subscription(self, backlog)
        for event in self.present():
            subscription.offer(event)
        self._subscriptions.append(subscription)
        self.watched = True
        return subscription

    async def follow(self, take: Callable[[AnyEvent], None]) -> None:
        """Pass each event to `take`, until cancelled."""
        with closing(self.subscribe()) as subscription:
            async for batch in subscription.batches():
                for event in batch:
                    take(event)

    def unsubscribe(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            self.watched = bool(self._subscriptions)


PUBLISH_SECONDS = 0.25  # between two states of the same part


class StatePublisher:
    """Calls `publish` soon after each call of `changed`, while the bus has subscribers."""

    def __init__(self, bus: Bus, publish: Callable[[], None]) -> None:
        self._bus = bus
        self._publish = publish
        self._last = 0.0
        self._pending: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """Publish now, or as soon as a quarter of a second has passed since the last time."""
        if self._pending is not None or not self._bus.watched:
            return
        wait = self._last + PUBLISH_SECONDS - time.monotonic()
        if wait <= 0:
            self._now()
        else:
            self._pending = asyncio.get_running_loop().call_later(wait, self._now)

    def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None

    def _now(self) -> None:
        self._pending = None
        self._last = time.monotonic()
        self._publish()
