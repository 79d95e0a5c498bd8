"""A client's WATCH, and what it has seen of it."""

from __future__ import annotations

import asyncio

from ktui.cacher.requests import WatchAnswer

from .truth import Seen


class Watched:
    """Read by a task of its own while `reading` is set."""

    def __init__(self, since: int, colour: str, answer: WatchAnswer) -> None:
        self.since = since
        self.colour = colour
        self.answer = answer
        self.seen: list[Seen] = []
        self.told_410 = False
        self.reading = asyncio.Event()
        self.reading.set()
        self.task = asyncio.create_task(self._read())

    @property
    def ended(self) -> bool:
        return bool(self.answer.stream.cause) or self.task.done()

    async def _read(self) -> None:
        async for batch in self.answer.batches():
            for event in batch:
                if event.type == "ERROR":
                    assert b'"code":410' in event.line(), event.line()
                    self.told_410 = True
                else:
                    assert event.object is not None
                    self.seen.append((event.type, event.object.name, event.rv))
            await self.reading.wait()

    def check(self, owed: list[Seen]) -> None:
        """Exactly the events after its revision, in order, once, as far as it has got."""
        if self.task.done():
            self.task.result()
        assert self.seen == owed[: len(self.seen)], (self.since, self.colour, self.answer.stream.cause)
        assert not (self.told_410 and self.seen)
