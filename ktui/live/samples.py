"""Samples between two scrapes: running requests and queues of each replica, and whether it still answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import CacheProbe, LevelsDump, ReplicaDown, RequestsDump
from ktui.live.dumps import levels_of, queues_of, requests_of
from ktui.live.probes import decode_list, probe_paths
from ktui.live.replica_connection import STALL_SECONDS, TEXT, ReplicaConnection
from ktui.live.replica_pool import ReplicaPool
from ktui.live.server_details import ServerDetails

ANSWER_SECONDS = 3.0  # without an answer to a small GET, after which a replica is down
_DUMPS = "/debug/api_priority_and_fairness"
DUMP = f"{_DUMPS}/dump_requests?includeRequestDetails=1"
LEVELS, QUEUES = f"{_DUMPS}/dump_priority_levels", f"{_DUMPS}/dump_queues"
HEALTH = "/readyz"  # where the dumps may not be read


class Samples:
    """Reads samples over the connections of a pool. No method raises, except `probe`."""

    def __init__(self, pool: ReplicaPool, details: ServerDetails, clock: Callable[[], float]) -> None:
        self._pool = pool
        self._details = details
        self._clock = clock

    async def requests(self) -> list[AnyEvent]:
        """Return the executing and waiting requests of each replica, or that it does not answer.

        A connection that is reading a page of metrics is left out, unless no byte of it arrives.
        """
        known = [item for item in self._pool.open if item.replica and not item.lost]
        stalled = [
            self.down(connection, f"no byte of {connection.reading} for {STALL_SECONDS:.0f} s")
            for connection in known
            if connection.stalled
        ]
        idle = [item for item in known if not item.busy]
        found = await asyncio.gather(*(self._sample(connection) for connection in idle))
        return [event for events in (*stalled, *found) for event in events]

    async def _sample(self, connection: ReplicaConnection) -> list[AnyEvent]:
        dumps = not self._details.refusals.refused(DUMP)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                at = self._clock()
                content = await connection.document(DUMP if dumps else HEALTH, TEXT)
        except RefusedError as error:  # an answer
            if dumps:
                self._details.refusals.add(DUMP, error)
            return []
        except TimeoutError:
            return self.down(connection, f"no answer within {ANSWER_SECONDS:.0f} s")
        except ClientError as error:
            return self.down(connection, str(error))
        if not dumps:
            return []
        requests = requests_of(content.decode("utf-8", "replace"))
        return [RequestsDump(at=at, replica=connection.replica, requests=requests)]

    def down(self, connection: ReplicaConnection, reason: str) -> list[AnyEvent]:
        """Return that the replica of this connection does not answer, which the next scrape may end."""
        connection.lost = True
        if not connection.replica:
            return []
        return [ReplicaDown(at=self._clock(), replica=connection.replica, reason=reason)]

    async def levels(self) -> list[AnyEvent]:
        """Return priority levels and busy queues of each replica.

        Called per scrape: the page of queues is long.
        """
        events: list[AnyEvent] = []
        if self._details.refusals.refused(LEVELS):
            return events
        for connection in list(self._pool.open):
            if connection.lost or connection.late is not None:
                continue
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    at, levels = self._clock(), await connection.document(LEVELS, TEXT)
                    queues = await connection.document(QUEUES, TEXT)
            except RefusedError as error:
                self._details.refusals.add(LEVELS, error)
                return events
            except (ClientError, TimeoutError):
                continue  # the next sample reports why
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
        for connection in [item for item in self._pool.open if item.replica and item.late is None]:
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
