"""Samples between two scrapes: running requests and queues of each replica, and whether it still answers."""

from __future__ import annotations

import asyncio
import datetime
import re
import time
from collections.abc import Callable, Iterator

from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.client.list_stream import ListEnvelope
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import (
    CacheProbe,
    LevelSample,
    LevelsDump,
    QueueSample,
    ReplicaDown,
    RequestsDump,
    RunningRequest,
)
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.resources import BUILTIN
from ktui.live.replica_pool import STALL_SECONDS, TEXT, ReplicaConnection, ReplicaPool
from ktui.live.server_details import ServerDetails

NAME = "ktui-probe"  # no object has this name


def collection_of(resource_id: str) -> str:
    """Return the path of a built-in resource (in one namespace if namespaced); "" for other resources."""
    known = next((item for item in BUILTIN.preferred() if item.id == resource_id), None)
    if known is None:
        return ""
    if not known.namespaced:
        return known.path
    base, _, plural = known.path.rpartition("/")
    return f"{base}/namespaces/default/{plural}"


def probe_paths(collection: str) -> tuple[str, str]:
    """Return a probe's two reads: from the cache as it is, then consistent. Each reads at most one key."""
    name = f"fieldSelector=metadata.name%3D{NAME}"
    return f"{collection}?{name}&resourceVersion=0", f"{collection}?{name}"


def decode_list(content: bytes, path: str) -> int:
    """Return the resourceVersion of a List. Raises ClientError."""
    try:
        found = decode_json(content, ListEnvelope).metadata.resource_version
    except DocumentError as error:
        raise ClientError(f"the answer to {path} is not valid: {error}") from error
    if not found.isdecimal() or len(found) > 18:
        raise ClientError(f"the answer to {path} has no resourceVersion")
    return int(found)


MOST_REQUESTS = 5_000  # read of a dump: a kube-apiserver admits a few hundred at a time
OWN_PATHS = "/debug/api_priority_and_fairness"
_VERBS = frozenset((
    "get", "list", "watch", "head", "options", "proxy", "connect", "create", "update", "patch", "delete",
    "deletecollection", "post", "put",
))  # fmt: skip
_BEHIND = 5  # columns after APIPath
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]+)")
_NANOSECONDS = re.compile(r"(\.\d{6})\d*")


def requests_of(dump: str) -> list[RunningRequest]:
    """Return the requests of `dump_requests?includeRequestDetails=1`; invalid lines are left out.

    User names and paths may contain commas; the verb between them shows where they end.
    """
    found: list[RunningRequest] = []
    for text in dump.splitlines()[1:]:
        parts = [part.strip() for part in text.split(",")]
        if len(found) >= MOST_REQUESTS:
            break
        if (request := _request(parts)) is not None and not request.path.startswith(OWN_PATHS):
            found.append(request)
    return found


def levels_of(dump: str) -> list[LevelSample]:
    """Return the priority levels of `dump_priority_levels`; invalid lines are left out."""
    found = []
    for parts in _rows(dump, 6):
        numbers = [int(part[:15]) for part in (parts[1], parts[4], parts[5]) if part.isdecimal()]
        if len(numbers) == 3:
            queues, waiting, executing = numbers
            found.append(
                LevelSample(parts[0], queues, parts[2] == "true", parts[3] == "true", waiting, executing)
            )
    return found


def queues_of(dump: str) -> list[QueueSample]:
    """Return the queues of `dump_queues` that have requests."""
    found = []
    for parts in _rows(dump, 5):
        if all(part.isdecimal() for part in parts[1:5]):
            numbers = [int(part[:15]) for part in parts[1:5]]
            if any(numbers[1:]):
                found.append(QueueSample(parts[0], *numbers))
    return found


def _rows(dump: str, columns: int) -> Iterator[list[str]]:
    for text in dump.splitlines()[1 : MOST_REQUESTS + 1]:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) >= columns:
            yield parts


def _request(parts: list[str]) -> RunningRequest | None:
    arrived = next((at for at in range(5, len(parts)) if _TIME.fullmatch(parts[at])), 0)
    if not arrived or arrived + 5 > len(parts) or not parts[arrived + 1].isdecimal():
        return None
    more = parts[arrived + 5 :]
    details = more[:-_BEHIND]  # user, verb and path
    at = next((at for at in range(1, len(details)) if details[at] in _VERBS), 0)
    verb = details[at] if at else ""
    queued = parts[3].isdecimal()  # the place in the queue; -1 for an executing request
    return RunningRequest(
        level=parts[0], schema=parts[1], user=",".join(details[:at]) or ",".join(parts[4:arrived]), verb=verb,
        path=",".join(details[at + 1 :]) if at else "", resource=more[-2] if verb else "",
        namespace=more[-5] if verb else "", seats=int(parts[arrived + 1][:9]), queued=queued,
        arrived=_time(parts[arrived]),
    )  # fmt: skip


def _time(text: str) -> float:
    try:
        return max(0.0, datetime.datetime.fromisoformat(_NANOSECONDS.sub(r"\1", text)).timestamp())
    except (ValueError, OverflowError):
        return 0.0


ANSWER_SECONDS = 3.0  # without an answer to a small GET, after which a replica is down
DUMP = f"{OWN_PATHS}/dump_requests?includeRequestDetails=1"
LEVELS, QUEUES = f"{OWN_PATHS}/dump_priority_levels", f"{OWN_PATHS}/dump_queues"
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
            return [] if connection.closed else self.down(connection, str(error))
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
