"""Plan a LIST that the watch cache or the etcd store answers: what it waits for, its fallback, its errors."""

from __future__ import annotations

from typing import Any

from ktui.kube import status
from ktui.kube.listoptions import EXACT
from ktui.kube.routing.list_case import ListCase, Reasons, not_ready_error, rejected_by_storage
from ktui.kube.routing.parameters import MAX_REVISION
from ktui.kube.routing.plan import (
    PROBED,
    Consistency,
    EtcdOp,
    Fallback,
    ListRevision,
    Plan,
    Source,
    TracePhase,
    Wait,
)
from ktui.kube.routing.predicates import Predicate
from ktui.kube.versions import Behaviour

# The watch cache


def not_ready(case: ListCase) -> Plan | None:
    """Return the plan for a cache that is not ready; None if it is ready or the request waits for it."""
    case.trace.enter(TracePhase.GET_LIST)
    if not case.trace.ask(Predicate.NOT_READY, not case.ready, case.state.readiness.value):
        return None
    if not case.behaviour.enabled("ResilientWatchCacheInitialization"):
        if case.trace.ask(Predicate.RV_ZERO_OR_UNSET, case.n == 0, case.rv):
            return from_etcd(case, ("n.rv0_notready",))
        case.waited = True
        return None
    cheap = case.limited and case.unfiltered
    if case.trace.ask(Predicate.CHEAP_PAGE, cheap, case.limit, case.unfiltered):
        return from_etcd(case, ("n.limit_notready",))
    # Up to 1.33 the revision was probed before readiness was checked.
    probed = case.consistent and case.behaviour.minor <= 33
    error = not_ready_error(case.state, case.behaviour)
    return case.reject(Source.NONE, ("n.429",), error, etcd_ops=(EtcdOp.PROBE,) if probed else ())


def newest(case: ListCase) -> Plan:
    """Serve resourceVersion 0 or N from what the cache holds, waiting up to 3 s for N."""
    assert case.n is not None
    case.trace.enter(TracePhase.WATCH_CACHE)
    if case.trace.ask(Predicate.RV_ZERO, case.n == 0, case.rv):
        return _any(case)
    behind = case.trace.ask(Predicate.CACHE_BEHIND, case.n > case.cache_rv, case.n, case.cache_rv)
    if behind and case.trace.ahead_of_etcd(case.state, case.n):
        return _too_large(case, Source.CACHE, ("e.toolarge_cache", *_single(case)), case.n)
    return _served(
        case,
        ("c.atleast_wait" if behind else "c.atleast", *_single(case)),
        consistency=Consistency.AT_LEAST,
        behind=behind,
        list_revision=ListRevision.CACHE,
        fallback=Fallback.TIMEOUT_IF_LATE if behind else Fallback.NONE,
        minimum=case.n,
    )


def _any(case: ListCase) -> Plan:
    if case.recursive:
        reasons: Reasons = ("c.rv0_limit",) if case.limited else ("c.rv0",)
    else:
        reasons = ("c.rv0", "c.single")
    return _served(case, reasons, consistency=Consistency.ANY, behind=False, list_revision=ListRevision.CACHE)


def consistent(case: ListCase) -> Plan:
    """Probe etcd's revision with a single-key read, wait until the cache has reached it, serve."""
    case.trace.enter(TracePhase.WATCH_CACHE)
    case.trace.ask(Predicate.PROBE, True, case.cache_rv)
    reasons: Reasons = ("c.cont_latest",) if case.has_token else ("c.consistent", *_single(case))
    return _served(
        case,
        reasons,
        consistency=Consistency.INCONSISTENT_CONTINUE if case.has_token else Consistency.LINEARIZABLE,
        behind=True,
        list_revision=ListRevision.CACHE_AFTER_PROBE,
        etcd_ops=(EtcdOp.PROBE,),
        fallback=_if_late(case),
    )


def _if_late(case: ListCase) -> Fallback:
    """Fallback of a consistent read if the cache has not reached the probed revision in time."""
    if case.behaviour.minor <= 30:
        return Fallback.TIMEOUT_IF_LATE
    if case.behaviour.enabled("ConsistentListFromCacheSkipTimeoutFallback") and not case.has_token:
        return Fallback.REJECT_IF_LATE
    return Fallback.ETCD_IF_LATE


def lost_in_1_33(case: ListCase) -> Plan:
    """1.33.0–1.33.2: a consistent page is read exactly at the probed revision, which the cache lacks."""
    case.trace.ask(Predicate.LOST_PAGE, True, case.behaviour.version)
    return Plan(
        Source.ETCD,
        _after_waiting(case, ("c.bug133",)),
        case.trace.steps,
        (EtcdOp.PROBE, EtcdOp.AT_REVISION),
        wait=Wait(ready=case.waited, fresh=True),
        revision=PROBED,
        limit=case.limit,
        limit_honoured=True,
        consistency=Consistency.LINEARIZABLE,
        list_revision=ListRevision.PROBED,
        fallback=Fallback.ETCD_IF_LATE,
    )


def snapshot(case: ListCase, n: int, reason: str) -> Plan:
    """Serve exactly revision n: from a snapshot, or, if n is ahead of the cache, by waiting for it."""
    case.trace.enter(TracePhase.WATCH_CACHE)
    behind = case.trace.ask(Predicate.CACHE_BEHIND_EXACT, n > case.cache_rv, n, case.cache_rv)
    if behind and case.trace.ahead_of_etcd(case.state, n):
        return _too_large(case, Source.SNAPSHOT, (reason, "e.toolarge_cache"), n)
    return _served(
        case,
        (reason,),
        source=Source.SNAPSHOT,
        consistency=Consistency.EXACT,
        behind=behind,
        list_revision=ListRevision.TOKEN if case.has_token else ListRevision.REQUESTED,
        fallback=Fallback.ETCD_IF_GONE,
        revision=n,
        minimum=n,
    )


def _served(
    case: ListCase, reasons: Reasons, *, behind: bool, source: Source = Source.CACHE, **fields: Any
) -> Plan:
    return Plan(
        source,
        _after_waiting(case, reasons),
        case.trace.steps,
        wait=Wait(ready=case.waited, fresh=behind),
        limit=case.limit,
        # In every version the cache ignores the limit if resourceVersion is 0, with a token as well.
        limit_honoured=(not case.zero) if case.limited else None,
        **fields,
    )


def _too_large(case: ListCase, source: Source, reasons: Reasons, n: int) -> Plan:
    error = status.too_large_rv(n, case.cache_rv)
    return case.reject(source, _after_waiting(case, reasons), error, wait=Wait(ready=case.waited, fresh=True))


def _after_waiting(case: ListCase, reasons: Reasons) -> Reasons:
    return ("n.wait", *reasons) if case.waited else reasons


def _single(case: ListCase) -> Reasons:
    return () if case.recursive else ("c.single",)


# etcd


def may_stream(behaviour: Behaviour, limit: int, *, recursive: bool, filtered: bool) -> bool:
    """Return whether a read of etcd is sent as RangeStream, if etcd has it (shouldStream in etcd3/store.go).

    Since 1.37. etcd does not know which keys match: one stream cannot be limited to a page of those that do.
    """
    return behaviour.enabled("EtcdRangeStream") and recursive and not (limit > 0 and filtered)


def from_etcd(case: ListCase, reasons: Reasons) -> Plan:
    """Read etcd: at the token's revision, at the exact one, or at the newest."""
    case.trace.enter(TracePhase.ETCD)
    rejected = rejected_by_storage(case, reasons)
    if rejected:
        return rejected
    if case.has_token:
        return _rest(case, reasons)
    assert case.n is not None
    exact = case.match == EXACT or (case.legacy_exact and case.recursive)
    if exact and 0 < case.n <= MAX_REVISION:
        return _at_revision(case, reasons, case.n)
    return _newest_in_etcd(case, reasons, case.n)


def _rest(case: ListCase, reasons: Reasons) -> Plan:
    rv = case.token.rv
    if rv < 0:
        op = EtcdOp.PAGE if case.limited else EtcdOp.REST
        return _listed(case, reasons, Consistency.INCONSISTENT_CONTINUE, ListRevision.ETCD, op)
    if _compacted(case, rv):
        error = status.continue_expired("")  # the handler, which has the old token, makes the new one
        return _fails(case, (*reasons, "e.expired_cont"), error, EtcdOp.AT_REVISION)
    return _listed(case, reasons, Consistency.EXACT, ListRevision.TOKEN, EtcdOp.AT_REVISION, revision=rv)


def _at_revision(case: ListCase, reasons: Reasons, n: int) -> Plan:
    if _compacted(case, n):
        return _fails(case, (*reasons, "e.expired_list"), status.list_too_old(), EtcdOp.AT_REVISION)
    if case.trace.ahead_of_etcd(case.state, n):
        return _future(case, (*reasons, "e.future"), n)
    op = EtcdOp.AT_REVISION if case.recursive else EtcdOp.GET_KEY_AT_REVISION
    return _listed(case, reasons, Consistency.EXACT, ListRevision.REQUESTED, op, revision=n)


def _future(case: ListCase, reasons: Reasons, n: int) -> Plan:
    if case.behaviour.minor <= 33:
        return _fails(case, reasons, status.future_revision(), EtcdOp.AT_REVISION)
    error = status.too_large_rv(n, case.state.etcd_rv or 0, 0)
    return _fails(case, reasons, error, EtcdOp.AT_REVISION, EtcdOp.PROBE)


def _newest_in_etcd(case: ListCase, reasons: Reasons, n: int) -> Plan:
    op = EtcdOp.GET_KEY if not case.recursive else EtcdOp.PAGE if case.limited else EtcdOp.ALL
    if n > 0 and case.trace.ahead_of_etcd(case.state, n):
        error = status.too_large_rv(n, case.state.etcd_rv or 0, 0)
        return _fails(case, (*reasons, "e.toolarge_etcd"), error, op)
    return _listed(case, reasons, Consistency.LINEARIZABLE, ListRevision.ETCD, op, minimum=n)


def _streamed(case: ListCase, op: EtcdOp) -> tuple[EtcdOp, EtcdOp | None]:
    """Return the operation and, for a stream, the one that an etcd without RangeStream gets instead."""
    if not case.behaviour.enabled("EtcdRangeStream") or not case.recursive:
        return op, None
    case.trace.enter(TracePhase.SHOULD_STREAM)
    ask = case.trace.ask
    streams = may_stream(case.behaviour, case.limit, recursive=case.recursive, filtered=not case.unfiltered)
    if ask(Predicate.LIMIT_AND_SELECTOR, not streams, case.limit, case.unfiltered):
        return op, None
    supported = case.state.range_stream
    if ask(Predicate.NO_RANGE_STREAM, supported is False, supported):
        return op, None
    return EtcdOp.STREAM, op


def _listed(
    case: ListCase,
    reasons: Reasons,
    consistency: Consistency,
    list_revision: ListRevision,
    op: EtcdOp,
    *,
    revision: int = 0,
    minimum: int = 0,
) -> Plan:
    op, unstreamed = _streamed(case, op)
    return Plan(
        Source.ETCD,
        reasons,
        case.trace.steps,
        (op,),
        unstreamed,
        revision=revision,
        minimum=minimum,
        limit=case.limit,
        limit_honoured=case.recursive if case.limited else None,
        consistency=consistency,
        list_revision=list_revision,
    )


def _fails(case: ListCase, reasons: Reasons, error: status.StatusError, op: EtcdOp, *then: EtcdOp) -> Plan:
    op, unstreamed = _streamed(case, op)
    return case.reject(Source.ETCD, reasons, error, etcd_ops=(op, *then), unstreamed=unstreamed)


def _compacted(case: ListCase, rv: int) -> bool:
    """Whether `rv` is known to be compacted; a read at the compacted revision itself still succeeds."""
    oldest = case.state.compact_rv
    return oldest is not None and case.trace.ask(Predicate.COMPACTED, rv < oldest, rv, oldest)
