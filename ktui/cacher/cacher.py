"""Read one resource from its watch cache or from etcd, as each request's plan says.

Upstream: CacheDelegator and Cacher. The handlers plan a request with the rules of `ktui.kube.routing` and
execute that plan: `get_handler`, `list_handler` and `watch_handler`. Writes go directly to the store.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ktui.cacher.errors import reaching
from ktui.cacher.get_handler import GetHandler
from ktui.cacher.list_handler import ListHandler
from ktui.cacher.object_count import ObjectCount
from ktui.cacher.requests import GetAnswer, ListAnswer, ListRequest, WatchAnswer, WatchRequest
from ktui.cacher.resource_cache import READY_TIMEOUT, ResourceCache
from ktui.cacher.settings import Settings
from ktui.cacher.watch_handler import WatchHandler
from ktui.contract import events as telemetry
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.plan import Source
from ktui.supervision import Supervisor

if TYPE_CHECKING:
    from ktui.kube.resources import Resource
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store


class Cacher:
    """The reads of one resource. `cache` is None for a resource without a watch cache (events)."""

    def __init__(
        self, store: Store, settings: Settings, cache: ResourceCache | None, supervisor: Supervisor
    ) -> None:
        self.store = store
        self.cache = cache
        self._settings = settings
        self._get = GetHandler(store, settings, cache)
        self._list = ListHandler(store, settings, cache)
        self._watch = WatchHandler(store, settings, cache)
        self._count = ObjectCount(store, supervisor)

    @property
    def resource(self) -> Resource:
        return self.store.resource

    async def get(self, namespace: str | None, name: str, rv: str = "") -> GetAnswer:
        """Return one object; `answer.object` is None if it does not exist. Raises StatusError."""
        return await self._get.get(namespace, name, rv, self._state)

    def cached(self, namespace: str | None, name: str) -> StoredObject | None:
        """Return the object as the cache holds it now, or None.

        A write starts from it, and etcd checks that it is current. kube-apiserver: cachedExistingObject of
        GuaranteedUpdate.
        """
        return self._get.cached(namespace, name)

    async def list(self, request: ListRequest) -> ListAnswer:
        """Answer a LIST whose options the API has validated. Raises StatusError."""
        with reaching(self.resource, "list"):
            return await self._list.list(request, self._state())

    def sending(self, answer: ListAnswer) -> AbstractContextManager[None]:
        """While the block runs, `answer` is being sent: the cache keeps its objects encoded."""
        if self.cache is None or answer.route != Source.CACHE.value:
            return nullcontext()
        return self.cache.sending(answer.rv)

    async def watch(self, request: WatchRequest) -> WatchAnswer:
        """Answer a WATCH whose options the API has validated. Raises StatusError if it is refused."""
        with reaching(self.resource, "watch"):
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
        """Return the number of objects of the resource and their average size in bytes, for flow control.

        The number is None before the first count; the size is 0 if none is known, as etcd only counts.
        """
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
            return CacheState(Readiness.DISABLED, progress=self._settings.progress)
        if self._settings.watch_cache:
            self.cache.warm()
        return self.cache.routing_state()
