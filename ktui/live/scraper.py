"""Scrape a kube-apiserver's replicas, with GETs only, and convert their answers into telemetry events.

Each replica is scraped every 15 seconds; less often if it answers slowly or with 429.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from ktui import __version__
from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.client.exec_plugin import PATIENCE, waiting
from ktui.client.kube_connection import KubeConnection
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import (
    CacheProbe,
    FlowConfig,
    LevelsDump,
    LiveStatus,
    ReplicaScrape,
    RequestsDump,
)
from ktui.live.dumps import levels_of, queues_of, requests_of
from ktui.live.probes import decode_list, probe_paths
from ktui.live.replica_connection import METRICS, TEXT, ReplicaConnection, Scrape
from ktui.live.replica_pool import ReplicaPool
from ktui.live.server_details import ServerDetails
from ktui.live.server_events import Load, ServerAnnouncer, page_events
from ktui.live.threads import in_daemon_thread

SECONDS = 15.0  # between two scrapes of a replica
MOST_SECONDS = 240.0
SLOW_MS = 1_000.0  # a scrape that takes longer doubles the interval
DUMP_SECONDS = 1.0
DETAILS_SECONDS = 60.0  # between two reads of readiness and Leases
STATUS_SECONDS = 5.0
_DUMPS = "/debug/api_priority_and_fairness"
DUMP = f"{_DUMPS}/dump_requests?includeRequestDetails=1"
LEVELS, QUEUES = f"{_DUMPS}/dump_priority_levels", f"{_DUMPS}/dump_queues"

Connect = Callable[[], KubeConnection]  # reads the kubeconfig; called in a thread: it may run a program


class Scraper:
    """A LiveFeed over a kube-apiserver: call `start`, read `batches`, then `close`. Raises ClientError."""

    def __init__(
        self,
        connect: Connect,
        interval: float = SECONDS,
        *,
        clock: Callable[[], float] = time.time,
        user_agent: str = f"ktui/{__version__} (observe)",
    ) -> None:
        self._connect = connect
        self._given = self._interval = interval
        self._clock = clock
        self._user_agent = user_agent
        self._target: KubeConnection | None = None
        self._connecting: asyncio.Future[KubeConnection] | None = None
        self._pool = ReplicaPool(self._connection, self._page)
        self._announcer = ServerAnnouncer()
        self._load = Load()
        self.details = ServerDetails(clock)
        self._flow: FlowConfig | None = None
        self.problem = ""

    @property
    def warnings(self) -> list[str]:
        return self._target.warnings if self._target is not None else []

    async def start(self) -> list[AnyEvent]:
        """Connect, and return the first events: the server and its flow control."""
        self._target = await in_daemon_thread(self._connect)
        self._pool.start()
        await self.details.read_version(self._pool.first)
        await self.details.refresh(self._pool.first)
        return [*self._server(), *await self._read_flow()]

    async def close(self) -> None:
        await self._pool.close()

    async def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]:
        """Yield events for `seconds` (None: without end), with a scrape at the beginning and at the end.

        A failed scrape is reported and repeated.
        """
        loop = asyncio.get_running_loop()
        async for events in self._scrapes():
            yield events
        yield await self.dump_levels()
        scraped = reported = refreshed = loop.time()
        end = None if seconds is None else scraped + seconds
        while end is None or loop.time() < end:
            left = DUMP_SECONDS if end is None else end - loop.time()
            await asyncio.sleep(max(0.0, min(DUMP_SECONDS, left)))
            if events := await self.dump():
                yield events
            now = loop.time()
            if now - refreshed >= DETAILS_SECONDS:
                refreshed = now
                await self.details.refresh(self._pool.first)
                yield [*self._server(), *await self._read_flow()]
            if now - scraped >= self._interval:
                scraped = reported = now
                async for events in self._scrapes():
                    yield events
                yield await self.dump_levels()
            elif now - reported >= STATUS_SECONDS:
                reported = now
                yield [self._status()]
        if end is not None:
            yield await self.scrape()

    async def scrape(self) -> list[AnyEvent]:
        """Scrape every replica once, and return the events."""
        return [event async for batch in self._scrapes() for event in batch]

    async def _scrapes(self) -> AsyncIterator[list[AnyEvent]]:
        """Yield a batch per replica, so that the reader can process it between two pages."""
        if self.details.refusals.refused(METRICS):
            yield [self._status()]
            return
        try:
            async for replica, scrape in self._pool.scrapes(self.details.expected):
                yield self._events(scrape, replica)
            self.problem = ""
        except RefusedError as error:
            await self._refused(METRICS, error)
        except ClientError as error:
            self.problem = str(error)
            await self._reconnect()  # these connections may be dead
        yield [*self._server(), self._status()]

    async def dump(self) -> list[AnyEvent]:
        """Return the executing and waiting requests of each replica."""
        events: list[AnyEvent] = []
        if self.details.refusals.refused(DUMP) or self.problem:
            return events
        for connection in self._pool.open:
            if not connection.replica:
                continue
            try:
                at, content = self._clock(), await connection.document(DUMP, TEXT)
            except RefusedError as error:
                self.details.refusals.add(DUMP, error)
                return self._server()
            except ClientError:
                return events  # the next scrape reports why
            requests = requests_of(content.decode("utf-8", "replace"))
            events.append(RequestsDump(at=at, replica=connection.replica, requests=requests))
        return events

    async def dump_levels(self) -> list[AnyEvent]:
        """Return priority levels and busy queues of each replica.

        Called per scrape: the page of queues is long.
        """
        events: list[AnyEvent] = []
        if self.details.refusals.refused(LEVELS) or self.problem:
            return events
        for connection in self._pool.open:
            try:
                at, levels = self._clock(), await connection.document(LEVELS, TEXT)
                queues = await connection.document(QUEUES, TEXT)
            except RefusedError as error:
                self.details.refusals.add(LEVELS, error)
                return self._server()
            except ClientError:
                return events  # the next scrape reports why
            if connection.replica:
                found = levels_of(levels.decode("utf-8", "replace"))
                busy = queues_of(queues.decode("utf-8", "replace"))
                events.append(LevelsDump(at=at, replica=connection.replica, levels=found, queues=busy))
        return events

    async def probe(self, path: str, resource: str) -> list[AnyEvent]:
        """Return how far the cache of `resource` is behind etcd at each replica. Raises ClientError.

        Sends two reads of a name that no object has, one from the cache and one consistent.
        """
        events: list[AnyEvent] = []
        for connection in [item for item in self._pool.open if item.replica]:
            began = time.monotonic()
            found = [decode_list(await connection.document(each), each) for each in probe_paths(path)]
            ms = (time.monotonic() - began) * 1000
            cached, newest = found
            events.append(
                CacheProbe(
                    at=self._clock(), replica=connection.replica, resource=resource,
                    cache_rv=cached, newest_rv=newest, ms=ms,
                )
            )  # fmt: skip
        return events

    async def _read_flow(self) -> list[AnyEvent]:
        found = await self.details.read_flow(self._pool.first)
        if found is None or found == self._flow:
            return []
        self._flow = found
        return [msgspec.structs.replace(found, at=self._clock())]

    # Connections.

    def _connection(self) -> ReplicaConnection:
        if self._target is None:
            raise ClientError("not connected yet")
        return ReplicaConnection(self._target, self._user_agent, self._load)

    async def _page(self, connection: ReplicaConnection) -> Scrape:
        scrape = await connection.scrape(self.details.minor, self._clock)
        if scrape.ms > SLOW_MS:
            self._interval = min(self._interval * 2, MOST_SECONDS)
        elif self._interval > self._given:
            self._interval = max(self._given, self._interval / 2)
        return scrape

    async def _refused(self, path: str, error: RefusedError) -> None:
        if error.status == 403:
            self.details.refusals.add(path, error)
            return
        if error.status == 429:
            self._interval = min(max(self._interval * 2, float(error.retry_after)), MOST_SECONDS)
        self.problem = f"{path}: {error}"
        if error.status == 401:
            await self._reconnect()  # credentials expire: the kubeconfig may give new ones

    async def _reconnect(self) -> None:
        """Read the kubeconfig again. A slow credential program is waited for briefly, and continues."""
        await self.close()
        connecting = self._connecting = self._connecting or in_daemon_thread(self._connect)
        await asyncio.wait({connecting}, timeout=PATIENCE + 0.5)
        if connecting.done():
            self._connecting = None
            try:
                self._target = connecting.result()
            except ClientError as error:
                self.problem = str(error)
        else:
            self.problem = waiting() or self.problem
        self._pool.start()

    # Events.

    def _events(self, scrape: Scrape, replica: str) -> list[AnyEvent]:
        self.details.add_page(scrape.page)
        row = ReplicaScrape(
            at=scrape.at,
            replica=replica,
            version=scrape.page.version or self.details.version,
            page_bytes=scrape.bytes,
            page_lines=scrape.lines,
            ms=scrape.ms,
        )
        return page_events(scrape.page, row)

    def _server(self) -> list[AnyEvent]:
        return self._announcer.events(self.details.server(self._target), self._clock(), self.warnings)

    def _status(self) -> LiveStatus:
        return self._load.status(self._clock(), self._interval, self.problem)
