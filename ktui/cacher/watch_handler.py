"""Serve a WATCH from the watch cache or directly from etcd, as the version's rules plan it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ktui.cacher import watch_events
from ktui.cacher.bookmarks import bookmark
from ktui.cacher.cache_list import REFERENCE_BYTES
from ktui.cacher.cache_watch import CacheWatch, ErrorStream, MakeBookmark
from ktui.cacher.cacher_requests import WatchAnswer, WatchRequest
from ktui.cacher.errors import NotFresh
from ktui.cacher.etcd_watch import EtcdWatch
from ktui.cacher.resource_cache import ResourceCache
from ktui.cacher.settings import Settings
from ktui.cacher.watchers import Watcher, channel_size
from ktui.kube.routing import decide_watch
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.parameters import NAME, NAMESPACE, shards_filter, watch_parameters
from ktui.kube.routing.plan import PROBED, Plan, Source
from ktui.kube.status import StatusError
from ktui.storage.objects import SelectionPredicate
from ktui.telemetry.meter import current_meter

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store

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
        plan = decide_watch(watch_parameters(request.options), state, self._settings.behaviour)
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
        watcher = self._watcher(request, since or cache.memory.rv, cache)
        stream = CacheWatch(
            cache.feed,
            watcher,
            objects,
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

    def _watcher(self, request: WatchRequest, since: int, cache: ResourceCache) -> Watcher:
        selection = self._selection(request)
        behaviour = self._settings.behaviour
        first, last, field = _TRIGGERS.get(self._store.resource.id, (99, 0, ""))
        triggers = first <= behaviour.minor <= last
        triggered = triggers and selection.fields.requires(field) is not None
        size = channel_size(
            behaviour, cache.memory.event_buffer.capacity, triggers=triggers, triggered=triggered
        )
        return Watcher(selection, since, 2 * size, form=request.form)

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
