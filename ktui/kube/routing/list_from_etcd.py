"""Plan a LIST that the etcd store answers: the revision it reads, and the possible errors."""

from __future__ import annotations

from ktui.kube import status
from ktui.kube.listoptions import EXACT
from ktui.kube.routing.list_case import ListCase, Reasons, rejected_by_storage
from ktui.kube.routing.parameters import MAX_REVISION
from ktui.kube.routing.plan import ETCD, SHOULD_STREAM, Consistency, EtcdOp, ListRevision, Plan, Source
from ktui.kube.routing.predicates import Predicate
from ktui.kube.versions import Behaviour


def may_stream(behaviour: Behaviour, limit: int, *, recursive: bool, filtered: bool) -> bool:
    """Return whether a read of etcd is sent as RangeStream, if etcd has it (shouldStream in etcd3/store.go).

    Since 1.37. etcd does not know which keys match: one stream cannot be limited to a page of those that do.
    """
    return behaviour.enabled("EtcdRangeStream") and recursive and not (limit > 0 and filtered)


def from_etcd(case: ListCase, reasons: Reasons) -> Plan:
    """Read etcd: at the token's revision, at the exact one, or at the newest."""
    case.trace.enter(ETCD)
    rejected = rejected_by_storage(case, reasons)
    if rejected:
        return rejected
    if case.has_token:
        return _rest(case, reasons)
    assert case.n is not None
    exact = case.match == EXACT or (case.legacy_exact and case.recursive)
    if exact and 0 < case.n <= MAX_REVISION:
        return _at_revision(case, reasons, case.n)
    return _newest(case, reasons, case.n)


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


def _newest(case: ListCase, reasons: Reasons, n: int) -> Plan:
    op = EtcdOp.GET_KEY if not case.recursive else EtcdOp.PAGE if case.limited else EtcdOp.ALL
    if n > 0 and case.trace.ahead_of_etcd(case.state, n):
        error = status.too_large_rv(n, case.state.etcd_rv or 0, 0)
        return _fails(case, (*reasons, "e.toolarge_etcd"), error, op)
    return _listed(case, reasons, Consistency.LINEARIZABLE, ListRevision.ETCD, op, minimum=n)


def _streamed(case: ListCase, op: EtcdOp) -> tuple[EtcdOp, EtcdOp | None]:
    """Return the operation and, for a stream, the one that an etcd without RangeStream gets instead."""
    if not case.behaviour.enabled("EtcdRangeStream") or not case.recursive:
        return op, None
    case.trace.enter(SHOULD_STREAM)
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
