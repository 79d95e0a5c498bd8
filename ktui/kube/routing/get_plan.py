"""decide_get: where a GET is served from, and why, in every known minor."""

from __future__ import annotations

from ktui.kube import status
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import parse_rv
from ktui.kube.routing.plan import Consistency, EtcdOp, Plan, Source, Trace, TracePhase, Wait
from ktui.kube.routing.predicates import Predicate
from ktui.kube.versions import Behaviour


def decide_get(resource_version: str, state: CacheState, behaviour: Behaviour) -> Plan:
    """Return the plan of a GET, which has no resourceVersionMatch. A pure function."""
    trace = Trace(TracePhase.STORE_GET)
    readiness = state.readiness
    if trace.ask(Predicate.NO_CACHE, readiness is Readiness.DISABLED, readiness.value):
        return _from_etcd(trace, ("g.nocache",), resource_version, state)
    trace.enter(TracePhase.CACHER_GET)
    # Consistent reads from the cache are for LIST only: no minor serves an unset GET from the cache.
    if trace.ask(Predicate.RV_UNSET, resource_version == "", resource_version):
        return _from_etcd(trace, ("g.unset",), resource_version, state)
    not_ready = trace.ask(Predicate.NOT_READY, readiness is not Readiness.READY, readiness.value)
    if not_ready and behaviour.enabled("ResilientWatchCacheInitialization"):
        return _from_etcd(trace, ("g.notready",), resource_version, state)
    n = parse_rv(resource_version)
    if n is None:
        trace.ask(Predicate.RV_UNPARSABLE, True, resource_version)
        # 1.38.0-alpha.2 (kubernetes#142591): 400 instead of 500. Its text is not published: taken to be the
        # LIST's.
        since_1_38, before = status.invalid_resource_version, status.invalid_resource_version_in_cache
        error = (since_1_38 if behaviour.minor >= 38 else before)(resource_version)
        return Plan(Source.NONE, ("g.badrv",), trace.steps, error=error)
    if not_ready and trace.ask(Predicate.RV_ZERO, n == 0, resource_version):
        return _from_etcd(trace, ("g.notready_rv0",), resource_version, state)
    return _from_cache(trace, n, state, waited=not_ready)


def _from_etcd(trace: Trace, reasons: tuple[str, ...], rv: str, state: CacheState) -> Plan:
    """Return the plan of a read of etcd: the key is read first, then its resourceVersion is compared."""
    trace.enter(TracePhase.ETCD)
    n = parse_rv(rv)
    if n is None:
        trace.ask(Predicate.RV_UNPARSABLE, True, rv)
        return Plan(
            Source.ETCD, (*reasons, "g.badrv"), trace.steps, error=status.invalid_resource_version(rv)
        )
    ops = (EtcdOp.GET_KEY,)
    if n > 0 and trace.ahead_of_etcd(state, n):
        error = status.too_large_rv(n, state.etcd_rv or 0, 0)
        return Plan(Source.ETCD, (*reasons, "g.toolarge"), trace.steps, ops, error=error)
    return Plan(Source.ETCD, reasons, trace.steps, ops, minimum=n, consistency=Consistency.LINEARIZABLE)


def _from_cache(trace: Trace, n: int, state: CacheState, *, waited: bool) -> Plan:
    trace.enter(TracePhase.WATCH_CACHE)
    if trace.ask(Predicate.RV_ZERO, n == 0, str(n)):
        return Plan(Source.CACHE, ("g.rv0",), trace.steps, consistency=Consistency.ANY)
    before = ("g.wait",) if waited else ()
    if not trace.ask(Predicate.CACHE_BEHIND, n > state.cache_rv, n, state.cache_rv):
        return _at_least(trace, (*before, "g.atleast"), n, Wait(ready=waited, fresh=False))
    wait = Wait(ready=waited, fresh=True)
    if trace.ahead_of_etcd(state, n):
        error = status.too_large_rv(n, state.cache_rv)
        reasons = (*before, "g.wait3", "g.toolarge")
        return Plan(Source.CACHE, reasons, trace.steps, wait=wait, error=error)
    return _at_least(trace, (*before, "g.wait3"), n, wait)


def _at_least(trace: Trace, reasons: tuple[str, ...], n: int, wait: Wait) -> Plan:
    return Plan(Source.CACHE, reasons, trace.steps, wait=wait, minimum=n, consistency=Consistency.AT_LEAST)
