"""Where the dashboard's telemetry comes from: a running server, or a recording (replay.source)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

PATIENCE_SECONDS = 45.0  # with a connection that brings nothing, before another one is made
Report = Callable[[str], None]  # takes one short sentence: what is being done


class LaunchError(Exception):
    """The server cannot be started; the message is one clear sentence."""


class Launcher(Protocol):
    """Starts a server, or finds one, and says how to talk to it.

    `reconnects`: it is a server that ktui did not start, which may be back at any time, so that
    starting is tried again and again. `start` and `restart` report what they are doing and
    raise LaunchError or ClientError. `why_stopped` is asked when the server has gone: one sentence
    without a full stop, "" when it is not known.
    """

    reconnects: bool

    async def start(self, report: Report) -> ApiClient: ...

    async def restart(self, report: Report) -> ApiClient: ...

    async def stop(self) -> None: ...

    async def why_stopped(self) -> str: ...


class Stage(StrEnum):
    """How the dashboard stands to its source."""

    STARTING = "starting"
    LIVE = "live"
    SILENT = "silent"  # connected, and nothing comes
    STOPPED = "stopped"
    REPLAY = "replay"


class Link(Struct, frozen=True):
    """The stage and what to say about it. `retries`: it is tried again automatically.

    `replays`: it is no server but a recording.
    """

    stage: Stage
    detail: str = ""
    restartable: bool = False
    retries: bool = False
    replays: bool = False

    @property
    def broken(self) -> bool:
        """Whether nothing comes from the source."""
        return self.stage in (Stage.SILENT, Stage.STOPPED)


class TelemetrySource(Protocol):
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
        self._lives = False  # only its telemetry has broken off: the server is there

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
        # A server that ktui did not start may be back without the old connection ever learning that it went.
        patience = PATIENCE_SECONDS if self._launcher.reconnects else None
        async for batch in self._client.telemetry(patience):
            yield batch

    async def why_stopped(self) -> str:
        cause = await self._launcher.why_stopped()
        self._lives = not cause and not self._launcher.reconnects
        return cause

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        await self._launcher.stop()
