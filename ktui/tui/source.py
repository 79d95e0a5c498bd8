"""Sources of telemetry: a running server, or a recording (replay.source)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import Struct

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.live import LiveStatus

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.tui.replay.playback import Playback


PATIENCE_SECONDS = 45.0  # without data on a connection, before a new one is made
Report = Callable[[str], None]  # takes a short sentence on what is being done


class LaunchError(Exception):
    """The server cannot be started; the message is one sentence."""


class Launcher(Protocol):
    """Starts a server or finds one, and returns a client of it.

    `reconnects`: ktui did not start the server, which may come back at any time, so that `start` is
    repeated. `start` and `restart` report their progress and raise LaunchError or ClientError.
    `why_stopped` returns why the server is gone: one sentence without a full stop, "" if unknown.
    """

    reconnects: bool

    async def start(self, report: Report) -> ApiClient: ...

    async def restart(self, report: Report) -> ApiClient: ...

    async def stop(self) -> None: ...

    async def why_stopped(self) -> str: ...


class Stage(StrEnum):
    """The state of the dashboard's connection to its source."""

    STARTING = "starting"
    LIVE = "live"
    SILENT = "silent"  # connected, but no data
    STOPPED = "stopped"
    REPLAY = "replay"


class Link(Struct, frozen=True):
    """The stage and its description; `retries`: ktui tries again automatically.

    `replays`: the source is a recording.
    """

    stage: Stage
    detail: str = ""
    restartable: bool = False
    retries: bool = False
    replays: bool = False

    @property
    def broken(self) -> bool:
        """True if no data comes from the source."""
        return self.stage in (Stage.SILENT, Stage.STOPPED)


class TelemetrySource:
    """A source of telemetry; `batches` ends, or raises ClientError, when the source ends.

    `restartable`: the user may connect again. `replays`: it is a recording, and has a `playback` once it is
    connected.
    """

    restartable = False
    replays = False
    playback: Playback | None = None

    @property
    def reconnects(self) -> bool:
        """True for a server that ktui did not start, which may come back at any time."""
        return False

    async def connect(self, report: Report) -> ApiClient | None:
        raise NotImplementedError

    def batches(self) -> AsyncIterator[list[AnyEvent]]:
        raise NotImplementedError

    async def why_stopped(self) -> str:
        return ""

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        """Release what `connect` has opened."""


class LiveSource(TelemetrySource):
    """A server that a launcher starts, and can start again."""

    restartable = True

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._client: ApiClient | None = None
        self._started = False
        self._lives = False  # the telemetry has ended, but not the server

    @property
    def reconnects(self) -> bool:
        return self._launcher.reconnects or self._lives

    async def connect(self, report: Report) -> ApiClient:
        if self._lives and self._client is not None:
            self._lives = False
            return self._client
        start = self._launcher.restart if self._started else self._launcher.start
        self._started = True
        self._client = await start(report)
        return self._client

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        if self._client is None:
            raise ClientError("the server has not been started")
        # A server that ktui did not start may be replaced without the old connection being closed.
        patience = PATIENCE_SECONDS if self._launcher.reconnects else None
        async for batch in self._client.telemetry(patience):
            yield batch

    async def why_stopped(self) -> str:
        cause = await self._launcher.why_stopped()
        self._lives = not cause and not self._launcher.reconnects
        return cause

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        await self._launcher.stop()


class SideSource(NamedTuple):
    """An additional source of events about the same cluster: its metrics or logs."""

    name: str  # "metrics", "audit log"
    open: Callable[[], AsyncIterator[list[AnyEvent]]]
    endpoint: str = ""  # to add to those of the server, so that a recording names this source


RETRY_SECONDS = 15.0  # before a failed side source is read again


class MergedSource(TelemetrySource):
    """Several sources on one dashboard: a server's telemetry, with metrics or logs of the same cluster.

    `main` identifies the server and ends the whole; `sides` add events, and endpoints of the server.
    The failure of a side source is sent as a LiveStatus, and the source is read again.
    """

    def __init__(self, main: TelemetrySource, sides: Sequence[SideSource]) -> None:
        self.restartable = main.restartable
        self._main = main
        self._sides = sides

    @property
    def reconnects(self) -> bool:
        return self._main.reconnects

    async def connect(self, report: Report) -> ApiClient | None:
        return await self._main.connect(report)

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        queue: asyncio.Queue[list[AnyEvent] | None] = asyncio.Queue(maxsize=64)

        async def feed_main() -> None:
            try:
                async for batch in self._main.batches():
                    await queue.put([self._named(event) for event in batch])
            finally:
                await queue.put(None)

        main = asyncio.create_task(feed_main())
        tasks = [main, *(asyncio.create_task(_feed_side(side, queue)) for side in self._sides)]
        try:
            while (item := await queue.get()) is not None:
                yield item
            await main  # raises the error that ended it
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _named(self, event: AnyEvent) -> AnyEvent:
        if isinstance(event, ServerInfo):
            for side in self._sides:
                event = event.with_endpoint(side.endpoint) if side.endpoint else event
        return event

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
