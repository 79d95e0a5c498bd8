"""One resource's reads: decided by the rules of the version, answered by its watch cache or by etcd.

What kube-apiserver calls CacheDelegator and Cacher. Writes go to the store as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ktui.cacher import etcd_reads, plans
from ktui.cacher.cache_list import CachePage, CacheQuery, list_from_cache
from ktui.cacher.errors import NotFresh, SnapshotGone, reaching, status_of
from ktui.cacher.fed_cache import READY_TIMEOUT, FedCache
from ktui.cacher.object_count import ObjectCount
from ktui.cacher.plans import Token
from ktui.cacher.requests import FELL_BACK, GetAnswer, ListAnswer, ListRequest, WatchAnswer, WatchRequest
from ktui.cacher.scope import Scope, scope_of
from ktui.cacher.settings import Settings
from ktui.cacher.watching import Watching
from ktui.kube import continuetoken
from ktui.kube.routing import decide_get, decide_list
from ktui.kube.routing.model import CacheState, Decision, Readiness, Route
from ktui.kube.status import too_many_requests
from ktui.telemetry import events as telemetry
from ktui.telemetry.meter import current_meter

if TYPE_CHECKING:
    from ktui.kube.resources import Resource
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store


class Cacher:
    """`fed` None: the resource has no watch cache (events)."""

    def __init__(self, store: Store, settings: Settings, fed: FedCache | None) -> None:
        self.store = store
        self.fed = fed
        self._settings = settings
        self._watching = Watching(store, settings, fed)
        self._count = ObjectCount(store)

    @property
    def resource(self) -> Resource:
        return self.store.resource

    async def get(self, namespace: str | None, name: str, rv: str = "") -> GetAnswer:
        """One object; `answer.object` is None when there is none. Raises StatusError."""
        decision = decide_get(rv, self._state(), self._settings.behaviour)
        current_meter().decided(decision, decision.route.value)
        if decision.error is not None and decision.route is Route.ETCD:
            # etcd's store reads the key before it looks at the resourceVersion.
            with reaching(self.resource, "get"):
                await self.store.get(namespace, name)
        self._raise(decision)
        asked = int(rv or 0)
        if decision.route is Route.ETCD or self.fed is None:
            with reaching(self.resource, "get"):
                obj, read_at = await self.store.get(namespace, name, minimum_rv=asked)
            _took(obj)
            return GetAnswer(obj, read_at, decision, Route.ETCD.value)
        if plans.waits_until_ready(decision):
            await self.fed.await_ready()
        try:
            await self.fed.fresh(asked)
        except NotFresh as late:
            raise late.as_status() from None
        memory = self.fed.memory
        obj = memory.store.get(self._key(namespace, name))
        _took(obj, cached=True)
        return GetAnswer(obj, memory.rv, decision, decision.route.value)

    def held(self, namespace: str | None, name: str) -> StoredObject | None:
        """The object as the cache has it at the moment, None without one: where a write, which
        etcd checks, may begin. kube-apiserver: cachedExistingObject of GuaranteedUpdate."""
        return None if self.fed is None else self.fed.memory.store.get(self._key(namespace, name))

    async def list(self, request: ListRequest) -> ListAnswer:
        """A LIST, after the API's own validation of its options. Raises StatusError."""
        with reaching(self.resource, "list"):
            return await self._list(request)

    async def watch(self, request: WatchRequest) -> WatchAnswer:
        """A WATCH, after the API's own validation of its options. Raises StatusError if it is refused."""
        with reaching(self.resource, "watch"):
            return await self._watching.watch(request, self._state(), self._told_error())

    async def ready(self, within: float = READY_TIMEOUT) -> bool:
        """Fill the cache if it is cold, and wait for it; False after so many seconds."""
        return self.fed is None or await self.fed.ready(within)

    def warm(self) -> None:
        """Start filling the cache, if there is one and it is cold."""
        if self.fed is not None:
            self.fed.warm()
        else:
            self._count.latest()

    def size(self) -> tuple[int | None, int]:
        """Objects of the resource and bytes of an average one, as flow control knows them.

        None before they were counted, 0 bytes where none was sized: etcd only counts.
        """
        state = self.state()
        if state.state == "disabled":
            return self._count.latest(), 0
        if state.state not in ("ready", "reinitializing"):
            return None, 0
        return state.objects, state.bytes // state.objects if state.objects else 0

    def state(self) -> telemetry.CacheState:
        """The cache's state as telemetry tells it; `disabled` for a resource without one."""
        if self.fed is None:
            return telemetry.CacheState(resource=self.resource.id, state="disabled")
        return self.fed.state()

    async def close(self) -> None:
        """Stop reading etcd and end all streams."""
        await self._count.close()
        if self.fed is not None:
            await self.fed.close()

    async def _list(self, request: ListRequest) -> ListAnswer:
        options, token = request.options, plans.read_token(request.options.continue_)
        scope = self._scope(request)
        decision = decide_list(
            plans.list_question(options, scope, token), self._state(), self._settings.behaviour
        )
        current_meter().decided(decision, decision.route.value)
        if decision.error is not None and plans.probes(decision):
            await self.store.probe()
        self._raise(decision, token)
        if decision.route is Route.ETCD or self.fed is None:
            if self.fed is not None and plans.probes(decision):
                return await self._lost_page(self.fed, request, scope, token, decision)
            return await self._from_etcd(request, scope, token, decision, Route.ETCD.value)
        return await self._from_cache(self.fed, request, scope, token, decision)

    async def _from_cache(
        self, fed: FedCache, request: ListRequest, scope: Scope, token: Token, decision: Decision
    ) -> ListAnswer:
        if plans.waits_until_ready(decision):
            await fed.await_ready()
        exact = plans.exact_rv(decision, request.options, token)
        consistent = plans.probes(decision)
        try:
            if consistent:
                await fed.fresh(await fed.probe())
            else:
                await fed.fresh(exact or plans.minimum_rv(request.options))
            page = await list_from_cache(fed.memory, self._query(request, scope, token, exact))
        except SnapshotGone:
            return await self._fall_back(request, scope, token, decision)
        except NotFresh as late:
            if consistent and self._falls_back():
                return await self._fall_back(request, scope, token, decision)
            raise late.as_status() from None
        continue_ = self._continue(page, scope)
        return ListAnswer(page.objects, page.rv, continue_, page.remaining, decision, decision.route.value)

    async def _lost_page(
        self, fed: FedCache, request: ListRequest, scope: Scope, token: Token, decision: Decision
    ) -> ListAnswer:
        """1.33.0 to 1.33.2: the cache takes the probed revision for an exact one, of which it has nothing."""
        rv = await fed.probe()
        try:
            await fed.fresh(rv)
        except NotFresh:
            return await self._from_etcd(request, scope, token, decision, Route.ETCD.value)
        exactly = replace(request, options=replace(request.options, resource_version=str(rv)))
        return await self._from_etcd(exactly, scope, token, decision, Route.ETCD.value)

    async def _fall_back(
        self, request: ListRequest, scope: Scope, token: Token, decision: Decision
    ) -> ListAnswer:
        """Ask etcd what the cache could not answer."""
        current_meter().decided(decision, FELL_BACK)
        return await self._from_etcd(request, scope, token, decision, FELL_BACK)

    def _falls_back(self) -> bool:
        """Whether a consistent read that timed out goes to etcd: since 1.31, unless a gate forbids it."""
        behaviour = self._settings.behaviour
        if behaviour.consistent_list_from_cache_skip_timeout_fallback:
            raise too_many_requests("the watch cache did not catch up with etcd in time", 1)
        return behaviour.minor >= 31

    async def _from_etcd(
        self, request: ListRequest, scope: Scope, token: Token, decision: Decision, route: str
    ) -> ListAnswer:
        listed = await etcd_reads.list_from_etcd(
            self.store, request.options, request.selection, scope, token, self._settings.behaviour
        )
        return ListAnswer(listed.objects, listed.rv, listed.continue_, listed.remaining, decision, route)

    def _query(self, request: ListRequest, scope: Scope, token: Token, exact: int | None) -> CacheQuery:
        options = request.options
        prefix = self.store.prefix + scope.prefix
        return CacheQuery(
            scope,
            request.selection,
            self.store.prefix,
            start=prefix + token.start if token.start else "",
            exact=exact,
            # Every minor's cache drops the limit when any version will do, beside a token as well.
            limit=0 if options.resource_version == "0" else max(options.limit, 0),
            pods=self.resource.id == "pods",
            minor=self._settings.behaviour.minor,
        )

    def _continue(self, page: CachePage, scope: Scope) -> str:
        if not page.last_key:
            return ""
        # The cache's prefix has no trailing slash, so that its tokens' starts have a leading one.
        start = page.last_key[len(self.store.prefix + scope.prefix) - 1 :]
        return continuetoken.encode(page.rv, f"{start}\0")

    def _scope(self, request: ListRequest) -> Scope:
        return scope_of(
            self.resource,
            request.namespace,
            request.name,
            request.selection.labels,
            request.selection.fields,
            self._settings.behaviour,
            continued=bool(request.options.continue_),
        )

    def _state(self) -> CacheState:
        """What routing may know; the first one who asks warms a cold cache."""
        if self.fed is None:
            return CacheState(Readiness.DISABLED, progress=self._settings.progress)
        if self._settings.watch_cache:
            self.fed.warm()
        return self.fed.routing_state()

    def _raise(self, decision: Decision, token: Token | None = None) -> None:
        if decision.error is None:
            return
        if token is not None and token.error is not None and "v.bad_continue" in decision.reasons:
            raise token.error
        raise status_of(decision.error, self._told_error())

    def _told_error(self) -> str:
        """What a refusal says of why the cache is not ready: since 1.33 the last error."""
        return self.fed.last_error if self.fed is not None and self._settings.behaviour.minor >= 33 else ""

    def _key(self, namespace: str | None, name: str) -> str:
        return f"{self.store.prefix}{namespace}/{name}" if namespace else self.store.prefix + name


def _took(obj: StoredObject | None, *, cached: bool = False) -> None:
    """Count what a GET found."""
    if obj is not None:
        meter = current_meter()
        meter.fetched, meter.matched, meter.returned = 1, 1, 1
        meter.cached_bytes += len(obj.raw) if cached else 0
