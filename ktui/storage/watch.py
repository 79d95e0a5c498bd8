"""Turn an etcd watch into object events with their previous state."""

from __future__ import annotations

from collections import deque
from types import TracebackType

from ktui.etcd.errors import CompactedError
from ktui.etcd.types import WatchEvent
from ktui.etcd.watch import WatchStream
from ktui.storage.objects import Reader
from ktui.storage.requests import StoreEvent
from ktui.storage.slices import Slices
from ktui.telemetry.off_loop import LARGE_BYTES, compute_large


class StoreWatch:
    """Async iterator of transactions: all events of one revision, or one BOOKMARK.

    Raises CompactedError, UnreadableError or another EtcdError; ends after `close`. Objects are already
    scanned, except replaced ones.
    """

    def __init__(self, reader: Reader, stream: WatchStream) -> None:
        self._reader = reader
        self._stream = stream
        self._events: deque[WatchEvent] = deque()
        self._slices = Slices()

    async def __aenter__(self) -> StoreWatch:
        await self._stream.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> StoreWatch:
        return self

    async def __anext__(self) -> list[StoreEvent]:
        pending = self._events
        if not pending:
            batch = await anext(self._stream)
            if batch.is_progress:
                return [StoreEvent("BOOKMARK", None, None, batch.revision)]
            pending.extend(batch.events)
        await self._slices.yield_if_due()
        revision, transaction = pending[0].kv.mod_revision, []
        while pending and pending[0].kv.mod_revision == revision:
            transaction.append(pending.popleft())
        large = any(_size(event) >= LARGE_BYTES for event in transaction)
        return await compute_large(self._read, transaction) if large else self._read(transaction)

    def _read(self, transaction: list[WatchEvent]) -> list[StoreEvent]:
        return [self._event(event) for event in transaction]

    @property
    def created_at(self) -> float:
        """Time when etcd confirmed the watch (time.monotonic), 0 before."""
        return self._stream.created_at

    @property
    def heard_at(self) -> float:
        """Time of etcd's last message on the watch's connection (time.monotonic), 0 before the first."""
        return self._stream.heard_at

    async def request_progress(self) -> None:
        """Request a BOOKMARK at etcd's revision, once all events up to it have arrived."""
        await self._stream.request_progress()

    async def close(self) -> None:
        await self._stream.close()

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
