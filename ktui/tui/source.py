"""Where the dashboard's telemetry comes from: a running server or a recording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ktui.client.connection import ClientError
from ktui.telemetry.events import AnyEvent
from ktui.telemetry.recording import read_recording

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

FRAME = 0.05  # seconds: events of a replay nearer than this come together
Report = Callable[[str], None]  # takes one short sentence: what is being done


class LaunchError(Exception):
    """The server cannot be started; the message is one clear sentence."""


class Launcher(Protocol):
    """Starts a server, or finds one, and says how to talk to it.

    `start` and `restart` report what they are doing and raise LaunchError or
    ClientError. `why_stopped` is asked when the server has gone: one sentence
    without a full stop, "" when nobody knows.
    """

    async def start(self, report: Report) -> ApiClient: ...

    async def restart(self, report: Report) -> ApiClient: ...

    async def stop(self) -> None: ...

    async def why_stopped(self) -> str: ...


class Stage(StrEnum):
    """How the dashboard stands to its source."""

    STARTING = "starting"
    LIVE = "live"
    STOPPED = "stopped"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class Link:
    """The stage and what to say about it."""

    stage: Stage
    detail: str = ""
    restartable: bool = False


class Source(Protocol):
    """One source of telemetry. `batches` ends or raises ClientError when it is over."""

    restartable: bool

    async def connect(self, report: Report) -> ApiClient | None: ...

    def batches(self) -> AsyncIterator[list[AnyEvent]]: ...

    async def why_stopped(self) -> str: ...

    def link(self) -> Link: ...

    async def close(self) -> None: ...


class LiveSource:
    """A server that a launcher starts, and starts again when asked."""

    restartable = True

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._client: ApiClient | None = None
        self._started = False

    async def connect(self, report: Report) -> ApiClient:
        start = self._launcher.restart if self._started else self._launcher.start
        self._started = True
        self._client = await start(report)
        return self._client

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        if self._client is None:
            raise ClientError("the server has not been started")
        async for batch in self._client.telemetry():
            yield batch

    async def why_stopped(self) -> str:
        return await self._launcher.why_stopped()

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        await self._launcher.stop()


class ReplaySource:
    """A recording, played at the pace of its own times (`speed` 0: all at once)."""

    restartable = True
    LONGEST_PAUSE = 2.0  # seconds; a longer silence in the recording is cut to this

    def __init__(self, path: Path, speed: float = 1.0) -> None:
        self._path = path
        self._speed = speed
        self._events: list[AnyEvent] = []
        self._played = 0

    async def connect(self, report: Report) -> None:
        report(f"reading {self._path.name}")
        self._events = await asyncio.to_thread(lambda: list(read_recording(self._path)))
        self._played = 0

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        if not self._speed:
            self._played = len(self._events)
            yield self._events
            return
        batch: list[AnyEvent] = []
        pace = _Pace(self._speed, self.LONGEST_PAUSE)
        for event in self._events:
            wait = pace.due(event.at)
            if wait > FRAME:
                if batch:
                    yield batch
                    batch = []
                await asyncio.sleep(wait)
            batch.append(event)
            self._played += 1
        if batch:
            yield batch

    async def why_stopped(self) -> str:
        return ""

    def link(self) -> Link:
        return Link(Stage.REPLAY, f"{self._path.name} {self._played:,}/{len(self._events):,}")

    async def close(self) -> None:
        self._events = []


class _Pace:
    """When the events of a recording are due, `speed` times as fast as they were."""

    def __init__(self, speed: float, longest: float) -> None:
        self._speed, self._longest = speed, longest
        self._began = 0.0
        self._first = 0.0  # the recording's time that belongs to `_began`

    def due(self, at: float) -> float:
        """Seconds from now until the event of time `at`; a long silence is cut short."""
        now = asyncio.get_running_loop().time()
        if not at:
            return 0.0
        if not self._first:
            self._first, self._began = at, now
        wait = (at - self._first) / self._speed - (now - self._began)
        if wait > self._longest:
            self._first += (wait - self._longest) * self._speed
            wait = self._longest
        return wait
