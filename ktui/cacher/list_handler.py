"""Answer a LIST from the watch cache or from etcd, as the version's rules plan it."""

from __future__ import annotations

from msgspec import Struct

from ktui.cacher.cache_list import CacheQuery, list_from_cache
from ktui.cacher.cacher_requests import FELL_BACK, ListAnswer, ListRequest
from ktui.cacher.errors import NotFresh, SnapshotGone
from ktui.cacher.resource_cache import ResourceCache
from ktui.cacher.settings import Settings
from ktui.etcd.errors import CompactedError, FutureRevisionError
from ktui.kube import continuetoken, status
from ktui.kube.routing import decide_list
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.list_sources import may_stream
from ktui.kube.routing.parameters import DecodedToken, RequestScope, read_token, scope_of
from ktui.kube.routing.plan import PROBED, Fallback, Plan, Source
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour
from ktui.storage.lister import StoreListRequest
from ktui.storage.store import Store
from ktui.telemetry.meter import current_meter


async def _future(store: Store, revision: int, behaviour: Behaviour) -> StatusError:
    # Since 1.34 a revision that does not exist yet is a 504, before it was a bare 500. The change has no
    # feature gate: a 1.36 that emulates 1.33, the oldest possible, answers 504 as well.
    if behaviour.minor < 33:
        return status.future_revision()
    return status.too_large_rv(revision, await store.probe(), retry_after=0)


class _Read(Struct, frozen=True):
    """A LIST and its plan."""

    request: ListRequest
    scope: RequestScope
    token: DecodedToken
    plan: Plan


class ListHandler:
    """Executes the LISTs of one resource; `cache` is None for a resource without a watch cache."""

    def __init__(self, store: Store, settings: Settings, cache: ResourceCache | None) -> None:
        self._store = store
        self._settings = settings
        self._cache = cache

    async def list(self, request: ListRequest, state: CacheState) -> ListAnswer:
        """Return the answer; raise StatusError, also for etcd's errors if etcd is read."""
        behaviour, selection = self._settings.behaviour, request.selection
        token = read_token(request.options.continue_)
        scope = scope_of(
            request.namespace,
            request.name,
            selection.labels,
            selection.fields,
            behaviour,
            namespaced=self._store.resource.namespaced,
            continued=bool(request.options.continue_),
            sharded=selection.shards is not None,
        )
        plan = decide_list(request.options, scope, token, state, behaviour)
        route: str = plan.source._value_
        current_meter().planned(plan, route)
        if plan.error is not None:
            if plan.probe:
                await self._store.probe()
            raise plan.error
        read = _Read(request, scope, token, plan)
        if self._cache is None or (plan.source is Source.ETCD and not plan.probe):
            return await self._from_etcd(read, plan.revision, route)
        return await self._from_cache(self._cache, read)

    async def _from_cache(self, cache: ResourceCache, read: _Read) -> ListAnswer:
        plan = read.plan
        try:
            reached = await cache.reach(plan)
            if plan.revision == PROBED:
                return await self._from_etcd(read, reached, plan.source.value)
            page = await list_from_cache(cache.memory, self._query(read))
        except SnapshotGone:
            return await self._fall_back(read)
        except NotFresh as late:
            if plan.fallback is Fallback.ETCD_IF_LATE:
                return await self._fall_back(read)
            raise late.as_status(reject=plan.fallback is Fallback.REJECT_IF_LATE) from None
        continue_ = ""
        if page.last_key:
            # The cache's prefix has no trailing slash, so the starts in its tokens have a leading slash.
            start = page.last_key[len(self._store.prefix + read.scope.prefix) - 1 :]
            continue_ = continuetoken.encode(page.rv, f"{start}\0")
        return ListAnswer(page.objects, page.rv, continue_, page.remaining, plan, plan.source._value_)

    async def _fall_back(self, read: _Read) -> ListAnswer:
        """Read from etcd, at the exact revision or at the newest, what the cache could not answer."""
        plan = read.plan
        route = plan.source.value if plan.source is Source.ETCD else FELL_BACK
        current_meter().planned(plan, route)
        return await self._from_etcd(read, max(plan.revision, 0), route)

    async def _from_etcd(self, read: _Read, revision: int, route: str) -> ListAnswer:
        """Read a page (or all) of etcd at `revision`, 0 for the newest."""
        plan, scope, token, behaviour = read.plan, read.scope, read.token, self._settings.behaviour
        filtered = not scope.unfiltered
        request = StoreListRequest(
            namespace=scope.namespace or None,
            name=scope.name or None,
            selection=read.request.selection,
            limit=plan.limit,
            revision=revision,
            start_key=token.start,
            minimum_rv=0 if revision else plan.minimum,
            page_rule="doubling" if behaviour.minor >= 24 else "constant",
            stream=may_stream(behaviour, plan.limit, recursive=not scope.single, filtered=filtered),
            counted=scope.unfiltered,
        )
        try:
            found = await self._store.list(request)
        except CompactedError:
            start = continuetoken.encode(-1, token.start) if token.start else ""
            raise (status.continue_expired(start) if start else status.list_too_old()) from None
        except FutureRevisionError:
            raise await _future(self._store, revision, behaviour) from None
        continue_ = continuetoken.encode(found.rv, found.next_start) if found.next_start else ""
        return ListAnswer(found.objects, found.rv, continue_, found.remaining, plan, route)

    def _query(self, read: _Read) -> CacheQuery:
        scope, plan, root = read.scope, read.plan, self._store.prefix
        start = root + scope.prefix + read.token.start if read.token.start else ""
        exact, limit = plan.revision or None, plan.limit if plan.limit_honoured else 0
        pods, minor = self._store.resource.id == "pods", self._settings.behaviour.minor
        return CacheQuery(scope, read.request.selection, root, start, exact, limit, pods, minor)
