"""One resource in etcd, with the operations of kube-apiserver's etcd3 store."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Literal, NamedTuple

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import CompactedError
from ktui.etcd.types import KV, WatchEvent
from ktui.etcd.watch import WatchStream
from ktui.kube import status
from ktui.kube.resources import Resource
from ktui.storage.errors import asking
from ktui.storage.keys import ResourceKeys, range_end
from ktui.storage.lister import Lister, Page, StoreList, StoreListRequest
from ktui.storage.objects import Reader, StoredObject
from ktui.storage.whole_range import MAX_PAGE, read_range
from ktui.storage.writer import Leases, Writer
from ktui.telemetry.meter import current_meter
from ktui.telemetry.off_loop import LARGE_BYTES, Slices, compute_large


class StoreEvent(NamedTuple):
    """A change at revision `rv`. BOOKMARK: no object, and no further event up to `rv`."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: StoredObject | None  # DELETED: the last state, with the deletion's rv
    previous: StoredObject | None  # with its own rv
    rv: int


class StoreWatch:
    """Async iterator of an etcd watch's transactions: all events of one revision, or one BOOKMARK.

    Each event has the object and its previous state. Raises CompactedError, UnreadableError or another
    EtcdError. Objects are already scanned, except replaced ones. A progress request of
    `stream` is answered by a BOOKMARK.
    """

    def __init__(self, reader: Reader, stream: WatchStream) -> None:
        self._reader = reader
        self.stream = stream
        self._events: deque[WatchEvent] = deque()
        self._slices = Slices()

    async def __aenter__(self) -> StoreWatch:
        await self.stream.open()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.stream.close()

    def __aiter__(self) -> StoreWatch:
        return self

    async def __anext__(self) -> list[StoreEvent]:
        pending = self._events
        if not pending:
            batch = await anext(self.stream)
            if batch.is_progress:
                return [StoreEvent("BOOKMARK", None, None, batch.revision)]
            pending.extend(batch.events)
        await self._slices.yield_if_due()
        revision, transaction = pending[0].kv.mod_revision, []
        while pending and pending[0].kv.mod_revision == revision:
            transaction.append(pending.popleft())
        if any(_size(event) >= LARGE_BYTES for event in transaction):
            return await compute_large(lambda: [*map(self._event, transaction)])
        return [*map(self._event, transaction)]

    def _event(self, event: WatchEvent) -> StoreEvent:
        kv, rv = event.kv, event.kv.mod_revision
        if event.type == "PUT" and kv.create_revision == kv.mod_revision:
            return StoreEvent("ADDED", self._reader.scanned(kv), None, rv)
        if event.prev_kv is None:
            # As in kube-apiserver, the watch ends: the change is unknown.
            raise CompactedError(f"etcd has compacted the state of {kv.key!r} before revision {rv}.")
        if event.type == "DELETE":
            previous = self._reader.scanned(event.prev_kv)
            return StoreEvent("DELETED", previous.with_rv(rv), previous, rv)
        # caches have it already, so it is scanned only if needed
        previous = self._reader.object(event.prev_kv)
        return StoreEvent("MODIFIED", self._reader.scanned(kv), previous, rv)


def _size(event: WatchEvent) -> int:
    """Return the bytes read: for a deletion, those of the previous state."""
    return max(len(event.kv.value), len(event.prev_kv.value) if event.prev_kv else 0)


class Store:
    """The stored objects of one resource. `prefix` is the prefix of all its keys, e.g. `/registry/pods/`.

    Methods raise StatusError; `pages`, `head` and `watch`, which are for caches, raise EtcdError.
    """

    def __init__(
        self,
        client: EtcdClient,
        resource: Resource,
        etcd_prefix: str = "/registry",
        *,
        leases: Leases | None = None,
    ) -> None:
        self.resource = resource
        self._client = client
        self._keys = ResourceKeys(resource, etcd_prefix)
        self._reader = Reader(resource, self._keys.prefix)
        writer = Writer(client, resource, self._keys, self._reader, leases or Leases(client))
        self.create, self.update = writer.create, writer.update

    @property
    def prefix(self) -> str:
        return self._keys.prefix

    async def get(
        self, namespace: str | None, name: str, *, minimum_rv: int = 0
    ) -> tuple[StoredObject | None, int]:
        """Return the object (None: not found) and etcd's revision; 504 if that is below `minimum_rv`."""
        meter = current_meter()
        meter.etcd_gets += 1
        meter.look()
        with asking(self.resource, "get"):
            answer = await self._client.range(self._keys.of(namespace, name), purpose="get")
        if answer.revision < minimum_rv:
            raise status.too_large_rv(minimum_rv, answer.revision, retry_after=0)
        found = await self._reader.read(answer.kvs)
        return (found[0] if found else None), answer.revision

    async def list(self, request: StoreListRequest) -> StoreList:
        """Read a page, or everything.

        Raises StatusError 504 if etcd has not reached `minimum_rv`, 500 for an unreadable object;
        CompactedError or FutureRevisionError if etcd does not have `revision`.
        """
        with asking(self.resource, "list"):
            return await Lister(self._client, self._keys, self._reader, request).run()

    async def pages(
        self, namespace: str | None = None, revision: int = 0, page: int = MAX_PAGE, *, stream: bool = False
    ) -> AsyncIterator[Page]:
        """Yield the collection at one revision, scanned, in pages of up to `page` objects and about 8 MiB.

        `stream`: in the chunks of a RangeStream, if etcd has it; the revision (and count) of all pages is
        that of the last one then, 0 before.
        """
        prefix = self._keys.collection(namespace).encode()
        count = 0
        current_meter().etcd_lists += 1
        end, purpose = range_end(prefix), "reflector"
        reading = read_range(
            self._client, prefix, end, revision=revision, most=page, purpose=purpose, stream=stream
        )
        async with aclosing(reading) as answers:
            async for answer in answers:
                revision, count = revision or answer.revision, count or answer.count
                yield Page(await self._scanned(answer.kvs), revision, count)

    async def probe(self) -> int:
        """Return etcd's current revision, by a linearizable read of one key that normally does not exist."""
        current_meter().etcd_gets += 1
        with asking(self.resource, "list"):
            return await self.head()

    async def head(self) -> int:
        """Return etcd's current revision for caches; raise EtcdError."""
        return (await self._client.range(self._keys.root, limit=1, purpose="probe")).revision

    @property
    def range_stream(self) -> bool | None:
        """Whether etcd has RangeStream; None while that is unknown."""
        return self._client.range_streams.supported

    @property
    def history(self) -> int:
        """A number that changes when etcd's revisions start over; earlier revisions are then meaningless."""
        return self._client.ledger.histories

    async def count(self) -> int:
        """Return the number of objects (a count-only Range)."""
        prefix = self.prefix.encode()
        return (await self._client.range(prefix, range_end(prefix), count_only=True, purpose="count")).count

    def watch(self, from_revision: int, namespace: str | None = None) -> StoreWatch:
        """Watch all changes after `from_revision`, in an `async with`."""
        prefix = self._keys.collection(namespace).encode()
        return StoreWatch(
            self._reader, self._client.watch(prefix, range_end(prefix), start_revision=from_revision + 1)
        )

    async def delete(self, namespace: str | None, name: str) -> StoredObject:
        """Delete the object; return its last state at the deletion's revision. Raises StatusError 404."""
        return await self.update(namespace, name, lambda _: None, verb="delete")

    async def _scanned(self, kvs: Sequence[KV]) -> Sequence[StoredObject]:
        slices = Slices()
        objects = []
        for kv in kvs:
            objects += await self._reader.read((kv,), scan=True)
            await slices.yield_if_due()
        return objects
