"""One client's WATCH: its filter, and its bounded queue of unread events."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Sequence

from ktui.cacher.watch_events import DELETED, CacheEvent, OutEvent
from ktui.kube.versions import Behaviour
from ktui.storage.objects import SelectionPredicate, StoredObject

# A write of a watcher takes 0.1 to 0.3 ms.
WOKEN_AT_ONCE = 32
REST_SECONDS = 0.01


def channel_size(behaviour: Behaviour, buffer_capacity: int, *, triggers: bool, triggered: bool) -> int:
    """Return the size of each of a watcher's two channels, in events.

    kube-apiserver up to 1.24: 10, or 1,000 if the resource has a trigger index (`triggers`) that the watcher
    does not use (`triggered`). Since 1.25 a 75th of the event buffer's capacity (one second's events): at
    least 10, at most 10 for a watcher that uses the trigger index, 1,000 if it does not, 100 without such an
    index.
    """
    most = 10 if triggered else 1000 if triggers else 100
    if behaviour.minor <= 24:
        return 10 if triggered or not triggers else 1000
    return max(10, min(most, math.ceil(buffer_capacity / 75)))


class Waker:
    """Wakes the tasks of a resource's watchers, WOKEN_AT_ONCE in a turn of the event loop.

    One event may concern thousands of watchers. If all of them wrote in the same turn, every other request
    would wait for it. After a round of several turns the waker rests for as long as the round took, at most
    REST_SECONDS: other requests have half of the loop, and the events of that time become one write to each
    watcher instead of many (kube-apiserver too flushes a stream only once no event is left in its channel).
    """

    def __init__(self) -> None:
        self._left = WOKEN_AT_ONCE  # in this turn
        self._waiting: deque[Watcher] = deque()
        self._next: asyncio.Handle | None = None  # the next turn, or the end of the rest
        self._resting = False
        self._crowded = False  # some watchers of this round had to wait for a further turn
        self._began = 0.0  # this round (the loop's clock)

    @property
    def busy(self) -> bool:
        """True while watchers wait to be woken."""
        return bool(self._waiting)

    def wake(self, watcher: Watcher) -> None:
        if self._left:
            self._left -= 1
            watcher.wake()
        elif not watcher.to_be_woken:
            watcher.to_be_woken = True
            self._waiting.append(watcher)
            self._crowded |= not self._resting
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._began = loop.time()
            self._next = loop.call_soon(self._turn)

    def hurry(self) -> None:
        """End the rest, because a watcher has no more room."""
        if self._resting and self._next is not None:
            self._next.cancel()
            self._end_rest()

    def _turn(self) -> None:
        self._left = WOKEN_AT_ONCE
        while self._left and self._waiting:
            self._left -= 1
            self._waiting.popleft().wake()
        loop = asyncio.get_running_loop()
        self._crowded |= bool(self._waiting)
        if self._left < WOKEN_AT_ONCE:
            self._next = loop.call_soon(self._turn)
        elif self._crowded:
            self._left, self._resting, self._crowded = 0, True, False
            self._next = loop.call_later(min(loop.time() - self._began, REST_SECONDS), self._end_rest)
        else:
            self._next = None

    def _end_rest(self) -> None:
        self._resting = False
        self._began = asyncio.get_running_loop().time()
        self._turn()


class Watcher:
    """Takes events from the dispatcher and passes them to the client in batches.

    `since` is the newest resourceVersion that the client already has; `size` limits the queue, which the last
    transaction in it may exceed. kube-apiserver has two channels in a row, before and after the filter; here
    the filter is applied first and the queue has the capacity of both.
    """

    def __init__(self, selection: SelectionPredicate, since: int, size: int, *, form: str = "") -> None:
        self.selection = selection
        self.since = since
        self.bookmarks = 0
        self.shard_filtered = 0  # how often the shard left out an object, before or after its change
        self.cause = ""  # why the stream has ended
        self.form = form  # the encoding for the client, for statistics only
        self.capacity = size
        self.waker: Waker | None = None  # of the dispatcher that offers events
        self.to_be_woken = False
        self._selective = selection.selective
        self._queue: deque[OutEvent] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def closed(self) -> bool:
        return bool(self.cause)

    @property
    def buffered(self) -> int:
        return len(self._queue)

    def convert(self, event: CacheEvent) -> OutEvent | None:
        """Return `event` as this watcher sees it, None if it does not match."""
        deleted, previous = event.type == DELETED, event.previous
        if not self._selective:
            return event.out(not deleted, previous is not None or deleted)
        return event.out(
            not deleted and self.matches(event.object), previous is not None and self.matches(previous)
        )

    def concerns(self, obj: StoredObject) -> bool:
        """Return True if `obj` has the watched namespace and name, whatever the selectors are."""
        namespace, name = self.selection.namespace, self.selection.name
        return (not namespace or obj.namespace == namespace) and (not name or obj.name == name)

    def matches(self, obj: StoredObject) -> bool:
        if not self._selective:
            return True
        shards = self.selection.shards
        if shards is not None and not shards.matches(obj.uid, obj.namespace):
            self.shard_filtered += 1
            return False
        return obj.matches(self.selection)

    def visible(self, events: Sequence[CacheEvent]) -> list[OutEvent]:
        """Return the events that this watcher sees of `events`."""
        seen = (self.convert(event) for event in events if self.concerns(event.object))
        return [out for out in seen if out is not None]

    def offer(self, transaction: Sequence[CacheEvent]) -> bool:
        """Queue what the watcher sees of all events of a revision; return False if there is no room."""
        event = transaction[0]
        if event.rv <= self.since or self.cause:
            return True
        queue = self._queue
        if len(transaction) == 1:  # nearly all events: the dispatcher found this watcher by its scope
            out = self.convert(event)
            if out is not None:
                if len(queue) >= self.capacity:
                    self._room.clear()
                    return False
                queue.append(out)
                self._tell()
        elif visible := self.visible(transaction):
            if len(queue) >= self.capacity:
                self._room.clear()
                return False
            queue.extend(visible)
            self._tell()
        self.since = event.rv
        return True

    def offer_bookmark(self, out: OutEvent) -> None:
        """Queue a bookmark, unless the watcher has no room or is ahead of it."""
        if out.rv >= self.since and len(self._queue) < self.capacity and not self.cause:
            self._queue.append(out)
            self.bookmarks += 1
            self._tell()

    async def room(self, within: float) -> bool:
        """Wait until the client has read something; return False if it has not in time.

        If this process stalled, both are due at once: a client that has read then counts as in time.
        """
        try:
            async with asyncio.timeout(within):
                await self._room.wait()
        except TimeoutError:
            return self._room.is_set()
        return True

    def end(self, cause: str) -> None:
        """End the stream once the queued events have been read."""
        self.cause = self.cause or cause
        self.wake()
        self._room.set()

    def wake(self) -> None:
        """Let `batches` look at the queue."""
        self.to_be_woken = False
        self._wake.set()

    def _tell(self) -> None:
        if self.waker is None:
            self.wake()
        elif not self._wake.is_set():
            self.waker.wake(self)

    async def batches(self) -> AsyncIterator[list[OutEvent]]:
        """Yield all queued events, whenever there are any; return after `end`."""
        while True:
            if self._queue:
                batch = list(self._queue)
                self._queue.clear()
                self._room.set()
                yield batch
            elif self.cause:
                return
            else:
                self._wake.clear()
                await self._wake.wait()
