"""Answer a GET from the watch cache or from etcd, as the version's rules plan it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ktui.cacher.errors import NotFresh, reaching
from ktui.cacher.requests import GetAnswer
from ktui.cacher.resource_cache import ResourceCache
from ktui.cacher.settings import Settings
from ktui.kube.routing import decide_get
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.plan import Plan, Source, Wait
from ktui.telemetry.meter import current_meter

if TYPE_CHECKING:
    from ktui.kube.versions import Behaviour
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store


class GetHandler:
    """Executes the GETs of one resource; `cache` is None for a resource without a watch cache."""

    def __init__(self, store: Store, settings: Settings, cache: ResourceCache | None) -> None:
        self._store = store
        self._settings = settings
        self._cache = cache
        self._decided_for: Behaviour | None = None
        self._decided: dict[str, Plan] = {}

    async def get(
        self, namespace: str | None, name: str, rv: str, state: Callable[[], CacheState]
    ) -> GetAnswer:
        """Return the answer; its `object` is None if the object does not exist. Raises StatusError.

        `state` is called for plans that depend on more than whether the cache is ready.
        """
        plan = self._plan(rv, state)
        current_meter().planned(plan, plan.source._value_)
        if plan.error is not None:
            if plan.source is Source.ETCD:
                await self._from_etcd(namespace, name)
            raise plan.error
        if plan.source is Source.ETCD or self._cache is None:
            obj, read_at = await self._from_etcd(namespace, name, plan.minimum)
            obj = self._known(obj)
            _count(obj)
            return GetAnswer(obj, read_at, plan, Source.ETCD.value)
        if plan.minimum or plan.wait is not Wait.NONE or plan.probe:
            try:
                await self._cache.reach(plan)
            except NotFresh as late:
                raise late.as_status() from None
        obj, cached_at = self.cached(namespace, name), self._cache.memory.rv
        _count(obj, cached=True)
        return GetAnswer(obj, cached_at, plan, plan.source._value_)

    def _known(self, obj: StoredObject | None) -> StoredObject | None:
        """Return the cache's own object if it is what etcd has: its JSON may be made already."""
        cached = None if obj is None or self._cache is None else self._cache.memory.store.get(obj.key)
        same = cached is not None and obj is not None and cached.rv == obj.rv and cached.raw == obj.raw
        return cached if same else obj

    def _plan(self, rv: str, state: Callable[[], CacheState]) -> Plan:
        """Decide about a GET; one of no or any resourceVersion with a ready cache is decided once."""
        behaviour, cache = self._settings.behaviour, self._cache
        if rv not in ("", "0") or cache is None or cache.readiness is not Readiness.READY:
            return decide_get(rv, state(), behaviour)
        if self._decided_for is not behaviour:
            self._decided_for = behaviour
            self._decided = {text: decide_get(text, state(), behaviour) for text in ("", "0")}
        return self._decided[rv]

    def cached(self, namespace: str | None, name: str) -> StoredObject | None:
        """Return the object as the cache holds it now, or None."""
        if self._cache is None:
            return None
        prefix = self._store.prefix
        return self._cache.memory.store.get(f"{prefix}{namespace}/{name}" if namespace else prefix + name)

    async def _from_etcd(
        self, namespace: str | None, name: str, minimum_rv: int = 0
    ) -> tuple[StoredObject | None, int]:
        with reaching(self._store.resource, "get"):
            return await self._store.get(namespace, name, minimum_rv=minimum_rv)


def _count(obj: StoredObject | None, *, cached: bool = False) -> None:
    if obj is not None:
        meter = current_meter()
        meter.fetched, meter.matched, meter.returned = 1, 1, 1
        meter.cached_bytes += obj.size if cached else 0
