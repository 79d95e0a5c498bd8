"""Start or attach to the dashboard's server: a child process, or a server that runs already."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ktui.cli.child import ServerChild
from ktui.client.connection import ServerConnection
from ktui.tui.source import Report

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

DYING_SECONDS = 3.0  # longest time between a server's last message and its end


class ChildLauncher:
    """Runs `ktui serve` as a child process, which can be restarted."""

    reconnects = False

    def __init__(self, child: ServerChild, begins: str = "starting etcd and the API server") -> None:
        """`begins` says what the server does first."""
        self._child = child
        self._begins = begins

    async def start(self, report: Report) -> ApiClient:
        report(self._begins)
        connection, make = await asyncio.gather(self._child.start(), _client())
        report("reading the first telemetry")
        return make(connection)

    async def restart(self, report: Report) -> ApiClient:
        await self._child.stop()
        return await self.start(report)

    async def stop(self) -> None:
        await self._child.stop()

    async def why_stopped(self) -> str:
        with contextlib.suppress(TimeoutError):  # the server is still running
            async with asyncio.timeout(DYING_SECONDS):
                return await self._child.wait()
        return ""


class AttachLauncher:
    """Attaches to a server that another process started, and never stops it.

    `find` returns its current connection: after a restart, a server on this machine has another token
    and another certificate.
    """

    reconnects = True

    def __init__(
        self, connection: ServerConnection, find: Callable[[], ServerConnection] | None = None
    ) -> None:
        self._connection = connection
        self._find = find or (lambda: connection)

    async def start(self, report: Report) -> ApiClient:
        report(f"attaching to {self._connection.url}")
        make = await _client()
        return make(self._connection)

    async def restart(self, report: Report) -> ApiClient:
        self._connection = self._find()
        return await self.start(report)

    async def stop(self) -> None: ...

    async def why_stopped(self) -> str:
        return ""  # unknown: the connection is all there is


async def _client() -> type[ApiClient]:
    """Import the client in a thread: httpx takes long to import, and the first frame does not need it."""
    await asyncio.to_thread(import_module, "ktui.client.api")
    from ktui.client.api import ApiClient  # start-up time

    return ApiClient
