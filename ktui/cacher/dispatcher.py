"""Dispatches every event of one resource to the watchers that it matches."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ktui.cacher.publishing import Sampler
from ktui.cacher.watch_events import CacheEvent
from ktui.cacher.watchers import Waker, Watcher

REFILL_PER_SECOND = 0.05
MAXIMUM = 0.1


class TimeBudget:
    """Seconds that slow watchers may delay others (upstream's timeBudget): 50 ms each second, at most 100."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._available = MAXIMUM
        self._refilled = clock()

    def take(self) -> float:
        """Take and return all available seconds; `give_back` returns the unused ones."""
        whole = int(self._clock() - self._refilled)
        if whole > 0:
            self._refilled += whole
            self._available = min(MAXIMUM, self._available + whole * REFILL_PER_SECOND)
        taken, self._available = self._available, 0.0
        return taken

    def give_back(self, unused: float) -> None:
        self._available = min(MAXIMUM, self._available + max(0.0, unused))


# Capacity of kube-apiserver's incoming channel, in events; here in transactions.
INCOMING = 100
# Loop iterations before a slow client uses up the time budget: clients share this loop with the dispatcher.
FREE_TURNS = 10

Scope = tuple[str, str]  # namespace and name, "" for any
Group = dict[Watcher, None]  # ordered by arrival


class Watchers:
    """Watchers by what they can match: namespace, name, or value of the trigger (pods: spec.nodeName)."""

    def __init__(self, trigger: str = "") -> None:
        self.trigger = trigger
        self.waker = Waker()
        self._groups: dict[Scope | str, Group] = {}  # by scope, or by value of the trigger field
        self._places: dict[Watcher, Scope | str] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Watcher]:
        return iter(list(self._places))

    def __contains__(self, watcher: Watcher) -> bool:
        return watcher in self._places

    def add(self, watcher: Watcher) -> None:
        selection = watcher.selection
        value = selection.fields.requires(self.trigger) if self.trigger else None
        place = (selection.namespace or "", selection.name or "") if value is None else value
        self._groups.setdefault(place, {})[watcher] = None
        self._places[watcher] = place
        watcher.waker = self.waker

    def remove(self, watcher: Watcher) -> None:
        place = self._places.pop(watcher, None)
        if place is None:
            return
        del self._groups[place][watcher]
        if not self._groups[place]:
            del self._groups[place]

    def concerned(self, transaction: Sequence[CacheEvent]) -> Iterator[Watcher]:
        """Yield the watchers that `transaction` may match. Do not await while iterating."""
        places: dict[Scope | str, None] = {}
        for event in transaction:
            obj = event.object
            namespace, name = obj.namespace, obj.name
            places |= dict.fromkeys(((namespace, name), (namespace, ""), ("", name), ("", "")))
            if self.trigger:
                objects = (obj,) if event.previous is None else (obj, event.previous)
                places |= dict.fromkeys(each.fields.get(self.trigger, "") for each in objects)
        return chain.from_iterable(self._groups.get(place, ()) for place in places)


class Dispatcher:
    """Takes etcd's transactions from the reflector and offers each to its watchers, in order.

    A transaction is the list of its events, all at one revision. A watcher gets all of it or none, so that a
    stream never ends between two of its events: a client could not resume from there.

    A watcher without room delays the others until the time budget is spent; then its stream is ended and
    `terminated` counts it. `sampler` samples some events for telemetry.
    """

    def __init__(
        self, trigger: str = "", budget: TimeBudget | None = None, sampler: Sampler | None = None
    ) -> None:
        self.watchers = Watchers(trigger)
        self._sampler = sampler
        self.terminated = 0
        self.dispatched = 0  # number of events offered
        self.rv = 0  # newest resourceVersion that was offered to all watchers
        self._budget = budget or TimeBudget()
        self._incoming: deque[Sequence[CacheEvent] | int] = deque()
        self._wake = asyncio.Event()
        self._drained = asyncio.Event()

    def submit(self, transaction: Sequence[CacheEvent] | int) -> None:
        """Queue a transaction, or the bare resourceVersion of a progress notification."""
        self._incoming.append(transaction)
        self._wake.set()

    async def room(self) -> None:
        """Wait while the incoming queue is full, as the reflector does."""
        while len(self._incoming) >= INCOMING:
            self._drained.clear()
            await self._drained.wait()

    def reset(self, rv: int, cause: str) -> None:
        """End all streams and drop the queue, because the cache is filled again."""
        self._incoming.clear()
        self._drained.set()
        for watcher in self.watchers:
            self.close(watcher, cause)
        self.rv = rv

    def close(self, watcher: Watcher, cause: str) -> None:
        watcher.end(cause)
        self.watchers.remove(watcher)

    async def run(self) -> None:
        while True:
            while self._incoming:
                await self._dispatch(self._incoming.popleft())
            self._drained.set()
            self._wake.clear()
            await self._wake.wait()

    async def _dispatch(self, transaction: Sequence[CacheEvent] | int) -> None:
        if isinstance(transaction, int):
            self.rv = max(self.rv, transaction)
            return
        if self._sampler is not None and self._sampler.due():
            event = transaction[0]
            self._sampler.take(event, list(self.watchers.concerned([event])), len(self.watchers))
        concerned = self.watchers.concerned(transaction)
        blocked = [watcher for watcher in concerned if not watcher.offer(transaction)]
        if blocked:
            await self._wait_for(blocked, transaction)
        self.dispatched += len(transaction)
        self.rv = transaction[0].rv

    async def _wait_for(self, blocked: list[Watcher], transaction: Sequence[CacheEvent]) -> None:
        self.watchers.waker.hurry()
        while self.watchers.waker.busy:  # noqa: ASYNC110 - it counts turns; who is not woken is not slow
            await asyncio.sleep(0)
        for _ in range(FREE_TURNS):
            await asyncio.sleep(0)
            blocked = [watcher for watcher in blocked if not watcher.offer(transaction)]
            if not blocked:
                return
        budget = self._budget.take()
        while blocked:
            if not await blocked[0].room(budget):
                self.close(blocked.pop(0), "too slow")
                self.terminated += 1
                budget = 0.0
            # A client that has read something in time is not charged: all clients run on this loop, and their
            # TLS in this process, so the delay is mostly ktui's own.
            blocked = [watcher for watcher in blocked if not watcher.offer(transaction)]
        self._budget.give_back(budget)
