"""WATCH directly from etcd, for resources without a watch cache."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from ktui.cacher import watch_events
from ktui.cacher.cache_watch import MakeBookmark
from ktui.cacher.errors import WatchRetryPolicy, broken_connection
from ktui.cacher.watch_events import ADDED, BOOKMARK, DELETED, CacheEvent, OutEvent
from ktui.etcd.errors import CompactedError, EtcdError, UnreachableError
from ktui.kube import status
from ktui.kube.status import StatusError
from ktui.supervision import stop

if TYPE_CHECKING:
    from ktui.storage.objects import SelectionPredicate, StoredObject
    from ktui.storage.store import Store, StoreEvent

log = logging.getLogger(__name__)

# Capacity of kube-apiserver's outgoing channel.
OUTGOING = 100


class EtcdWatch:
    """One client's own watch of etcd.

    With `initial` it lists first and sends the objects as ADDED; `since` is then the resourceVersion that the
    list must have reached. Otherwise it sends events after `since` (0: from now on). A task reads etcd, at
    most 100 batches ahead of the client.
    """

    def __init__(
        self,
        store: Store,
        selection: SelectionPredicate,
        *,
        initial: bool,
        since: int,
        bookmark: MakeBookmark | None = None,
        end_bookmark: bool = False,
        timeout: float | None = None,
        stream: bool = False,
    ) -> None:
        self.delivered = 0
        self.on_live: Callable[[], None] = lambda: None  # called once the initial events are out
        self.bookmarks = 0
        self.cause = ""
        self.capacity = OUTGOING
        self.live = False
        self._store = store
        self._selection = selection
        self._initial = initial
        self._since = since
        self._bookmark = bookmark
        self._end_bookmark = end_bookmark
        self._stream = stream  # the initial list as a RangeStream
        self._queue: asyncio.Queue[list[OutEvent]] = asyncio.Queue(OUTGOING)
        self._ended = asyncio.Event()
        self._pump = asyncio.create_task(self._run(), name=f"watch {store.resource.id}")
        loop = asyncio.get_running_loop()
        self._timer = None if timeout is None else loop.call_later(timeout, self.close, "timeout")

    @property
    def buffered(self) -> int:
        return self._queue.qsize()

    def close(self, cause: str) -> None:
        """End the stream; queued events are still delivered."""
        self.cause = self.cause or cause
        self._ended.set()
        self._pump.cancel()
        if self._timer is not None:
            self._timer.cancel()

    async def batches(self) -> AsyncIterator[list[OutEvent]]:
        try:
            while (batch := await self._next()) is not None:
                self.delivered += len(batch)
                yield batch
        finally:
            self.close("client gone")
            await stop(self._pump)

    async def _next(self) -> list[OutEvent] | None:
        if not self._queue.empty():
            return self._queue.get_nowait()
        getting, ended = asyncio.ensure_future(self._queue.get()), asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait((getting, ended), return_when=asyncio.FIRST_COMPLETED)
            return getting.result() if getting.done() else None
        finally:
            getting.cancel()
            ended.cancel()

    async def _run(self) -> None:
        """Fill the queue; errors become ERROR events."""
        try:
            await self._events()
            self.close("etcd closed the watch")
        except CompactedError:
            await self._fail(status.watch_too_old())
        except StatusError as error:
            await self._fail(error)
        except EtcdError as error:
            await self._fail(status.internal_error(str(error)))
        except Exception as error:  # a bug: the client gets an ERROR event, not a silent end
            log.exception("watch of %s", self._store.resource.id)
            await self._fail(status.internal_error(str(error)))

    async def _events(self) -> None:
        since = self._since
        if self._initial:
            since = await self._send_present()
        elif since == 0:
            since = await self._store.probe()
        self.live = True
        self.on_live()
        await self._follow(since)

    async def _follow(self, since: int) -> None:
        """Pass on events after `since`.

        After a broken connection the watch resumes at the last event, as etcd's Go client does: the client
        does not notice.
        """
        retry, history = WatchRetryPolicy(), self._store.history
        while True:
            try:
                async with self._store.watch(since) as watch:
                    async for transaction in watch:
                        since = transaction[0].rv
                        batch = [out for out in map(self._convert, transaction) if out is not None]
                        if batch:
                            await self._queue.put(batch)
                return
            except UnreachableError as error:
                if not broken_connection(error):
                    raise
                await self._reconnect(retry)
            if self._store.history != history:
                raise EtcdError("etcd was emptied, restored from a backup, or is another cluster.")

    async def _reconnect(self, retry: WatchRetryPolicy) -> None:
        """Return once etcd answers again."""
        while True:
            await asyncio.sleep(retry.pause())
            with contextlib.suppress(UnreachableError):
                await self._store.head()
                return

    async def _send_present(self) -> int:
        rv = 0
        async for page in self._store.pages(self._selection.namespace, stream=self._stream):
            rv = page.rv
            if 0 < rv < self._since:
                raise status.too_large_rv(self._since, rv, retry_after=0)
            matching = [obj for obj in page.objects if obj.matches(self._selection)]
            if matching:
                await self._queue.put([OutEvent(ADDED, obj.rv, obj) for obj in matching])
        if self._end_bookmark and self._bookmark is not None:
            self.bookmarks += 1
            await self._queue.put([self._bookmark(rv, True)])
        return rv

    def _convert(self, event: StoreEvent) -> OutEvent | None:
        if event.type == BOOKMARK or event.object is None:
            if self._bookmark is None:
                return None
            self.bookmarks += 1
            return self._bookmark(event.rv, False)
        change = CacheEvent(event.type, event.object, event.previous, event.rv, 0.0)
        current = event.type != DELETED and self._matches(event.object)
        return change.out(current, self._matches(event.previous))

    def _matches(self, obj: StoredObject | None) -> bool:
        return obj is not None and obj.matches(self._selection)

    async def _fail(self, error: StatusError) -> None:
        await self._queue.put([watch_events.error(error.body())])
        self.close("error")
