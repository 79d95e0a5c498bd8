"""Serve a WATCH from the watch cache: initial events, replay from the event buffer, then live events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from ktui.cacher.bookmarks import BookmarkClock
from ktui.cacher.dispatcher import Dispatcher
from ktui.cacher.watch_cache import WatchCache
from ktui.cacher.watch_events import ADDED, OutEvent
from ktui.cacher.watchers import Watcher
from ktui.storage.objects import SelectionPredicate, StoredObject
from ktui.telemetry.meter import current_meter
from ktui.telemetry.off_loop import sliced

# Events per batch of initial and replayed events.
PIECE = 500

MakeBookmark = Callable[[int, bool], OutEvent]  # (resourceVersion, whether it ends the initial events)


@dataclass(frozen=True, slots=True)
class Feed:
    """The source of a cache's events."""

    cache: WatchCache
    dispatcher: Dispatcher
    clock: BookmarkClock


def do_nothing() -> None:
    """Take the place of a callback that is not needed yet, or no longer."""


class CacheWatch(Watcher):
    """One client's stream: a watcher, until it has caught up with the dispatcher.

    The client gets the current state (`initial`) or starts after `since`. It then reads the event
    buffer until it has caught up, and only then has a queue of its own, so a slow start never ends the
    stream.
    """

    def __init__(
        self,
        feed: Feed,
        selection: SelectionPredicate,
        since: int,
        size: int,
        initial: list[StoredObject] | None = None,
        *,
        form: str = "",
        bookmark: MakeBookmark | None = None,
        end_bookmark: bool = False,
        timeout: float | None = None,
        closed: Callable[[], None] = do_nothing,
    ) -> None:
        super().__init__(selection, since, size, form=form)
        self.delivered = 0
        self.on_live = do_nothing  # called once the initial events are out
        self._closed = closed
        self._feed = feed
        self._initial = initial
        self._bookmark = bookmark
        self._end_bookmark = end_bookmark
        self._generation = feed.cache.generation
        loop = asyncio.get_running_loop()
        self._deadline = None if timeout is None else loop.time() + timeout
        self._timer = None if timeout is None else loop.call_later(timeout, self.close, "timeout")

    @property
    def live(self) -> bool:
        return self in self._feed.dispatcher.watchers

    def close(self, cause: str) -> None:
        """End the stream; queued events are still delivered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._feed.clock.remove(self)
        self._feed.dispatcher.close(self, cause)
        closed, self._closed = self._closed, do_nothing
        closed()

    async def batches(self) -> AsyncIterator[list[OutEvent]]:
        try:
            async for batch in self._phases():
                self.delivered += len(batch)
                yield batch
        finally:
            self.close("client gone")

    async def _phases(self) -> AsyncIterator[list[OutEvent]]:
        if self._initial is not None:
            async for batch in self._initial_events(self._initial):
                yield batch
        async for batch in self._caught_up():
            yield batch
        if self.closed:
            return
        self._feed.dispatcher.watchers.add(self)
        self.on_live()
        if self._bookmark is not None:
            make = self._bookmark
            self._feed.clock.add(self, self._deadline, lambda rv: make(rv, False))
        async for batch in super().batches():
            yield batch

    async def _initial_events(self, objects: list[StoredObject]) -> AsyncIterator[list[OutEvent]]:
        matches, meter = self.matches, current_meter()
        async for part in sliced(objects, PIECE):
            if self.closed:
                return
            with meter.phase("filter"):
                batch = [OutEvent(ADDED, obj.rv, obj) for obj in part if matches(obj)]
            meter.evaluated += len(part)
            meter.matched += len(batch)
            if batch:
                yield batch
        self._initial = None
        if self._end_bookmark and self._bookmark is not None:
            self.bookmarks += 1
            yield [self._bookmark(self.since, True)]

    async def _caught_up(self) -> AsyncIterator[list[OutEvent]]:
        """Replay the event buffer until the watcher has every event.

        There is no await between the last check and the return: no event can be missed.
        """
        while not self.closed:
            if lost := self._lost():
                self.end(lost)
                return
            events = self._feed.cache.event_buffer.since(self.since, PIECE)
            if not events:
                return
            self.since = events[-1].rv
            batch = self.visible(events)
            if batch:
                yield batch
            else:
                await asyncio.sleep(0)

    def _lost(self) -> str:
        """Return why events that the client still needs are gone; "" if they are available."""
        if self._feed.cache.generation != self._generation:
            return "cache reinitialized"
        return "too slow" if self.since < self._feed.cache.event_buffer.oldest_watch_rv else ""


class ErrorStream:
    """The stream of a WATCH that is answered with one ERROR event."""

    bookmarks = 0
    buffered = 0
    capacity = 0
    live = False

    def __init__(self, event: OutEvent) -> None:
        self.delivered = 0
        self.on_live = do_nothing
        self.cause = ""
        self._event = event

    def close(self, cause: str) -> None:
        self.cause = self.cause or cause

    async def batches(self) -> AsyncIterator[list[OutEvent]]:
        self.delivered = 1
        yield [self._event]
        self.close("error")
