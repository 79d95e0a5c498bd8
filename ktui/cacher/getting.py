"""GET: decided by the rules of the version, answered by the watch cache or by etcd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.cacher.errors import NotFresh, reaching, status_of
from ktui.cacher.fed_cache import FedCache
from ktui.cacher.requests import GetAnswer
from ktui.cacher.settings import Settings
from ktui.kube.routing import decide_get
from ktui.kube.routing.model import CacheState, Route
from ktui.telemetry.meter import current_meter

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store


class Getting:
    """Reads single objects of one resource."""

    def __init__(self, store: Store, settings: Settings, fed: FedCache | None) -> None:
        self._store = store
        self._settings = settings
        self._fed = fed

    async def get(
        self, namespace: str | None, name: str, rv: str, state: CacheState, last_error: str
    ) -> GetAnswer:
        """`answer.object` is None when there is none. Raises StatusError."""
        decision = decide_get(rv, state, self._settings.behaviour)
        current_meter().decided(decision, decision.route.value)
        if decision.error is not None:
            if decision.route is Route.ETCD:
                # etcd's store reads the key before it looks at the resourceVersion.
                await self._from_etcd(namespace, name)
            raise status_of(decision.error, last_error)
        asked = int(rv or 0)
        if decision.route is Route.ETCD or self._fed is None:
            obj, read_at = await self._from_etcd(namespace, name, asked)
            _took(obj)
            return GetAnswer(obj, read_at, decision, Route.ETCD.value)
        if decision.waits_until_ready:
            await self._fed.await_ready()
        try:
            await self._fed.fresh(asked)
        except NotFresh as late:
            raise late.as_status() from None
        obj, cached_at = self.held(namespace, name), self._fed.memory.rv
        _took(obj, cached=True)
        return GetAnswer(obj, cached_at, decision, decision.route.value)

    def held(self, namespace: str | None, name: str) -> StoredObject | None:
        """The object as the cache has it at the moment, None without one."""
        if self._fed is None:
            return None
        prefix = self._store.prefix
        return self._fed.memory.store.get(f"{prefix}{namespace}/{name}" if namespace else prefix + name)

    async def _from_etcd(
        self, namespace: str | None, name: str, minimum_rv: int = 0
    ) -> tuple[StoredObject | None, int]:
        with reaching(self._store.resource, "get"):
            return await self._store.get(namespace, name, minimum_rv=minimum_rv)


def _took(obj: StoredObject | None, *, cached: bool = False) -> None:
    """Count what a GET found."""
    if obj is not None:
        meter = current_meter()
        meter.fetched, meter.matched, meter.returned = 1, 1, 1
        meter.cached_bytes += len(obj.raw) if cached else 0
