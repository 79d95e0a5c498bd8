"""A client's WATCH, and what it has seen of it."""

from __future__ import annotations

import asyncio

from ktui.cacher.cacher_requests import WatchAnswer
from ktui.cacher.watch_events import OutEvent

from .truth import Seen, Truth


class Watched:
    """Read by a task of its own while `reading` is set.

    `since` None: a WATCH with initial events. They go to `initial`, and the bookmark
    that ends them says what `since` is; later ones that everything up to them has been told.
    """

    def __init__(self, since: int | None, colour: str, answer: WatchAnswer) -> None:
        self.since = since
        self.colour = colour
        self.answer = answer
        self.initial: dict[str, int] = {}
        self.seen: list[Seen] = []
        self.promised = 0
        self._takes_bookmarks = since is None
        self.told = b""  # the error that the stream consists of
        self.reading = asyncio.Event()
        self.reading.set()
        self.task = asyncio.create_task(self._read())

    @property
    def ended(self) -> bool:
        return bool(self.answer.stream.cause) or self.task.done()

    @property
    def told_410(self) -> bool:
        return b'"code":410' in self.told

    async def _read(self) -> None:
        async for batch in self.answer.stream.batches():
            for event in batch:
                self._take(event)
            await self.reading.wait()

    def _take(self, event: OutEvent) -> None:
        if event.type == "ERROR":
            self.told = event.line()
        elif event.object is None:
            assert self._takes_bookmarks, "a bookmark that was not requested"
            self.since = self.since or event.rv
            self.promised = event.rv
        elif self.since is None:
            assert (event.type, event.rv) == ("ADDED", event.object.rv)
            self.initial[event.object.name] = event.rv
        else:
            self.seen.append((event.type, event.object.name, event.rv))

    def check(self, truth: Truth) -> None:
        """What there was, then exactly the events after it, in order, once, as far as it has got."""
        if self.task.done():
            self.task.result()
        if self.told:
            # Too old; or initial events that had to wait too long for the cache.
            assert self.told_410 or (self.since is None and b'"code":504' in self.told), self.told
            assert not self.seen
        elif self.since is not None:
            owed = truth.owed(self.since, self.colour)
            assert self.seen == owed[: len(self.seen)], (self.since, self.colour, self.answer.stream.cause)
            assert all(rv > self.promised for _, _, rv in owed[len(self.seen) :]), (self.promised, owed)

    def behind(self, truth: Truth) -> bool:
        """Whether it is still owed something."""
        if self.ended:
            return False
        return self.since is None or len(self.seen) < len(truth.owed(self.since, self.colour))
