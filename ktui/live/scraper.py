"""Scrape a kube-apiserver's replicas, with GETs only, and convert their answers into telemetry events.

Each replica is scraped every 15 seconds; less often if it answers slowly or with 429.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import msgspec

from ktui import __version__
from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.client.exec_plugin import PATIENCE, waiting
from ktui.client.kube_connection import KubeConnection
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import FlowConfig, ReplicaDown, ReplicaScrape
from ktui.live.replica_pool import METRICS, ReplicaConnection, ReplicaPool, Scrape
from ktui.live.samples import Samples
from ktui.live.server_details import LiveFeed, ServerDetails, page_events

Result = TypeVar("Result")


def in_daemon_thread(work: Callable[[], Result]) -> asyncio.Future[Result]:
    """Return a future for the result of `work`. Unlike asyncio.to_thread, it does not delay the exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(settled: Callable[[], None]) -> None:
        if not future.done():  # else cancelled meanwhile
            settled()

    def run() -> None:
        try:
            settled = partial(future.set_result, work())
        except Exception as failure:  # passed to the future
            settled = partial(future.set_exception, failure)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, settled)

    threading.Thread(target=run, name="credentials", daemon=True).start()
    return future


SECONDS = 15.0  # between two scrapes of a replica
MOST_SECONDS = 240.0
START_SECONDS, START_ROUNDS = 30.0, 4  # the longest interval in the first rounds
SLOW_MS = 1_000.0  # a round with a scrape that takes longer doubles the interval
DUMP_SECONDS = 1.0
DETAILS_SECONDS = 60.0  # between two reads of readiness and Leases
MOST_DETAILS_SECONDS = 10.0  # that they may take before the pages are scraped
STATUS_SECONDS = 5.0
Connect = Callable[[], KubeConnection]  # reads the kubeconfig; called in a thread: it may run a program


class Scraper(LiveFeed):
    """A LiveFeed over a kube-apiserver: call `start`, read `batches`, then `close`. Raises ClientError."""

    def __init__(
        self, connect: Connect, interval: float = SECONDS, *, clock: Callable[[], float] = time.time,
        user_agent: str = f"ktui/{__version__} (observe)",
    ) -> None:  # fmt: skip
        super().__init__(interval, clock)
        self._connect = connect
        self._given = interval
        self._user_agent = user_agent
        self._target: KubeConnection | None = None
        self._connecting: asyncio.Future[KubeConnection] | None = None
        self._pool = ReplicaPool(self._connection, self._page)
        self._due = False  # a round is to begin before the interval is over
        self._began = 0.0  # the last round
        self._rounds = 0
        self._slow, self._wait = False, 0.0  # in this round: a slow page or a 429, and its Retry-After
        self.details = ServerDetails(clock)
        self._samples = Samples(self._pool, self.details, clock)
        self._flow: FlowConfig | None = None

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

    def refresh(self) -> None:
        """Scrape now instead of after the interval."""
        self._due = True

    async def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]:
        """Yield events for `seconds` (None: without end), with a scrape at the beginning and at the end.

        A failed scrape is reported and repeated. While a page is slow, the other replicas are still sampled.
        """
        loop = asyncio.get_running_loop()
        began = self._began = refreshed = reported = loop.time()
        end = None if seconds is None else began + seconds
        ready: asyncio.Queue[list[AnyEvent]] = asyncio.Queue()
        work = asyncio.ensure_future(self._round(ready))
        try:
            while end is None or loop.time() < end:
                left = DUMP_SECONDS if end is None else min(DUMP_SECONDS, end - loop.time())
                if work.done():
                    await asyncio.sleep(max(0.0, left))
                else:
                    await asyncio.wait({work}, timeout=max(0.0, left))
                while not ready.empty():
                    yield ready.get_nowait()
                if events := await self.dump():
                    yield events
                now = loop.time()
                if not work.done():
                    continue
                work.result()
                if self._due or now - self._began >= self._interval:
                    self._due, self._began = False, now
                    details = now - refreshed >= DETAILS_SECONDS
                    refreshed = now if details else refreshed
                    work = asyncio.ensure_future(self._round(ready, details=details))
                elif now - reported >= STATUS_SECONDS:
                    reported = now
                    yield [self._status()]
            rounds: list[asyncio.Task[None] | None] = [work] if not work.done() else []
            if work.done() or self._began == began:  # the last scrape; rates need two
                rounds.append(None)
            for last in rounds:
                work = last or asyncio.ensure_future(self._round(ready))
                while not work.done() or not ready.empty():
                    await asyncio.wait({work}, timeout=DUMP_SECONDS)
                    while not ready.empty():
                        yield ready.get_nowait()
                work.result()
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _round(self, ready: asyncio.Queue[list[AnyEvent]], *, details: bool = False) -> None:
        """Scrape every replica once, and put the events into `ready` page by page."""
        if details and self._pool.first.late is None:
            with suppress(TimeoutError):  # a sample reports it
                async with asyncio.timeout(MOST_DETAILS_SECONDS):
                    await self.details.refresh(self._pool.first)
                    await ready.put([*self._server(), *await self._read_flow()])
        async for events in self._scrapes():
            await ready.put(events)
        await ready.put(await self.dump_levels())

    async def scrape(self) -> list[AnyEvent]:
        """Scrape every replica once, and return the events."""
        return [event async for batch in self._scrapes() for event in batch]

    async def _scrapes(self) -> AsyncIterator[list[AnyEvent]]:
        """Yield a batch per replica, so that the reader can process it between two pages."""
        if self.details.refusals.refused(METRICS):
            yield [self._status()]
            return
        down: list[AnyEvent] = []
        self._slow, self._wait = False, 0.0
        try:
            async for replica, scrape in self._pool.scrapes(self.details.expected):
                yield self._events(scrape, replica)
            self.problem = next((why for name, why in self._pool.failed if not name), "")
            at = self._clock()
            down = [ReplicaDown(at=at, replica=name, reason=why) for name, why in self._pool.failed if name]
        except RefusedError as error:
            await self._refused(METRICS, error)
        except ClientError as error:
            self.problem = str(error)
            for connection in self._pool.open:
                down += self._samples.down(connection, self.problem)
            await self._reconnect()  # these connections may be dead
        self._pace()
        yield [*down, *self._server(), self._status()]

    def _pace(self) -> None:
        """Set the interval after a round: twice as long if a page was slow or refused with 429."""
        self._rounds += 1
        most = max(self._given, START_SECONDS if self._rounds <= START_ROUNDS else MOST_SECONDS)
        if self._slow:
            self._interval = max(min(self._interval * 2, most), min(self._wait, MOST_SECONDS))
        else:
            self._interval = max(self._given, self._interval / 2)

    async def dump(self) -> list[AnyEvent]:
        """Return the executing and waiting requests of each replica, and which of them do not answer."""
        if self._pool.arrived:
            self._due = True
        if self.problem:
            return []  # the next scrape reports whether it is over
        events = await self._samples.requests()
        if any(isinstance(event, ReplicaDown) for event in events):
            self._due = True  # search for what the load balancer leads to now
        return [*events, *self._server()]

    async def dump_levels(self) -> list[AnyEvent]:
        """Return priority levels and busy queues of each replica."""
        return [] if self.problem else [*await self._samples.levels(), *self._server()]

    async def probe(self, path: str, resource: str) -> list[AnyEvent]:
        """Return how far the cache of `resource` is behind etcd at each replica. Raises ClientError."""
        return await self._samples.probe(path, resource)

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
        self._slow = self._slow or scrape.ms > SLOW_MS
        return scrape

    async def _refused(self, path: str, error: RefusedError) -> None:
        if error.status == 403:
            self.details.refusals.add(path, error)
            return
        if error.status == 429:
            self._slow, self._wait = True, float(error.retry_after)
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
        version = scrape.page.version or self.details.version
        row = ReplicaScrape(
            at=scrape.at, replica=replica, version=version, page_bytes=scrape.bytes, page_lines=scrape.lines,
            ms=scrape.ms,
        )  # fmt: skip
        return page_events(scrape.page, row)

    def _server(self) -> list[AnyEvent]:
        return self._announce(self.details.server(self._target))
