"""Plan a LIST that the watch cache answers: what it waits for, and the fallback."""

from __future__ import annotations

from typing import Any

from ktui.kube import status
from ktui.kube.routing.list_case import ListCase, Reasons, not_ready_error
from ktui.kube.routing.list_from_etcd import from_etcd
from ktui.kube.routing.plan import (
    GET_LIST,
    PROBED,
    WATCH_CACHE,
    Consistency,
    EtcdOp,
    Fallback,
    ListRevision,
    Plan,
    Source,
    Wait,
)
from ktui.kube.routing.predicates import Predicate


def not_ready(case: ListCase) -> Plan | None:
    """Return the plan for a cache that is not ready; None if it is ready or the request waits for it."""
    case.trace.enter(GET_LIST)
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
    case.trace.enter(WATCH_CACHE)
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
    case.trace.enter(WATCH_CACHE)
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
        wait=Wait.of(ready=case.waited, fresh=True),
        revision=PROBED,
        limit=case.limit,
        limit_honoured=True,
        consistency=Consistency.LINEARIZABLE,
        list_revision=ListRevision.PROBED,
        fallback=Fallback.ETCD_IF_LATE,
    )


def snapshot(case: ListCase, n: int, reason: str) -> Plan:
    """Serve exactly revision n: from a snapshot, or, if n is ahead of the cache, by waiting for it."""
    case.trace.enter(WATCH_CACHE)
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
        wait=Wait.of(ready=case.waited, fresh=behind),
        limit=case.limit,
        # In every version the cache ignores the limit if resourceVersion is 0, with a token as well.
        limit_honoured=(not case.zero) if case.limited else None,
        **fields,
    )


def _too_large(case: ListCase, source: Source, reasons: Reasons, n: int) -> Plan:
    error = status.too_large_rv(n, case.cache_rv)
    return case.reject(
        source, _after_waiting(case, reasons), error, wait=Wait.of(ready=case.waited, fresh=True)
    )


def _after_waiting(case: ListCase, reasons: Reasons) -> Reasons:
    return ("n.wait", *reasons) if case.waited else reasons


def _single(case: ListCase) -> Reasons:
    return () if case.recursive else ("c.single",)
