"""Serve a WATCH from the watch cache or directly from etcd, as the version's rules plan it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

from msgspec.structs import replace

from ktui.cacher import watch_events
from ktui.cacher.bookmarks import bookmark
from ktui.cacher.cache_list import REFERENCE_BYTES
from ktui.cacher.cache_watch import CacheWatch, ErrorStream, MakeBookmark, do_nothing
from ktui.cacher.cacher_requests import WatchAnswer, WatchRequest
from ktui.cacher.errors import NotFresh, WatchRetryPolicy, broken_connection
from ktui.cacher.resource_cache import ResourceCache
from ktui.cacher.settings import Settings
from ktui.cacher.watch_events import ADDED, BOOKMARK, DELETED, CacheEvent, OutEvent
from ktui.cacher.watchers import channel_size
from ktui.etcd.errors import CompactedError, EtcdError, UnreachableError
from ktui.kube import status
from ktui.kube.routing import decide_watch
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.parameters import NAME, NAMESPACE, shards_filter
from ktui.kube.routing.plan import PROBED, Plan, Source
from ktui.kube.status import StatusError
from ktui.storage.objects import SelectionPredicate, StoredObject
from ktui.storage.store import Store, StoreEvent
from ktui.supervision import stop
from ktui.telemetry.meter import current_meter

log = logging.getLogger(__name__)

# Capacity of kube-apiserver's outgoing channel.
OUTGOING = 100


@dataclass(eq=False)
class EtcdWatch:
    """One client's own watch of etcd.

    With `initial` it lists first and sends the objects as ADDED; `since` is then the resourceVersion that the
    list must have reached. Otherwise it sends events after `since` (0: from now on). A task reads etcd, at
    most 100 batches ahead of the client.
    """

    store: Store
    selection: SelectionPredicate
    initial: bool
    since: int
    bookmark: MakeBookmark | None
    end_bookmark: bool
    timeout: float | None
    stream: bool  # the initial list as a RangeStream
    delivered = bookmarks = 0
    cause = ""
    capacity = OUTGOING
    live = False

    def __post_init__(self) -> None:
        self.on_live = do_nothing  # called once the initial events are out
        self._queue: asyncio.Queue[list[OutEvent]] = asyncio.Queue(OUTGOING)
        self._ended = asyncio.Event()
        self._pump = asyncio.create_task(self._run(), name=f"watch {self.store.resource.id}")
        loop = asyncio.get_running_loop()
        self._timer = (
            loop.call_later(self.timeout, self.close, "timeout") if self.timeout is not None else None
        )

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
            since = self.since
            if self.initial:
                since = await self._send_present()
            elif since == 0:
                since = await self.store.probe()
            self.live = True
            self.on_live()
            await self._follow(since)
            self.close("etcd closed the watch")
        except CompactedError:
            await self._fail(status.watch_too_old())
        except StatusError as error:
            await self._fail(error)
        except EtcdError as error:
            await self._fail(status.internal_error(str(error)))
        except Exception as error:  # a bug: the client gets an ERROR event, not a silent end
            log.exception("watch of %s", self.store.resource.id)
            await self._fail(status.internal_error(str(error)))

    async def _follow(self, since: int) -> None:
        """Pass on events after `since`; resume after a broken connection, as etcd's Go client does."""
        retry, history = WatchRetryPolicy(), self.store.history
        while True:
            try:
                async with self.store.watch(since) as watch:
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
            if self.store.history != history:
                raise EtcdError("etcd was emptied, restored from a backup, or is another cluster.")

    async def _reconnect(self, retry: WatchRetryPolicy) -> None:
        while True:
            await asyncio.sleep(retry.pause())
            with contextlib.suppress(UnreachableError):
                await self.store.head()
                return

    async def _send_present(self) -> int:
        rv = 0
        async for page in self.store.pages(self.selection.namespace, stream=self.stream):
            rv = page.rv
            if 0 < rv < self.since:
                raise status.too_large_rv(self.since, rv, retry_after=0)
            matching = [obj for obj in page.objects if obj.matches(self.selection)]
            if matching:
                await self._queue.put([OutEvent(ADDED, obj.rv, obj) for obj in matching])
        if self.end_bookmark and self.bookmark is not None:
            self.bookmarks += 1
            await self._queue.put([self.bookmark(rv, True)])
        return rv

    def _convert(self, event: StoreEvent) -> OutEvent | None:
        if event.type == BOOKMARK or event.object is None:
            if self.bookmark is None:
                return None
            self.bookmarks += 1
            return self.bookmark(event.rv, False)
        change = CacheEvent(event.type, event.object, event.previous, event.rv, 0.0)
        current = event.type != DELETED and self._matches(event.object)
        return change.out(current, self._matches(event.previous))

    def _matches(self, obj: StoredObject | None) -> bool:
        return obj is not None and obj.matches(self.selection)

    async def _fail(self, error: StatusError) -> None:
        await self._queue.put([watch_events.error(error.body())])
        self.close("error")


# Trigger fields by which kube-apiserver finds a resource's watchers: (first minor, last minor, field).
_TRIGGERS = {
    "pods": (19, 99, "spec.nodeName"),
    "nodes": (19, 26, NAME),
    "configmaps": (19, 26, NAME),
    "secrets": (19, 26, NAME),
    "resourceslices.resource.k8s.io": (31, 99, "spec.nodeName"),
}


class WatchHandler:
    """Opens the WATCHes of one resource; `cache` is None for a resource without a watch cache."""

    def __init__(self, store: Store, settings: Settings, cache: ResourceCache | None) -> None:
        self._store = store
        self._settings = settings
        self._cache = cache

    async def watch(self, request: WatchRequest, state: CacheState) -> WatchAnswer:
        """The answer; raise StatusError if rejected at once. Later errors are ERROR events in the stream."""
        plan = decide_watch(request.options, state, self._settings.behaviour)
        current_meter().planned(plan, plan.source.value)
        if plan.error is not None:
            if not plan.in_stream:
                raise plan.error
            return self._failed(plan, plan.error)
        if plan.source is Source.ETCD or self._cache is None:
            return WatchAnswer(plan, plan.source.value, self._from_etcd(request, plan))
        try:
            return WatchAnswer(plan, plan.source.value, await self._from_cache(self._cache, request, plan))
        except NotFresh as late:
            return self._failed(plan, late.as_status())

    async def _from_cache(self, cache: ResourceCache, request: WatchRequest, plan: Plan) -> CacheWatch:
        reached = await cache.reach(plan)
        # No await from here on: the objects must be from the same moment as their resourceVersion.
        objects = self._present(cache, request) if plan.initial_events else None
        if objects:
            meter = current_meter()
            meter.fetched += len(objects)
            meter.cached_bytes += sum(obj.size for obj in objects)
            meter.hold(REFERENCE_BYTES * len(objects))
        since = reached if plan.revision == PROBED else plan.revision
        selection = self._selection(request)
        stream = CacheWatch(
            cache.feed,
            selection,
            since or cache.memory.rv,
            self._queue_size(selection, cache.memory.event_buffer.capacity),
            objects,
            form=request.form,
            bookmark=self._bookmarks(request),
            end_bookmark=plan.end_bookmark,
            timeout=request.timeout,
            closed=lambda: self._forget(cache, stream),
        )
        cache.streams.add(stream)
        cache.changed()
        return stream

    def _from_etcd(self, request: WatchRequest, plan: Plan) -> EtcdWatch:
        selection = self._selection(request)
        plain = request.selection.labels.empty and request.selection.fields.empty
        if plain and not shards_filter(self._settings.behaviour):
            selection = replace(selection, shards=None)
        return EtcdWatch(
            self._store,
            selection,
            initial=plan.initial_events,
            since=plan.minimum if plan.initial_events else plan.revision,
            bookmark=self._bookmarks(request),
            end_bookmark=plan.end_bookmark,
            timeout=request.timeout,
            # Of a stream the revision is known only at its end: too late to refuse a future one.
            stream=self._settings.behaviour.enabled("EtcdRangeStream") and plan.minimum == 0,
        )

    def _present(self, cache: ResourceCache, request: WatchRequest) -> list[StoredObject]:
        selection = self._selection(request)
        prefix = f"{self._store.prefix}{selection.namespace}/" if selection.namespace else self._store.prefix
        objects = cache.memory.store.slice(prefix, f"{prefix[:-1]}0")
        return [obj for obj in objects if obj.name == selection.name] if selection.name else objects

    def _queue_size(self, selection: SelectionPredicate, buffer_capacity: int) -> int:
        behaviour = self._settings.behaviour
        first, last, field = _TRIGGERS.get(self._store.resource.id, (99, 0, ""))
        triggers = first <= behaviour.minor <= last
        triggered = triggers and selection.fields.requires(field) is not None
        return 2 * channel_size(behaviour, buffer_capacity, triggers=triggers, triggered=triggered)

    def _selection(self, request: WatchRequest) -> SelectionPredicate:
        """Return the selectors, with the namespace and name that scope the dispatch."""
        fields = request.selection.fields
        namespace = request.namespace or fields.requires(NAMESPACE)
        name = request.name or fields.requires(NAME)
        return replace(request.selection, namespace=namespace or None, name=name or None)

    def _bookmarks(self, request: WatchRequest) -> MakeBookmark | None:
        if not request.options.allow_watch_bookmarks:
            return None
        resource = request.resource or self._store.resource
        return lambda rv, ends: bookmark(rv, resource, ends_initial_events=ends)

    @staticmethod
    def _failed(plan: Plan, error: StatusError) -> WatchAnswer:
        return WatchAnswer(plan, plan.source.value, ErrorStream(watch_events.error(error.body())))

    @staticmethod
    def _forget(cache: ResourceCache, stream: CacheWatch) -> None:
        if stream in cache.streams:
            cache.shard_filtered += stream.shard_filtered
        cache.streams.discard(stream)
        cache.changed()
