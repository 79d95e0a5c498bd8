"""What schedules run on: an etcd cluster, the server under test, and an independent watch of etcd."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import aiohttp

from tools.faults import writers
from tools.faults.cluster import Cluster
from tools.faults.history import History
from tools.faults.objects import Marks
from tools.faults.oracle import Oracle
from tools.faults.records import Records, Violations
from tools.faults.server import Api, Server
from tools.faults.workload import Workload

READY_SECONDS = 60.0


class HarnessError(Exception):
    """The schedule could not be carried out, so it proves nothing."""


class Bench:
    """Cluster, server and watch of one or more schedules. Call `start` first, and `close` in any case."""

    def __init__(
        self, members: int, version: str, etcd: Path, directory: Path, violations: Violations, seed: int = 0
    ) -> None:
        self.history = History()
        self.violations = violations
        self.cluster = Cluster(members, etcd, directory)
        self.server = Server(self.cluster, version, directory)
        self.oracle = Oracle(self.cluster, self.history)
        self._marks = Marks(random.Random(seed))
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start everything, and wait until the server answers. Raises HarnessError."""
        self._http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        self._streams = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=4096,
        )
        await self.cluster.start()
        self._following = asyncio.create_task(self.oracle.run())
        self.server.start()
        took, problem = await self.server.ready(self._http, READY_SECONDS)
        if took is None:
            raise HarnessError(f"the server does not start: {problem}")
        await writers.create_shared(self.workload(0, Records()))

    def workload(self, seed: int, records: Records) -> Workload:
        """Return what the clients of one schedule share."""
        api = Api(self._http, self.server, records.statuses)
        return Workload(
            seed,
            self.cluster,
            self.server,
            api,
            self._streams,
            self.history,
            self.violations,
            self._marks,
            records,
        )

    def look(self) -> None:
        """Check that server and independent watch still run. Raises HarnessError."""
        if self.server.exit_status is not None:
            errors = self.server.errors.read_text(errors="replace")[-1500:]
            self.violations.add("the server ended by itself", status=self.server.exit_status, errors=errors)
            raise HarnessError("the server ended by itself")
        if self._following is not None and self._following.done():
            raise HarnessError(f"the independent watch failed: {self._following.exception()!r}")

    async def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
        if not await self.server.stop():
            self.violations.add("the server does not end on SIGTERM")
        if traceback := self.server.traceback():
            self.violations.add("a traceback in the server's log", text=traceback)
        await self.cluster.close()
        await self._http.close()
        await self._streams.close()
