"""Read one resource from its watch cache or from etcd, as each request's plan says.

Upstream: CacheDelegator and Cacher. The handlers plan a request with the rules of `ktui.kube.routing` and
execute that plan: here for a GET, in `list_handler` and in `watch_handler`. Writes go directly to the store.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AbstractContextManager, nullcontext

from ktui.cacher.cacher_requests import GetAnswer, ListAnswer, ListRequest, WatchAnswer, WatchRequest
from ktui.cacher.errors import NotFresh
from ktui.cacher.list_handler import ListHandler
from ktui.cacher.resource_cache import READY_TIMEOUT, ResourceCache, disabled_state
from ktui.cacher.settings import Settings
from ktui.cacher.watch_handler import WatchHandler
from ktui.contract import events as telemetry
from ktui.etcd.errors import EtcdError
from ktui.kube.resources import Resource
from ktui.kube.routing import decide_get
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.versions import Behaviour
from ktui.storage.objects import StoredObject
from ktui.storage.store import Store
from ktui.supervision import Supervisor, stop
from ktui.telemetry.meter import current_meter

log = logging.getLogger(__name__)

# kube-apiserver's default of --etcd-count-metric-poll-period (seconds).
PERIOD = 60.0


class ObjectCount:
    """Counts the objects of a resource without a watch cache, in etcd, while it is requested.

    kube-apiserver counts every resource once a minute; here only the requested ones are counted. The
    count is a `count_only` range: etcd reads its index, but no values.
    """

    def __init__(self, store: Store, supervisor: Supervisor) -> None:
        self._store = store
        self._supervisor = supervisor
        self._value: int | None = None
        self._started_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def latest(self) -> int | None:
        """Return the last count, None before the first; start another in the background if it is old."""
        # Both groups of events are one registry, which is counted under its core name.
        if self._store.resource.group == "events.k8s.io":
            return None
        due = self._value is None or time.monotonic() - self._started_at >= PERIOD
        if due and (self._task is None or self._task.done()):
            self._started_at = time.monotonic()
            self._task = self._supervisor.start(f"the count of {self._store.resource.id}", self._count)
        return self._value

    async def close(self) -> None:
        await stop(self._task)

    async def _count(self) -> None:
        try:
            self._value = await self._store.count()
        except EtcdError as error:
            log.warning("%s cannot be counted: %s", self._store.resource.id, error)


class Cacher:
    """The reads of one resource. `cache` is None for a resource without a watch cache (events)."""

    def __init__(
        self, store: Store, settings: Settings, cache: ResourceCache | None, supervisor: Supervisor
    ) -> None:
        self.store = store
        self.cache = cache
        self._settings = settings
        self._prefix = store.prefix
        self._decided_for: Behaviour | None = None
        self._decided: dict[str, Plan] = {}
        self._list = ListHandler(store, settings, cache)
        self._watch = WatchHandler(store, settings, cache)
        self._count = ObjectCount(store, supervisor)

    @property
    def resource(self) -> Resource:
        return self.store.resource

    async def get(self, namespace: str | None, name: str, rv: str = "") -> GetAnswer:
        """Return one object; `answer.object` is None if it does not exist. Raises StatusError."""
        plan, cache, meter = self._get_plan(rv), self.cache, current_meter()
        route: str = plan.source._value_
        meter.planned(plan, route)
        if plan.error is not None:
            if plan.source is Source.ETCD:
                await self._from_etcd(namespace, name)
            raise plan.error
        if plan.source is Source.ETCD or cache is None:
            obj, read_at = await self._from_etcd(namespace, name, plan.minimum)
        else:
            if plan.minimum or plan.wait.ready or plan.wait.fresh:
                try:
                    await cache.reach(plan)
                except NotFresh as late:
                    raise late.as_status() from None
            obj, read_at = self.cached(namespace, name), cache.memory.rv
            meter.cached_bytes += 0 if obj is None else obj.size
        if obj is not None:
            meter.fetched, meter.matched, meter.returned = 1, 1, 1
        return GetAnswer(obj, read_at, plan, route)

    def _get_plan(self, rv: str) -> Plan:
        """Decide about a GET; one of no or any resourceVersion with a ready cache is decided once."""
        behaviour, cache = self._settings.behaviour, self.cache
        if rv not in ("", "0") or cache is None or cache.readiness is not Readiness.READY:
            return decide_get(rv, self._state(), behaviour)
        if self._decided_for is not behaviour:
            self._decided_for = behaviour
            self._decided = {text: decide_get(text, self._state(), behaviour) for text in ("", "0")}
        return self._decided[rv]

    async def _from_etcd(
        self, namespace: str | None, name: str, minimum_rv: int = 0
    ) -> tuple[StoredObject | None, int]:
        """Read etcd; return the cache's own object if it is what etcd has: its JSON may be made already."""
        obj, read_at = await self.store.get(namespace, name, minimum_rv=minimum_rv)
        cached = None if obj is None or self.cache is None else self.cache.memory.store.get(obj.key)
        same = cached is not None and obj is not None and cached.rv == obj.rv and cached.raw == obj.raw
        return (cached if same else obj), read_at

    def cached(self, namespace: str | None, name: str) -> StoredObject | None:
        """Return the cache's object or None. Writes start from it (upstream: cachedExistingObject)."""
        if self.cache is None:
            return None
        prefix = self._prefix
        return self.cache.memory.store.get(f"{prefix}{namespace}/{name}" if namespace else prefix + name)

    async def list(self, request: ListRequest) -> ListAnswer:
        """Answer a LIST whose options the API has validated. Raises StatusError."""
        return await self._list.list(request, self._state())

    def sending(self, answer: ListAnswer) -> AbstractContextManager[None]:
        """While the block runs, `answer` is being sent: the cache keeps its objects encoded."""
        if self.cache is None or answer.route != Source.CACHE.value:
            return nullcontext()
        return self.cache.sending(answer.rv)

    async def watch(self, request: WatchRequest) -> WatchAnswer:
        """Answer a WATCH whose options the API has validated. Raises StatusError if it is refused."""
        return await self._watch.watch(request, self._state())

    async def ready(self, within: float = READY_TIMEOUT) -> bool:
        """Fill the cache if it is cold, and wait until it is filled; return False after `within` seconds."""
        return self.cache is None or await self.cache.ready(within)

    def warm(self) -> None:
        """Start filling the cache, if there is one and it is cold."""
        if self.cache is not None:
            self.cache.warm()
        else:
            self._count.latest()

    def size(self) -> tuple[int | None, int]:
        """Return how many objects there are (None before a count) and their average bytes (0: not known)."""
        if self.cache is None or not self._settings.watch_cache:
            return self._count.latest(), 0
        return self.cache.size()

    def state(self) -> telemetry.CacheStatus:
        """Return the cache's state as telemetry publishes it; `disabled` for a resource without a cache."""
        if self.cache is None:
            return telemetry.CacheStatus(resource=self.resource.id, state="disabled")
        return self.cache.state()

    async def close(self) -> None:
        """Stop reading etcd and end all streams."""
        await self._count.close()
        if self.cache is not None:
            await self.cache.close()

    def _state(self) -> CacheState:
        """Return the state that plans depend on; the first request starts filling a cold cache."""
        if self.cache is None:
            return disabled_state(self.store, self._settings)
        if self._settings.watch_cache:
            self.cache.warm()
        return self.cache.routing_state()
