"""decide_list: where a LIST is read, and why, in every minor from 1.19 to 1.37."""

from __future__ import annotations

from ktui.kube.routing import errors, list_cache
from ktui.kube.routing.list_case import EXACT, NOT_OLDER_THAN, ListCase
from ktui.kube.routing.list_etcd import from_etcd
from ktui.kube.routing.list_validation import refused_by_api, refused_by_storage
from ktui.kube.routing.model import CacheState, Decision, ListQuestion, Readiness, Route
from ktui.kube.routing.walk import GET_LIST, SHOULD_DELEGATE, STORE_LIST
from ktui.kube.versions import Behaviour


def decide_list(question: ListQuestion, state: CacheState, behaviour: Behaviour) -> Decision:
    """The route of a LIST; pure, and before anything was read."""
    case = ListCase(question, state, behaviour)
    refused = refused_by_api(case)
    if refused:
        return refused
    case.walk.enter(STORE_LIST)
    single = not case.recursive
    case.walk.ask("metadata.name narrows to one key?", "one key" if single else "a collection", single)
    disabled = state.readiness is Readiness.DISABLED
    if case.walk.ask("resource without watch cache?", state.readiness.value, disabled):
        return from_etcd(case, ("d.nocache",))
    if behaviour.minor <= 30:
        return _until_1_30(case)
    if behaviour.minor <= 32:
        return _until_1_32(case)
    return _since_1_33(case)


def _until_1_30(case: ListCase) -> Decision:
    """1.19–1.30: any one of four predicates sends the LIST to etcd."""
    walk, gate = case.walk, case.behaviour.consistent_list_from_cache
    walk.enter(SHOULD_DELEGATE)
    reasons = []
    if walk.ask("resourceVersion unset?", case.shown_rv, case.unset) and not gate and not case.has_token:
        reasons.append("d.unset")
    if walk.ask("continue?", case.shown_token, case.has_token):
        reasons.append("d.continue")
    if walk.ask("resourceVersionMatch=Exact?", case.match or "unset", case.match == EXACT):
        reasons.append("d.exact")
    page = case.limited and not case.zero
    if walk.ask("limit with resourceVersion other than 0?", _limit(case), page):
        reasons.append("d.limit")
    if reasons:
        return from_etcd(case, tuple(reasons))
    if case.n is None:
        return _bare_bad_rv(case)
    refused = list_cache.not_ready(case)
    if refused:
        return refused
    # 1.28 and 1.29 probed for "0" as well; 1.30 looks at the text.
    if gate and (case.unset or (case.zero and case.behaviour.minor <= 29)):
        return list_cache.consistent(case)
    return list_cache.newest(case)


def _until_1_32(case: ListCase) -> Decision:
    """1.31–1.32: consistent reads from the cache, limit honoured by the cache."""
    walk = case.walk
    walk.enter(SHOULD_DELEGATE)
    unset = walk.ask("resourceVersion unset?", case.shown_rv, case.unset)
    reasons = _not_provable(case) if unset and not case.has_token else []
    if walk.ask("continue?", case.shown_token, case.has_token):
        reasons.append("d.continue")
    if walk.ask("resourceVersionMatch=Exact?", case.match or "unset", case.match == EXACT):
        reasons.append("d.exact")
    if walk.ask("limit with resourceVersion N and no match?", _limit(case), case.legacy_exact):
        reasons.append("d.legacy_exact")
    if reasons:
        return from_etcd(case, tuple(reasons))
    if case.n is None:
        return _bare_bad_rv(case)
    return _in_cache(case)


def _not_provable(case: ListCase) -> list[str]:
    """Why the cache cannot prove that it is current; empty when it can."""
    ask, gate = case.walk.ask, case.behaviour.consistent_list_from_cache
    if ask("ConsistentListFromCache off?", "on" if gate else "off", not gate):
        return ["d.unset"]
    if ask("etcd progress requests unsupported?", _progress(case), not case.progress):
        return ["d.unset_noprogress"]
    return []


def _progress(case: ListCase) -> str:
    return "supported" if case.progress else "unsupported"


def _since_1_33(case: ListCase) -> Decision:
    """1.33–1.37: a delegator before the cache; with snapshots it serves old revisions too."""
    case.walk.enter(GET_LIST)
    refused = refused_by_storage(case)
    if refused:
        return refused
    case.walk.enter(SHOULD_DELEGATE)
    ask = case.walk.ask
    if ask("resourceVersionMatch set?", case.match or "unset", case.match != ""):
        return _in_cache(case) if case.match == NOT_OLDER_THAN else _exact(case, "d.exact")
    if ask("continue?", case.shown_token, case.has_token):
        return _continued(case)
    if ask("limit with resourceVersion N?", _limit(case), case.legacy_exact):
        return _exact(case, "d.legacy_exact")
    if ask("resourceVersion unset?", case.shown_rv, case.unset):
        reasons = _not_provable(case)
        return from_etcd(case, tuple(reasons)) if reasons else _in_cache(case)
    return _in_cache(case)


def _continued(case: ListCase) -> Decision:
    if _snapshots_off(case):
        return from_etcd(case, ("d.continue",))
    if case.walk.ask("token at latest?", case.shown_token, case.question.token_rv < 0):
        reasons = _not_provable(case)
        if "d.unset_noprogress" in reasons:
            reasons = ["d.cont_neg_noprog"]
        return from_etcd(case, tuple(reasons)) if reasons else _in_cache(case)
    return _at_exact(case, case.question.token_rv, "c.snap_cont")


def _exact(case: ListCase, without_snapshots: str) -> Decision:
    if _snapshots_off(case):
        return from_etcd(case, (without_snapshots,))
    if case.walk.ask("single key?", "one key" if not case.recursive else "a collection", not case.recursive):
        return from_etcd(case, ("d.exact_single",))
    assert case.n is not None
    return _at_exact(case, case.n, "c.snap_exact")


def _snapshots_off(case: ListCase) -> bool:
    on = case.behaviour.list_from_cache_snapshot
    return case.walk.ask("ListFromCacheSnapshot off?", "on" if on else "off", not on)


def _at_exact(case: ListCase, n: int, found: str) -> Decision:
    ask = case.walk.ask
    if ask("exact revision ahead of the cache?", f"{n}, cache at {case.cache_rv}", n > case.cache_rv):
        if ask("etcd progress requests unsupported?", _progress(case), not case.progress):
            return from_etcd(case, ("d.exact_future",))
        return _in_cache(case, n, "c.snap_future")
    oldest = case.state.oldest_snapshot_rv
    none = oldest is None or n < oldest
    if ask("older than every snapshot?", f"{n}, {_oldest(oldest)}", none):
        return from_etcd(case, ("d.exact_nosnap",))
    return _in_cache(case, n, found)


def _oldest(snapshot_rv: int | None) -> str:
    return "no snapshot" if snapshot_rv is None else f"oldest snapshot {snapshot_rv}"


def _in_cache(case: ListCase, exact: int | None = None, reason: str = "") -> Decision:
    """1.31 on: the cache keeps the request."""
    case.consistent = exact is None and (case.unset or case.question.token_rv < 0)
    refused = list_cache.not_ready(case)
    if refused:
        return refused
    if exact is not None:
        return list_cache.snapshot(case, exact, reason)
    if not case.consistent:
        return list_cache.newest(case)
    return list_cache.lost_in_1_33(case) if _loses_page(case) else list_cache.consistent(case)


def _loses_page(case: ListCase) -> bool:
    behaviour = case.behaviour
    early = behaviour.minor == 33 and behaviour.patch in (0, 1, 2)
    return early and case.limited and case.recursive and not behaviour.list_from_cache_snapshot


def _bare_bad_rv(case: ListCase) -> Decision:
    """Up to 1.32 the cache's parse error is no Status: a bare 500."""
    case.walk.ask("resourceVersion unparsable?", case.shown_rv, True)
    return case.refuse(Route.NONE, ("v.bad_rv",), errors.bad_rv_in_cache(case.rv))


def _limit(case: ListCase) -> str:
    limit = f"limit={case.question.limit}" if case.limited else "no limit"
    return f"{limit}, {case.shown_rv}"
