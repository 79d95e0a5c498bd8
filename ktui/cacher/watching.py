"""WATCH: decided by the rules of the version, fed by the watch cache or by etcd itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.cacher import events
from ktui.cacher.bookmarks import bookmark
from ktui.cacher.cache_list import REFERENCE_BYTES
from ktui.cacher.cache_watch import CacheWatch, ErrorStream, MakeBookmark
from ktui.cacher.errors import NotFresh, status_of
from ktui.cacher.etcd_watch import EtcdWatch
from ktui.cacher.fed_cache import FedCache
from ktui.cacher.requests import Stream, WatchAnswer, WatchRequest
from ktui.cacher.revisions import minimum_rv
from ktui.cacher.settings import Settings
from ktui.cacher.watchers import Watcher, channel_size
from ktui.kube.routing import decide_watch
from ktui.kube.routing.model import CacheState, Decision, Route
from ktui.kube.routing.questions import watch_question
from ktui.kube.routing.scope import NAME, NAMESPACE
from ktui.kube.status import StatusError
from ktui.storage.selection import Selection
from ktui.telemetry.meter import current_meter

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store

# Resources whose watchers kube-apiserver finds by a trigger field: (first minor, last minor, field).
_TRIGGERS = {
    "pods": (19, 99, "spec.nodeName"),
    "nodes": (19, 26, NAME),
    "configmaps": (19, 26, NAME),
    "secrets": (19, 26, NAME),
    "resourceslices.resource.k8s.io": (31, 99, "spec.nodeName"),
}


class Watching:
    """Opens the WATCHes of one resource."""

    def __init__(self, store: Store, settings: Settings, fed: FedCache | None) -> None:
        self._store = store
        self._settings = settings
        self._fed = fed

    async def watch(self, request: WatchRequest, state: CacheState, last_error: str) -> WatchAnswer:
        """Raises StatusError for what is refused at once; the rest are ERROR events in the stream."""
        asked = watch_question(request.options)
        decision = decide_watch(asked, state, self._settings.behaviour)
        current_meter().decided(decision, decision.route.value)
        if decision.error is not None:
            error = status_of(decision.error, last_error)
            if not decision.error.in_stream:
                raise error
            return self._failed(decision, error)
        if decision.route is Route.ETCD or self._fed is None:
            return self._answer(decision, self._from_etcd(request, decision))
        try:
            return self._answer(decision, await self._from_cache(self._fed, request, decision))
        except NotFresh as late:
            return self._failed(decision, late.as_status())

    async def _from_cache(self, fed: FedCache, request: WatchRequest, decision: Decision) -> CacheWatch:
        if decision.waits_until_ready:
            await fed.await_ready()
        initial = decision.initial_from_cache
        since = minimum_rv(request.options)
        if decision.probes:
            since = await fed.probe()
        if initial:
            await fed.fresh(since)
        # From here on nothing is awaited: the state and its resourceVersion belong together.
        memory = fed.memory
        objects = self._present(fed, request) if initial else None
        if objects:
            meter = current_meter()
            meter.fetched += len(objects)
            meter.cached_bytes += sum(len(obj.raw) for obj in objects)
            meter.hold(REFERENCE_BYTES * len(objects))
        watcher = self._watcher(request, memory.rv if initial or not since else since, fed)
        stream = CacheWatch(
            fed.feed,
            watcher,
            objects,
            bookmark=self._bookmarks(request),
            end_bookmark="w.bookmark_end" in decision.reasons,
            timeout=request.timeout,
            closed=lambda: self._forget(fed, stream),
        )
        fed.streams.add(stream)
        fed.changed()
        return stream

    def _from_etcd(self, request: WatchRequest, decision: Decision) -> EtcdWatch:
        return EtcdWatch(
            self._store,
            self._selection(request),
            initial=decision.initial_from_etcd,
            since=minimum_rv(request.options),
            bookmark=self._bookmarks(request),
            end_bookmark="w.bookmark_end" in decision.reasons,
            timeout=request.timeout,
        )

    def _present(self, fed: FedCache, request: WatchRequest) -> list[StoredObject]:
        selection = self._selection(request)
        prefix = f"{self._store.prefix}{selection.namespace}/" if selection.namespace else self._store.prefix
        objects = fed.memory.store.slice(prefix, f"{prefix[:-1]}0")
        return [obj for obj in objects if obj.name == selection.name] if selection.name else objects

    def _watcher(self, request: WatchRequest, since: int, fed: FedCache) -> Watcher:
        selection = self._selection(request)
        behaviour = self._settings.behaviour
        first, last, field = _TRIGGERS.get(self._store.resource.id, (99, 0, ""))
        triggers = first <= behaviour.minor <= last
        triggered = triggers and selection.fields.requires(field) is not None
        size = channel_size(behaviour, fed.memory.ring.capacity, triggers=triggers, triggered=triggered)
        return Watcher(selection, since, 2 * size, form=request.form)

    def _selection(self, request: WatchRequest) -> Selection:
        """The selectors, and the namespace and name that scope the dispatch."""
        fields = request.selection.fields
        namespace = request.namespace or fields.requires(NAMESPACE)
        name = request.name or fields.requires(NAME)
        return Selection(request.selection.labels, fields, namespace or None, name or None)

    def _bookmarks(self, request: WatchRequest) -> MakeBookmark | None:
        if not request.options.allow_watch_bookmarks:
            return None
        resource = request.resource or self._store.resource
        return lambda rv, ends: bookmark(rv, resource, ends_initial_events=ends)

    @staticmethod
    def _answer(decision: Decision, stream: Stream) -> WatchAnswer:
        return WatchAnswer(decision, decision.route.value, stream)

    @staticmethod
    def _failed(decision: Decision, error: StatusError) -> WatchAnswer:
        return WatchAnswer(decision, decision.route.value, ErrorStream(events.error(error.body())))

    @staticmethod
    def _forget(fed: FedCache, stream: CacheWatch) -> None:
        fed.streams.discard(stream)
        fed.changed()
