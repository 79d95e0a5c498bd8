"""Several sources on one dashboard: a server's telemetry, with metrics or logs of the same cluster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.live import LiveStatus
from ktui.tui.source import Link, Report, TelemetrySource

if TYPE_CHECKING:
    from ktui.client.api import ApiClient


class SideSource(NamedTuple):
    """An additional source of events about the same cluster."""

    name: str  # "metrics", "audit log"
    open: Callable[[], AsyncIterator[list[AnyEvent]]]


RETRY_SECONDS = 15.0  # before a failed side source is read again


class MergedSource:
    """`main` identifies the server and ends the whole; `sides` only add events.

    The failure of a side source is sent as a LiveStatus, and the source is read again.
    """

    def __init__(self, main: TelemetrySource, sides: Sequence[SideSource]) -> None:
        self.restartable = main.restartable
        self._main = main
        self._sides = sides

    @property
    def reconnects(self) -> bool:
        return bool(getattr(self._main, "reconnects", False))

    async def connect(self, report: Report) -> ApiClient | None:
        return await self._main.connect(report)

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        queue: asyncio.Queue[list[AnyEvent] | None] = asyncio.Queue(maxsize=64)
        main = asyncio.create_task(self._feed_main(queue))
        tasks = [main, *(asyncio.create_task(_feed_side(side, queue)) for side in self._sides)]
        try:
            while (item := await queue.get()) is not None:
                yield item
            await main  # raises the error that ended it
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _feed_main(self, queue: asyncio.Queue[Any]) -> None:
        try:
            async for batch in self._main.batches():
                await queue.put(batch)
        finally:
            await queue.put(None)

    async def why_stopped(self) -> str:
        return await self._main.why_stopped()

    def link(self) -> Link:
        return self._main.link()

    async def close(self) -> None:
        await self._main.close()


async def _feed_side(side: SideSource, queue: asyncio.Queue[Any]) -> None:
    failed = False
    while True:
        try:
            async for batch in side.open():
                found: list[AnyEvent] = [event for event in batch if not isinstance(event, ServerInfo)]
                await queue.put([LiveStatus(at=time.time(), source=side.name), *found] if failed else found)
                failed = False
        except (ClientError, OSError) as error:
            failed = True
            await queue.put([LiveStatus(at=time.time(), source=side.name, problem=_sentence(error))])
        await asyncio.sleep(RETRY_SECONDS)


def _sentence(error: ClientError | OSError) -> str:
    """Return a sentence: `/var/log/audit.log cannot be read: No such file or directory`."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be read: {error.strerror}"
    return str(error)


async def feed_events(source: TelemetrySource) -> AsyncIterator[list[AnyEvent]]:
    """Yield a source's events, for a SideSource."""
    await source.connect(lambda text: None)
    try:
        async for batch in source.batches():
            yield batch
    finally:
        await source.close()
