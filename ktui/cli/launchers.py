"""How the dashboard gets its server: a child of its own, or one that runs already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.cli.child import ServerChild
from ktui.client.connection import Connection
from ktui.telemetry.events import AnyEvent
from ktui.telemetry.recording import Recorder
from ktui.tui.source import Link, Report, Source

if TYPE_CHECKING:
    from ktui.client.api import ApiClient


class ChildLauncher:
    """`ktui serve` as a child, which may have been spawned already; started again on request."""

    def __init__(self, child: ServerChild) -> None:
        self._child = child

    async def start(self, report: Report) -> ApiClient:
        report("starting etcd and the API server")
        # httpx takes a while to load: not before the first frame, and while the server boots.
        connection, _ = await asyncio.gather(
            self._child.start(), asyncio.to_thread(import_module, "ktui.client.api")
        )
        from ktui.client.api import ApiClient

        report("reading the first telemetry")
        return ApiClient(connection)

    async def restart(self, report: Report) -> ApiClient:
        await self._child.stop()
        return await self.start(report)

    async def stop(self) -> None:
        await self._child.stop()

    async def why_stopped(self) -> str:
        return await self._child.wait()


class AttachLauncher:
    """A server that somebody else runs: it is left as it is."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def start(self, report: Report) -> ApiClient:
        report(f"attaching to {self._connection.url}")
        from ktui.client.api import ApiClient

        return ApiClient(self._connection)

    async def restart(self, report: Report) -> ApiClient:
        return await self.start(report)

    async def stop(self) -> None: ...

    async def why_stopped(self) -> str:
        return f"{self._connection.url} has closed the connection"


class RecordedSource:
    """Any source, with every event written down as it passes."""

    def __init__(self, source: Source, path: Path) -> None:
        self._source = source
        self._recorder = Recorder(path)
        self.restartable = source.restartable

    async def connect(self, report: Report) -> ApiClient | None:
        return await self._source.connect(report)

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        async for batch in self._source.batches():
            self._recorder.write(batch)
            yield batch

    async def why_stopped(self) -> str:
        return await self._source.why_stopped()

    def link(self) -> Link:
        return self._source.link()

    async def close(self) -> None:
        await self._source.close()
        self._recorder.close()
