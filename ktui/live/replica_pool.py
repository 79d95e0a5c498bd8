"""Keep a connection to each replica behind a load balancer, which routes a new connection to any of them.

A connection reads the metrics and documents of its replica within size limits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ktui.client.api import ApiClient, Received, RefusedError
from ktui.client.connection import ClientError
from ktui.client.kube_connection import KubeConnection
from ktui.client.metrics_page import Exposition, ExpositionError
from ktui.live.families import WANTED
from ktui.live.page_figures import Numbers, ScrapePage, page_of

STALL_SECONDS = 5.0  # without a byte of a page that is being read, after which its replica is down
IDLE_SECONDS = 300.0  # for which an idle connection is kept between scrapes
MOST_PAGE_BYTES = 512 << 20
MOST_DOCUMENT_BYTES = 8 << 20
SLICE = 32 * 1024  # bytes of a page parsed at a time: under 2 ms
METRICS = "/metrics"
TEXT, JSON = "text/plain;version=0.0.4;q=1,*/*;q=0.1", "application/json"
_START_TIME = "process_start_time_seconds"
_LAST_FAMILY = b"process_t"  # pages are sorted by name: a complete one goes beyond this name


@dataclass(slots=True)
class Load:
    """What ktui costs the server: requests, compressed bytes, milliseconds until the last byte of each."""

    requests: int = 0
    received_bytes: int = 0
    busy_ms: float = 0.0


@dataclass(slots=True)
class Scrape:
    """A page, the time of its request (Unix seconds), and the bytes and milliseconds of its transport."""

    page: ScrapePage
    at: float
    ms: float
    bytes: int
    lines: int


class ReplicaConnection:
    """One connection; `replica` is the name of the replica at its other end, "" until it is known.

    Methods raise ClientError; RefusedError for a status other than 200. They wait for each other: a second
    connection could lead to another replica.
    """

    def __init__(self, target: KubeConnection, user_agent: str, load: Load) -> None:
        """Every request adds its cost to `load`."""
        self.replica = ""
        self.closed = False  # by ktui: its requests fail
        self.lost = False  # it broke: what is at its other end is known after the next scrape
        self.late: asyncio.Task[Scrape] | None = None  # a page that stalled, and may still arrive
        self.reading = ""  # the path of the answer that is being read
        self._heard = 0.0  # when the answer that is being read last had a byte
        self._one = asyncio.Lock()
        self.url = target.url
        self._client = ApiClient(target, user_agent, idle_seconds=IDLE_SECONDS)
        self._load = load

    @property
    def busy(self) -> bool:
        return self._one.locked()

    @property
    def stalls_in(self) -> float:
        """Seconds until the answer that is being read counts as stalled, unless a byte of it arrives."""
        return self._heard + STALL_SECONDS - time.monotonic()

    @property
    def stalled(self) -> bool:
        return self.busy and self.stalls_in <= 0

    async def close(self) -> None:
        self.closed = True
        if self.late is not None:
            self.late.cancel()
            await asyncio.gather(self.late, return_exceptions=True)
            self.late = None
        await self._client.close()

    async def scrape(self, minor: int, clock: Callable[[], float]) -> Scrape:
        """Read /metrics and return its figures; `minor` is the server's, 0 if unknown."""
        at, received, reader = clock(), Received(), Exposition(WANTED)
        try:
            async for piece in self._read(METRICS, TEXT, received):
                if reader.bytes > MOST_PAGE_BYTES:
                    raise ExpositionError(f"it has more than {MOST_PAGE_BYTES >> 20} MiB")
                for start in range(0, len(piece), SLICE):
                    reader.feed(piece[start : start + SLICE])
                    await asyncio.sleep(0)
            reader.finish()
            if reader.last_family < _LAST_FAMILY and _START_TIME not in reader.families:
                raise ExpositionError("the page is incomplete")
        except ExpositionError as error:
            raise ClientError(f"/metrics of {self.url} cannot be used: {error}") from error
        page = await asyncio.to_thread(page_of, reader.samples, reader.families, minor)
        return Scrape(page, at, received.ms, reader.bytes, reader.lines)

    async def document(self, path: str, accept: str = JSON) -> bytes:
        """Return an answer of at most MOST_DOCUMENT_BYTES."""
        content, received = bytearray(), Received()
        async for piece in self._read(path, accept, received):
            content += piece
            if len(content) > MOST_DOCUMENT_BYTES:
                raise ClientError(f"the answer to {path} has more than {MOST_DOCUMENT_BYTES >> 20} MiB")
        return bytes(content)

    async def _read(self, path: str, accept: str, received: Received) -> AsyncGenerator[bytes, None]:
        async with self._one:
            if self.closed:
                raise ClientError(f"the connection to {self.url} was closed")
            self._load.requests += 1
            self.reading, self._heard = path.partition("?")[0], time.monotonic()
            try:
                async for piece in self._client.read(path, accept, received):
                    self._heard = time.monotonic()
                    yield piece
            finally:
                self._load.received_bytes += received.wire_bytes
                self._load.busy_ms += received.ms


STRAY = 0.01  # share of counters that may decrease on one connection, as those of a deleted resource do


class Process(NamedTuple):
    """A process as a page shows it: its start time, and its counters, which never decrease while it lives."""

    started: float
    counters: Numbers

    def follows(self, before: Process, stray: float = 0.0) -> bool:
        """True if it may be the process `before` at a later time; a share of `stray` may have decreased."""
        back = sum(value < before.counters.get(name, 0.0) for name, value in self.counters.items())
        return before.started == self.started and back <= stray * len(self.counters)


def process_of(page: ScrapePage) -> Process:
    return Process(page.process.get("started", 0.0), page.counted)


@dataclass(slots=True)
class Replicas:
    """The processes that have answered so far: a load balancer routes each connection to any of them.

    Replicas that were started together have the same start time in metrics, which show tenths of a second.
    """

    known: dict[str, Process] = field(default_factory=dict)  # as last seen, by name

    def identify(self, page: ScrapePage, before: str = "") -> str:
        """Return the name of the replica that sent `page`, and keep its counters.

        `before` is the replica last seen on this connection. The name is new if no known process can have
        these counters now.
        """
        now, known = process_of(page), self.known.get(before)
        name = before if known is not None and now.follows(known, STRAY) else self.candidate(page)
        if not name:
            return self.add(page)
        self.known[name] = now
        return name

    def may_be(self, name: str, page: ScrapePage) -> bool:
        """True if replica `name` can have sent `page`, newer than all its pages so far."""
        return name in self.known and process_of(page).follows(self.known[name])

    def candidate(self, page: ScrapePage) -> str:
        """Return a known replica that may have sent the page; "" if none. Does not keep the counters."""
        return next((name for name in self.known if self.may_be(name, page)), "")

    def add(self, page: ScrapePage) -> str:
        name = str(len(self.known) + 1)
        self.known[name] = process_of(page)
        return name


MOST_REPLICAS = 16
SEARCHED_FOR = 8  # rounds in which a replica that stopped answering is searched for
GIVEN_UP_SECONDS = 30.0  # without a byte of a page, after which its connection is given up
WAITED = 0.05  # seconds between two looks at a page whose request was not sent yet, or that is being decoded
UNSUCCESSFUL = 3  # new connections in a row to known replicas, after which no more are opened

Scraped = Callable[[ReplicaConnection], Awaitable[Scrape]]


class PageStalled(ClientError):
    """No byte of a page that is being read arrived for STALL_SECONDS."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url} sends no byte of {METRICS} for {STALL_SECONDS:.0f} s")


class ReplicaPool:
    """The connections to all replicas. `scrapes` reads a page of each, and searches for more replicas."""

    def __init__(self, connect: Callable[[], ReplicaConnection], scrape: Scraped) -> None:
        self._connect = connect
        self._scrape = scrape
        self._replicas = Replicas()
        self._lost: dict[str, int] = {}  # replicas that stopped answering: rounds to search for them
        self._searched = False  # True once replicas were searched for with new connections
        self.open: list[ReplicaConnection] = []
        self.failed: list[tuple[str, str]] = []  # replicas that did not answer in the last round, and why

    @property
    def first(self) -> ReplicaConnection:
        """A connection that answers, if one does."""
        return next((connection for connection in self.open if connection.late is None), self.open[0])

    @property
    def arrived(self) -> bool:
        """True if a page that had stalled is read by now."""
        return any(connection.late is not None and connection.late.done() for connection in self.open)

    def start(self) -> None:
        """Open the first connection; the next scrape searches for replicas."""
        self._searched = False
        self.open = [self._connect()]

    async def close(self) -> None:
        closing, self.open = self.open, []
        for connection in closing:
            await connection.close()

    async def scrapes(self, expected: int | None) -> AsyncIterator[tuple[str, Scrape]]:
        """Yield name and page of every replica; `expected` is the number of replicas, None: unknown.

        A replica that does not answer is in `failed` with the reason. Raises ClientError if none answers.
        A page that stalls is read on while others are scraped: a later round yields it.
        """
        self.failed = []
        for connection in list(self.open):
            try:
                scrape = await self._unless_stalled(connection)
            except PageStalled as stalled:
                self.failed.append((connection.replica, str(stalled)))
                continue
            except RefusedError:
                raise
            except ClientError as error:
                if len(self.open) == 1:
                    raise
                self.open.remove(connection)
                self._lost[connection.replica] = SEARCHED_FOR
                self.failed.append((connection.replica, str(error)))
                await connection.close()
                continue
            connection.replica = self._replicas.identify(scrape.page, connection.replica)
            connection.lost = False
            yield connection.replica, scrape
        await self._close_duplicates()
        if all(connection.late is not None for connection in self.open):
            return
        async for found in self._search(expected):
            yield found

    async def _unless_stalled(self, connection: ReplicaConnection) -> Scrape:
        """Return a page of this connection, begun now or in an earlier round. Raises PageStalled."""
        page = connection.late = connection.late or asyncio.ensure_future(self._scrape(connection))
        while not page.done():
            left = connection.stalls_in if connection.busy else WAITED
            if left <= STALL_SECONDS - GIVEN_UP_SECONDS:
                page.cancel()
                await asyncio.wait({page})
                connection.late = None
                raise ClientError(f"{connection.url} sends no byte of {METRICS} for {GIVEN_UP_SECONDS:.0f} s")
            if left <= 0:
                raise PageStalled(connection.url)
            await asyncio.wait({page}, timeout=left)
        connection.late = None
        return page.result()

    async def _close_duplicates(self) -> None:
        """Close connections to the same replica: a connection that was reopened may lead to another one."""
        kept: dict[str, ReplicaConnection] = {}
        for connection in self.open:
            if kept.setdefault(connection.replica, connection) is not connection:
                await connection.close()
                self._searched = False
        self.open = list(kept.values())

    async def _search(self, expected: int | None) -> AsyncIterator[tuple[str, Scrape]]:
        """Open connections until UNSUCCESSFUL in a row lead to known replicas.

        After the first search only one is tried, and only while there are fewer replicas than `expected`.
        """
        missing = len(self.open) < (expected or 0)
        unsuccessful = (UNSUCCESSFUL - 1 if missing else UNSUCCESSFUL) if self._searched else 0
        if self._lost:
            found = {connection.replica for connection in self.open}
            self._lost = {name: left - 1 for name, left in self._lost.items() if left and name not in found}
            unsuccessful = 0
        self._searched = True
        while unsuccessful < UNSUCCESSFUL and len(self.open) < MOST_REPLICAS:
            connection = self._connect()
            try:
                scrape = await self._unless_stalled(connection)
                connection.replica = await self._new_replica(scrape)
            except asyncio.CancelledError:
                await connection.close()
                raise
            except ClientError as error:
                await connection.close()
                if not isinstance(error, RefusedError):
                    return  # the load balancer leads to a replica that does not answer; the others do
                raise
            if not connection.replica:
                unsuccessful += 1
                await connection.close()
                continue
            self.open.append(connection)
            yield connection.replica, scrape

    async def _new_replica(self, scrape: Scrape) -> str:
        """Return the name of the replica that sent this page; "" if it has a connection already.

        A page that is ahead of a known replica in every counter may be a later page of it. Then that replica
        is scraped again: if it is the same, its page is ahead in turn.
        """
        name = self._replicas.candidate(scrape.page)
        if not name:
            return self._replicas.add(scrape.page)
        connection = next((item for item in self.open if item.replica == name), None)
        if connection is None:
            self._replicas.identify(scrape.page, name)
            return name
        again = await self._unless_stalled(connection)
        if not self._replicas.may_be(name, again.page):
            return ""  # that connection now leads to another replica, so the name is unknown
        if process_of(again.page).follows(process_of(scrape.page)):
            self._replicas.identify(again.page, name)
            return ""
        return self._replicas.add(scrape.page)
