"""LIST: decided by the rules of the version, answered by the watch cache or by etcd."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ktui.cacher import etcd_reads
from ktui.cacher.cache_list import CachePage, CacheQuery, list_from_cache
from ktui.cacher.errors import NotFresh, SnapshotGone, status_of
from ktui.cacher.fed_cache import FedCache
from ktui.cacher.requests import FELL_BACK, ListAnswer, ListRequest
from ktui.cacher.revisions import exact_rv, minimum_rv
from ktui.cacher.settings import Settings
from ktui.kube import continuetoken
from ktui.kube.routing import decide_list
from ktui.kube.routing.model import CacheState, Decision, Route
from ktui.kube.routing.questions import Token, list_question, read_token
from ktui.kube.routing.scope import Scope, scope_of
from ktui.kube.status import StatusError, too_many_requests
from ktui.telemetry.meter import current_meter

if TYPE_CHECKING:
    from ktui.storage.store import Store


@dataclass(frozen=True, slots=True)
class _Question:
    """A LIST with what is known of it before anything is read."""

    request: ListRequest
    scope: Scope
    token: Token
    decision: Decision


class Listing:
    """Answers the LISTs of one resource."""

    def __init__(self, store: Store, settings: Settings, fed: FedCache | None) -> None:
        self._store = store
        self._settings = settings
        self._fed = fed

    async def list(self, request: ListRequest, state: CacheState, last_error: str) -> ListAnswer:
        """Raises StatusError; etcd's own errors where etcd is asked."""
        token, scope = read_token(request.options.continue_), self._scope(request)
        asked = list_question(request.options, scope, token)
        decision = decide_list(asked, state, self._settings.behaviour)
        current_meter().decided(decision, decision.route.value)
        if decision.error is not None:
            if decision.probes:
                await self._store.probe()
            raise _refusal(decision, token, last_error)
        question = _Question(request, scope, token, decision)
        if self._fed is None:
            return await self._from_etcd(question, Route.ETCD.value)
        if decision.route is not Route.ETCD:
            return await self._from_cache(self._fed, question)
        if decision.probes:
            return await self._lost_page(self._fed, question)
        return await self._from_etcd(question, Route.ETCD.value)

    async def _from_cache(self, fed: FedCache, question: _Question) -> ListAnswer:
        decision, options = question.decision, question.request.options
        if decision.waits_until_ready:
            await fed.await_ready()
        exact = exact_rv(decision, options, question.token)
        consistent = decision.probes
        try:
            if consistent:
                await fed.fresh(await fed.probe())
            else:
                await fed.fresh(exact or minimum_rv(options))
            page = await list_from_cache(fed.memory, self._query(question, exact))
        except SnapshotGone:
            return await self._fall_back(question)
        except NotFresh as late:
            if consistent and self._falls_back():
                return await self._fall_back(question)
            raise late.as_status() from None
        continue_ = self._continue(page, question.scope)
        return ListAnswer(page.objects, page.rv, continue_, page.remaining, decision, decision.route.value)

    async def _lost_page(self, fed: FedCache, question: _Question) -> ListAnswer:
        """1.33.0 to 1.33.2: the cache takes the probed revision for an exact one, of which it has nothing."""
        rv = await fed.probe()
        try:
            await fed.fresh(rv)
        except NotFresh:
            return await self._from_etcd(question, Route.ETCD.value)
        request = question.request
        exactly = replace(request, options=replace(request.options, resource_version=str(rv)))
        return await self._from_etcd(replace(question, request=exactly), Route.ETCD.value)

    async def _fall_back(self, question: _Question) -> ListAnswer:
        """Ask etcd what the cache could not answer."""
        current_meter().decided(question.decision, FELL_BACK)
        return await self._from_etcd(question, FELL_BACK)

    def _falls_back(self) -> bool:
        """Whether a consistent read that timed out goes to etcd: since 1.31, unless a gate forbids it."""
        behaviour = self._settings.behaviour
        if behaviour.consistent_list_from_cache_skip_timeout_fallback:
            raise too_many_requests("the watch cache did not catch up with etcd in time", 1)
        return behaviour.minor >= 31

    async def _from_etcd(self, question: _Question, route: str) -> ListAnswer:
        request, scope, token = question.request, question.scope, question.token
        listed = await etcd_reads.list_from_etcd(
            self._store, request.options, request.selection, scope, token, self._settings.behaviour
        )
        return ListAnswer(
            listed.objects, listed.rv, listed.continue_, listed.remaining, question.decision, route
        )

    def _query(self, question: _Question, exact: int | None) -> CacheQuery:
        request, scope, token = question.request, question.scope, question.token
        options, root = request.options, self._store.prefix
        return CacheQuery(
            scope,
            request.selection,
            root,
            start=root + scope.prefix + token.start if token.start else "",
            exact=exact,
            # Every minor's cache drops the limit when any version will do, beside a token as well.
            limit=0 if options.resource_version == "0" else max(options.limit, 0),
            pods=self._store.resource.id == "pods",
            minor=self._settings.behaviour.minor,
        )

    def _continue(self, page: CachePage, scope: Scope) -> str:
        if not page.last_key:
            return ""
        # The cache's prefix has no trailing slash, so that its tokens' starts have a leading one.
        start = page.last_key[len(self._store.prefix + scope.prefix) - 1 :]
        return continuetoken.encode(page.rv, f"{start}\0")

    def _scope(self, request: ListRequest) -> Scope:
        return scope_of(
            request.namespace,
            request.name,
            request.selection.labels,
            request.selection.fields,
            self._settings.behaviour,
            namespaced=self._store.resource.namespaced,
            continued=bool(request.options.continue_),
        )


def _refusal(decision: Decision, token: Token, last_error: str) -> StatusError:
    """What is wrong with the token goes before what the rules say of it."""
    assert decision.error is not None
    if token.error is not None and "v.bad_continue" in decision.reasons:
        return token.error
    return status_of(decision.error, last_error)
