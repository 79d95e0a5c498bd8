"""decide_get: where a single object is read, and why, in every minor from 1.19 to 1.37."""

from __future__ import annotations

from ktui.kube.routing import errors
from ktui.kube.routing.model import CacheState, Decision, Readiness, Route
from ktui.kube.routing.resource_version import parse_rv, shown
from ktui.kube.routing.walk import CACHER_GET, ETCD, STORE_GET, WATCH_CACHE, Walk
from ktui.kube.versions import Behaviour

OBJECT_RV = "key mod revision"


def decide_get(resource_version: str, state: CacheState, behaviour: Behaviour) -> Decision:
    """The route of a GET; resourceVersionMatch is no parameter of it. Pure."""
    walk = Walk(STORE_GET)
    disabled = state.readiness is Readiness.DISABLED
    if walk.ask("resource without watch cache?", state.readiness.value, disabled):
        return _from_etcd(walk, ("g.nocache",), resource_version, state)
    walk.enter(CACHER_GET)
    # Consistent reads from the cache are for LIST only: no minor serves an unset GET from memory.
    if walk.ask("resourceVersion unset?", shown(resource_version), resource_version == ""):
        return _from_etcd(walk, ("g.unset",), resource_version, state)
    not_ready = state.readiness is not Readiness.READY
    not_ready = walk.ask("cache not ready?", state.readiness.value, not_ready)
    if not_ready and behaviour.resilient_watch_cache_initialization:
        return _from_etcd(walk, ("g.notready",), resource_version, state)
    n = parse_rv(resource_version)
    if n is None:
        walk.ask("resourceVersion unparsable?", resource_version, True)
        error = errors.bad_rv_in_cache(resource_version)
        return Decision(Route.NONE, ("g.badrv",), walk.done(), error=error)
    if not_ready and walk.ask("resourceVersion 0 (any)?", resource_version, n == 0):
        return _from_etcd(walk, ("g.notready_rv0",), resource_version, state)
    return _from_cache(walk, n, state, waited=not_ready)


def _from_etcd(walk: Walk, reasons: tuple[str, ...], rv: str, state: CacheState) -> Decision:
    walk.enter(ETCD)
    n = parse_rv(rv)
    if n is None:
        walk.ask("resourceVersion unparsable?", rv, True)
        error = errors.bad_rv(rv)
        return Decision(Route.ETCD, (*reasons, "g.badrv"), walk.done(), error=error)
    ops = ("get_key",)
    if n > 0 and _beyond(walk, n, state):
        error = errors.too_large(n, state.etcd_rv or 0)
        return Decision(Route.ETCD, (*reasons, "g.toolarge"), walk.done(), etcd_ops=ops, error=error)
    return Decision(
        Route.ETCD, reasons, walk.done(), consistency="linearizable", etcd_ops=ops, object_rv=OBJECT_RV
    )


def _from_cache(walk: Walk, n: int, state: CacheState, *, waited: bool) -> Decision:
    walk.enter(WATCH_CACHE)
    if walk.ask("resourceVersion 0 (any)?", str(n), n == 0):
        return Decision(Route.CACHE, ("g.rv0",), walk.done(), consistency="any", object_rv=OBJECT_RV)
    before = ("g.wait",) if waited else ()
    if not walk.ask("cache behind resourceVersion?", f"{n}, cache at {state.cache_rv}", n > state.cache_rv):
        return Decision(
            Route.CACHE,
            (*before, "g.atleast"),
            walk.done(),
            consistency="at_least_rv",
            wait="until_ready" if waited else "none",
            object_rv=OBJECT_RV,
        )
    reasons = (*before, "g.wait3")
    if _beyond(walk, n, state):
        error = errors.too_large(n, state.cache_rv, retry_after=1)
        return Decision(Route.CACHE, (*reasons, "g.toolarge"), walk.done(), wait="up_to_3s", error=error)
    return Decision(
        Route.CACHE,
        reasons,
        walk.done(),
        consistency="at_least_rv",
        wait="up_to_3s",
        object_rv=OBJECT_RV,
    )


def _beyond(walk: Walk, n: int, state: CacheState) -> bool:
    newest = state.etcd_rv
    return newest is not None and walk.ask("ahead of etcd as well?", f"{n}, etcd at {newest}", n > newest)
