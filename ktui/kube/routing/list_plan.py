"""decide_list: where a LIST is served from, and why, in every known minor."""

from __future__ import annotations

from ktui.kube import status
from ktui.kube.listoptions import EXACT, NOT_OLDER_THAN, ListOptions
from ktui.kube.routing import list_sources
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.list_case import ListCase, rejected_by_api, rejected_by_storage
from ktui.kube.routing.list_sources import from_etcd
from ktui.kube.routing.parameters import DecodedToken, RequestScope
from ktui.kube.routing.plan import Plan, Source, TracePhase
from ktui.kube.routing.predicates import Predicate
from ktui.kube.versions import Behaviour


def decide_list(
    options: ListOptions, scope: RequestScope, token: DecodedToken, state: CacheState, behaviour: Behaviour
) -> Plan:
    """Return the plan of a LIST. A pure function."""
    case = ListCase(options, scope, token, state, behaviour)
    rejected = rejected_by_api(case)
    if rejected:
        return rejected
    case.trace.enter(TracePhase.STORE_LIST)
    single = not case.recursive
    case.trace.ask(Predicate.ONE_KEY, single, single)
    disabled = state.readiness is Readiness.DISABLED
    if case.trace.ask(Predicate.NO_CACHE, disabled, state.readiness.value):
        return from_etcd(case, ("d.nocache",))
    if behaviour.minor <= 30:
        return _until_1_30(case)
    if behaviour.minor <= 32:
        return _until_1_32(case)
    return _since_1_33(case)


def _until_1_30(case: ListCase) -> Plan:
    """1.19–1.30: any of four predicates delegates the LIST to etcd."""
    trace, gate = case.trace, case.behaviour.enabled("ConsistentListFromCache")
    trace.enter(TracePhase.SHOULD_DELEGATE)
    reasons = []
    if trace.ask(Predicate.RV_UNSET, case.unset, case.rv) and not gate and not case.has_token:
        reasons.append("d.unset")
    if trace.ask(Predicate.CONTINUE, case.has_token, *case.seen_token):
        reasons.append("d.continue")
    if trace.ask(Predicate.MATCH_EXACT, case.match == EXACT, case.match):
        reasons.append("d.exact")
    page = case.limited and not case.zero
    if trace.ask(Predicate.LIMIT_UNLESS_ZERO, page, case.limit, case.rv):
        reasons.append("d.limit")
    if reasons:
        return from_etcd(case, tuple(reasons))
    if case.n is None:
        return _bare_bad_rv(case)
    rejected = list_sources.not_ready(case)
    if rejected:
        return rejected
    # 1.28 and 1.29 probed for "0" as well; 1.30 compares the text.
    if gate and (case.unset or (case.zero and case.behaviour.minor <= 29)):
        return list_sources.consistent(case)
    return list_sources.newest(case)


def _until_1_32(case: ListCase) -> Plan:
    """1.31–1.32: consistent reads from the cache; the cache honours the limit."""
    trace = case.trace
    trace.enter(TracePhase.SHOULD_DELEGATE)
    unset = trace.ask(Predicate.RV_UNSET, case.unset, case.rv)
    reasons = _not_provable(case) if unset and not case.has_token else []
    if trace.ask(Predicate.CONTINUE, case.has_token, *case.seen_token):
        reasons.append("d.continue")
    if trace.ask(Predicate.MATCH_EXACT, case.match == EXACT, case.match):
        reasons.append("d.exact")
    if trace.ask(Predicate.LIMIT_WITHOUT_MATCH, case.legacy_exact, case.limit, case.rv):
        reasons.append("d.legacy_exact")
    if reasons:
        return from_etcd(case, tuple(reasons))
    if case.n is None:
        return _bare_bad_rv(case)
    return _in_cache(case)


def _not_provable(case: ListCase) -> list[str]:
    """Return why the cache cannot guarantee a consistent read; [] if it can."""
    ask, gate = case.trace.ask, case.behaviour.enabled("ConsistentListFromCache")
    if ask(Predicate.CONSISTENT_READS_OFF, not gate, gate):
        return ["d.unset"]
    if ask(Predicate.PROGRESS_UNSUPPORTED, not case.progress, case.progress):
        return ["d.unset_noprogress"]
    return []


def _since_1_33(case: ListCase) -> Plan:
    """Since 1.33: a delegator in front of the cache; with snapshots it serves old revisions too."""
    case.trace.enter(TracePhase.GET_LIST)
    rejected = rejected_by_storage(case)
    if rejected:
        return rejected
    case.trace.enter(TracePhase.SHOULD_DELEGATE)
    ask = case.trace.ask
    if ask(Predicate.MATCH_SET, case.match != "", case.match):
        return _in_cache(case) if case.match == NOT_OLDER_THAN else _exact(case, "d.exact")
    if ask(Predicate.CONTINUE, case.has_token, *case.seen_token):
        return _continued(case)
    if ask(Predicate.LIMIT_WITH_RV, case.legacy_exact, case.limit, case.rv):
        return _exact(case, "d.legacy_exact")
    if ask(Predicate.RV_UNSET, case.unset, case.rv):
        reasons = _not_provable(case)
        return from_etcd(case, tuple(reasons)) if reasons else _in_cache(case)
    return _in_cache(case)


def _continued(case: ListCase) -> Plan:
    if _snapshots_off(case):
        return from_etcd(case, ("d.continue",))
    if case.trace.ask(Predicate.CONTINUE_LATEST, case.token.rv < 0, *case.seen_token):
        reasons = _not_provable(case)
        if "d.unset_noprogress" in reasons:
            reasons = ["d.cont_neg_noprog"]
        return from_etcd(case, tuple(reasons)) if reasons else _in_cache(case)
    return _at_exact(case, case.token.rv, "c.snap_cont")


def _exact(case: ListCase, without_snapshots: str) -> Plan:
    if _snapshots_off(case):
        return from_etcd(case, (without_snapshots,))
    if case.trace.ask(Predicate.SINGLE_KEY, not case.recursive, not case.recursive):
        return from_etcd(case, ("d.exact_single",))
    assert case.n is not None
    return _at_exact(case, case.n, "c.snap_exact")


def _snapshots_off(case: ListCase) -> bool:
    on = case.behaviour.enabled("ListFromCacheSnapshot")
    return case.trace.ask(Predicate.SNAPSHOTS_OFF, not on, on)


def _at_exact(case: ListCase, n: int, found: str) -> Plan:
    ask = case.trace.ask
    if ask(Predicate.EXACT_AHEAD, n > case.cache_rv, n, case.cache_rv):
        if ask(Predicate.PROGRESS_UNSUPPORTED, not case.progress, case.progress):
            return from_etcd(case, ("d.exact_future",))
        return _in_cache(case, n, "c.snap_future")
    oldest = case.state.oldest_snapshot_rv
    if ask(Predicate.BEFORE_SNAPSHOTS, oldest is None or n < oldest, n, oldest):
        return from_etcd(case, ("d.exact_nosnap",))
    return _in_cache(case, n, found)


def _in_cache(case: ListCase, exact: int | None = None, reason: str = "") -> Plan:
    """Since 1.31: the cache serves the request."""
    case.consistent = exact is None and (case.unset or case.token.rv < 0)
    rejected = list_sources.not_ready(case)
    if rejected:
        return rejected
    if exact is not None:
        return list_sources.snapshot(case, exact, reason)
    if not case.consistent:
        return list_sources.newest(case)
    return list_sources.lost_in_1_33(case) if _loses_page(case) else list_sources.consistent(case)


def _loses_page(case: ListCase) -> bool:
    behaviour = case.behaviour
    early = behaviour.minor == 33 and behaviour.patch in (0, 1, 2)
    return early and case.limited and case.recursive and not behaviour.enabled("ListFromCacheSnapshot")


def _bare_bad_rv(case: ListCase) -> Plan:
    """Up to 1.32 the cache's parse error is not a Status: a bare 500."""
    case.trace.ask(Predicate.RV_UNPARSABLE, True, case.rv)
    return case.reject(Source.NONE, ("v.bad_rv",), status.invalid_resource_version_in_cache(case.rv))
