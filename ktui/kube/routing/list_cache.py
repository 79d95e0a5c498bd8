"""What the watch cache makes of a LIST that it keeps for itself."""

from __future__ import annotations

import math

from ktui.kube.routing import errors
from ktui.kube.routing.list_case import ListCase, Reasons
from ktui.kube.routing.list_etcd import from_etcd
from ktui.kube.routing.model import CacheState, Decision, Route
from ktui.kube.routing.walk import GET_LIST, WATCH_CACHE
from ktui.kube.versions import Behaviour

UP_TO_3S = "up_to_3s"
UNTIL_READY = "until_ready"
CACHE_REVISION = "cache revision"
PROBED_REVISION = "cache revision >= probed revision"
FALLBACK_LATE = "etcd, if the cache does not catch up within 3s"
FALLBACK_NONE = "none: 504 after 3s"
FALLBACK_SKIPPED = "429 TooManyRequests retry 1s (skip-fallback gate)"
FALLBACK_BEHIND = "504 Too large resource version after 3s if the cache stays behind"
FALLBACK_SNAPSHOT = "etcd, if the snapshot was dropped meanwhile (410 inside the cache)"


def retry_after(state: CacheState, behaviour: Behaviour) -> int:
    """Seconds in the 429 of a cache that is not ready; grows with the downtime from 1.33 on."""
    if behaviour.minor <= 32:
        return 1
    # The cap of 30 s is reached after 57 s; far beyond the power would overflow.
    return min(max(int(math.exp(0.06 * min(state.downtime_seconds, 60.0))), 1), 30)


def not_ready(case: ListCase) -> Decision | None:
    """What a cache that is not ready does; None: it is ready, or the request waits for it."""
    case.walk.enter(GET_LIST)
    if not case.walk.ask("cache not ready?", case.state.readiness.value, not case.ready):
        return None
    if not case.behaviour.resilient_watch_cache_initialization:
        if case.walk.ask("resourceVersion 0 or unset?", case.shown_rv, case.n == 0):
            return from_etcd(case, ("n.rv0_notready",))
        case.waited = True
        return None
    cheap = case.limited and case.unfiltered
    if case.walk.ask("limit and no selector?", _limit_and_selectors(case), cheap):
        return from_etcd(case, ("n.limit_notready",))
    error = errors.not_ready(retry_after(case.state, case.behaviour))
    # Up to 1.33 the revision was probed before readiness was looked at.
    probed = case.consistent and case.behaviour.minor <= 33
    return case.refuse(Route.NONE, ("n.429",), error, etcd_ops=("revision_probe",) if probed else ())


def _limit_and_selectors(case: ListCase) -> str:
    limit = f"limit={case.question.limit}" if case.limited else "no limit"
    return f"{limit}, {'no selector' if case.unfiltered else 'a selector'}"


def newest(case: ListCase) -> Decision:
    """Serve resourceVersion 0 or N from what the cache holds, waiting up to 3 s for N."""
    assert case.n is not None
    case.walk.enter(WATCH_CACHE)
    if case.walk.ask("resourceVersion 0 (any)?", case.shown_rv, case.n == 0):
        return _any(case)
    behind = case.n > case.cache_rv
    case.walk.ask("cache behind resourceVersion?", f"{case.n}, cache at {case.cache_rv}", behind)
    if behind and _beyond(case, case.n):
        return _too_large(case, Route.CACHE, ("e.toolarge_cache", *_single(case)), case.n)
    return _served(
        case,
        ("c.atleast_wait" if behind else "c.atleast", *_single(case)),
        consistency="at_least_rv",
        behind=behind,
        list_rv=CACHE_REVISION,
        fallback=FALLBACK_BEHIND if behind else None,
    )


def _any(case: ListCase) -> Decision:
    if case.recursive:
        reasons: Reasons = ("c.rv0_limit",) if case.limited else ("c.rv0",)
    else:
        reasons = ("c.rv0", "c.single")
    return _served(case, reasons, consistency="any", behind=False, list_rv=CACHE_REVISION)


def consistent(case: ListCase) -> Decision:
    """Learn etcd's revision from one single-key read, wait for the cache to have seen it, serve."""
    case.walk.enter(WATCH_CACHE)
    case.walk.ask("revision probe: wait until the cache has seen it", f"cache at {case.cache_rv}", True)
    reasons: Reasons = ("c.cont_latest",) if case.has_token else ("c.consistent", *_single(case))
    return _served(
        case,
        reasons,
        consistency="inconsistent_continue" if case.has_token else "linearizable",
        behind=True,
        list_rv=PROBED_REVISION,
        etcd_ops=("revision_probe",),
        fallback=_late(case),
    )


def _late(case: ListCase) -> str:
    if case.behaviour.minor <= 30:
        return FALLBACK_NONE
    if case.behaviour.consistent_list_from_cache_skip_timeout_fallback and not case.has_token:
        return FALLBACK_SKIPPED
    return FALLBACK_LATE


def lost_in_1_33(case: ListCase) -> Decision:
    """1.33.0–1.33.2: a consistent page took the probed revision for an exact one and missed it."""
    case.walk.ask("1.33.0–1.33.2: consistent read with a limit?", case.behaviour.version, True)
    return Decision(
        Route.ETCD,
        _after_waiting(case, ("c.bug133",)),
        case.walk.done(),
        limit_honoured=True,
        consistency="linearizable",
        wait=_wait(case, behind=True),
        list_rv="probed revision",
        etcd_ops=("revision_probe", "range_at_rev"),
    )


def snapshot(case: ListCase, n: int, reason: str) -> Decision:
    """Serve exactly revision n: from a snapshot, or from the future by waiting for it."""
    case.walk.enter(WATCH_CACHE)
    behind = n > case.cache_rv
    case.walk.ask("cache behind the exact revision?", f"{n}, cache at {case.cache_rv}", behind)
    if behind and _beyond(case, n):
        return _too_large(case, Route.CACHE_SNAPSHOT, (reason, "e.toolarge_cache"), n)
    return _served(
        case,
        (reason,),
        route=Route.CACHE_SNAPSHOT,
        consistency="exact_rv",
        behind=behind,
        list_rv="token revision" if case.has_token else "requested revision",
        fallback=FALLBACK_SNAPSHOT,
    )


def _served(
    case: ListCase,
    reasons: Reasons,
    *,
    consistency: str,
    behind: bool,
    list_rv: str,
    etcd_ops: tuple[str, ...] = (),
    fallback: str | None = None,
    route: Route = Route.CACHE,
) -> Decision:
    return Decision(
        route,
        _after_waiting(case, reasons),
        case.walk.done(),
        # Every minor's cache drops the limit when resourceVersion is 0, beside a token as well.
        limit_honoured=(not case.zero) if case.limited else None,
        consistency=consistency,
        wait=_wait(case, behind),
        list_rv=list_rv,
        etcd_ops=etcd_ops,
        fallback=fallback,
    )


def _too_large(case: ListCase, route: Route, reasons: Reasons, n: int) -> Decision:
    error = errors.too_large(n, case.cache_rv, retry_after=1)
    return case.refuse(route, _after_waiting(case, reasons), error, wait=_wait(case, behind=True))


def _after_waiting(case: ListCase, reasons: Reasons) -> Reasons:
    return ("n.wait", *reasons) if case.waited else reasons


def _wait(case: ListCase, behind: bool) -> str:
    if case.waited:
        return f"{UNTIL_READY}+{UP_TO_3S}" if behind else UNTIL_READY
    return UP_TO_3S if behind else "none"


def _beyond(case: ListCase, n: int) -> bool:
    newest = case.state.etcd_rv
    return newest is not None and case.walk.ask(
        "ahead of etcd as well?", f"{n}, etcd at {newest}", n > newest
    )


def _single(case: ListCase) -> Reasons:
    return () if case.recursive else ("c.single",)
