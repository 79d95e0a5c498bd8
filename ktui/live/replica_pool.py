"""Keep a connection to each replica behind a load balancer, which routes a new connection to any of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.live.replica_connection import ReplicaConnection, Scrape
from ktui.live.replicas import Replicas, follows

MOST_REPLICAS = 16
SEARCHED_FOR = 8  # rounds in which a replica that stopped answering is searched for
UNSUCCESSFUL = 3  # new connections in a row to known replicas, after which no more are opened

Scraped = Callable[[ReplicaConnection], Awaitable[Scrape]]


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
        return self.open[0]

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
        """
        self.failed = []
        for connection in list(self.open):
            try:
                scrape = await self._scrape(connection)
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
        async for found in self._search(expected):
            yield found

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
                scrape = await self._scrape(connection)
                connection.replica = await self._new_replica(scrape)
            except ClientError as error:
                await connection.close()
                if self.failed and not isinstance(error, RefusedError):
                    return  # the load balancer still leads to the replica that does not answer
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
        again = await self._scrape(connection)
        if not self._replicas.may_be(name, again.page):
            return ""  # that connection now leads to another replica, so the name is unknown
        if follows(again.page, scrape.page):
            self._replicas.identify(again.page, name)
            return ""
        return self._replicas.add(scrape.page)
