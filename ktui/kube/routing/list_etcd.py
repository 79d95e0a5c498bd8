"""What the etcd store makes of a LIST that was delegated to it."""

from __future__ import annotations

from ktui.kube.routing import errors
from ktui.kube.routing.list_case import EXACT, ListCase, Reasons
from ktui.kube.routing.list_validation import refused_by_storage
from ktui.kube.routing.model import Decision, Route
from ktui.kube.routing.walk import ETCD

HEADER_REVISION = "etcd header revision"


def from_etcd(case: ListCase, reasons: Reasons) -> Decision:
    """Read etcd: at the token's revision, at the exact one, or at the newest."""
    case.walk.enter(ETCD)
    refused = refused_by_storage(case, reasons)
    if refused:
        return refused
    if case.has_token:
        return _rest(case, reasons)
    assert case.n is not None
    if case.n > 0 and (case.match == EXACT or (case.legacy_exact and case.recursive)):
        return _at_revision(case, reasons, case.n)
    return _newest(case, reasons, case.n)


def _rest(case: ListCase, reasons: Reasons) -> Decision:
    rv = case.question.token_rv
    if rv < 0:
        op = "range_page" if case.limited else "range_rest"
        return _listed(case, reasons, "inconsistent_continue", HEADER_REVISION, op)
    if _compacted(case, rv):
        error = errors.continue_expired()
        return case.refuse(Route.ETCD, (*reasons, "e.expired_cont"), error, etcd_ops=("range_at_rev",))
    return _listed(case, reasons, "exact_rv", "token revision", "range_at_rev")


def _at_revision(case: ListCase, reasons: Reasons, n: int) -> Decision:
    if _compacted(case, n):
        error = errors.list_too_old()
        return case.refuse(Route.ETCD, (*reasons, "e.expired_list"), error, etcd_ops=("range_at_rev",))
    if _future(case, n):
        return _future_revision(case, reasons, n)
    op = "range_at_rev" if case.recursive else "get_key_at_rev"
    return _listed(case, reasons, "exact_rv", "requested revision", op)


def _future_revision(case: ListCase, reasons: Reasons, n: int) -> Decision:
    reasons = (*reasons, "e.future")
    if case.behaviour.minor <= 33:
        error = errors.future_revision()
        return case.refuse(Route.ETCD, reasons, error, etcd_ops=("range_at_rev",))
    error = errors.too_large(n, case.state.etcd_rv or 0)
    return case.refuse(Route.ETCD, reasons, error, etcd_ops=("range_at_rev", "revision_probe"))


def _newest(case: ListCase, reasons: Reasons, n: int) -> Decision:
    op = "get_key" if not case.recursive else "range_page" if case.limited else "range_full"
    if n > 0 and _future(case, n):
        error = errors.too_large(n, case.state.etcd_rv or 0)
        return case.refuse(Route.ETCD, (*reasons, "e.toolarge_etcd"), error, etcd_ops=(op,))
    return _listed(case, reasons, "linearizable", HEADER_REVISION, op)


def _listed(case: ListCase, reasons: Reasons, consistency: str, list_rv: str, op: str) -> Decision:
    return Decision(
        Route.ETCD,
        reasons,
        case.walk.done(),
        limit_honoured=case.recursive if case.limited else None,
        consistency=consistency,
        list_rv=list_rv,
        etcd_ops=(op,),
    )


def _compacted(case: ListCase, rv: int) -> bool:
    """Reading exactly at the compacted revision still succeeds."""
    oldest = case.state.compact_rv
    return oldest is not None and case.walk.ask(
        "revision compacted?", f"{rv}, compacted up to {oldest}", rv < oldest
    )


def _future(case: ListCase, rv: int) -> bool:
    newest = case.state.etcd_rv
    return newest is not None and case.walk.ask(
        "ahead of etcd as well?", f"{rv}, etcd at {newest}", rv > newest
    )
