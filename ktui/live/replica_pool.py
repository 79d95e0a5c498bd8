"""Keep a connection to each replica behind a load balancer, which routes a new connection to any of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.live.page_figures import Numbers, ScrapePage
from ktui.live.replica_connection import METRICS, STALL_SECONDS, ReplicaConnection, Scrape

STRAY = 0.01  # share of counters that may decrease on one connection, as those of a deleted resource do


@dataclass(slots=True)
class Known:
    """One process as it was last seen."""

    name: str
    started: float
    counters: Numbers


@dataclass(slots=True)
class Replicas:
    """The processes that have answered so far: a load balancer routes each connection to any of them.

    A process is identified by its start time and its counters, which never decrease while it lives. Replicas
    that were started together have the same start time in metrics, which show tenths of a second.
    """

    known: dict[str, Known] = field(default_factory=dict)

    def identify(self, page: ScrapePage, before: str = "") -> str:
        """Return the name of the replica that sent `page`, and keep its counters.

        `before` is the replica last seen on this connection. The name is new if no known process can have
        these counters now.
        """
        started, counters = page.process.get("started", 0.0), page.counted
        known = self.known.get(before)
        if known is None or not _may_be(known, started, counters, STRAY):
            known = next((item for item in self.known.values() if _may_be(item, started, counters)), None)
        if known is None:
            known = Known(str(len(self.known) + 1), started, counters)
            self.known[known.name] = known
        known.counters = counters
        return known.name

    def may_be(self, name: str, page: ScrapePage) -> bool:
        """True if replica `name` can have sent `page`, newer than all its pages so far."""
        known = self.known.get(name)
        return known is not None and _may_be(known, page.process.get("started", 0.0), page.counted)

    def candidate(self, page: ScrapePage) -> str:
        """Return a known replica that may have sent the page; "" if none. Does not keep the counters."""
        return next((name for name in self.known if self.may_be(name, page)), "")

    def add(self, page: ScrapePage) -> str:
        """Add a new replica, and return its name."""
        name = str(len(self.known) + 1)
        self.known[name] = Known(name, page.process.get("started", 0.0), page.counted)
        return name


def follows(page: ScrapePage, before: ScrapePage) -> bool:
    """True if one process can have sent `before` and then `page`."""
    known = Known("", before.process.get("started", 0.0), before.counted)
    return _may_be(known, page.process.get("started", 0.0), page.counted)


def _may_be(known: Known, started: float, counters: Numbers, stray: float = 0.0) -> bool:
    if known.started != started:
        return False
    back = sum(1 for name, value in counters.items() if value < known.counters.get(name, 0.0))
    return back <= stray * len(counters)


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
        if follows(again.page, scrape.page):
            self._replicas.identify(again.page, name)
            return ""
        return self._replicas.add(scrape.page)
