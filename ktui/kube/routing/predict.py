"""Predict the plan and the seats of a read request by the rules alone, without reading anything."""

from __future__ import annotations

from http import HTTPStatus

from msgspec.structs import replace

from ktui.kube import seats
from ktui.kube.listoptions import read_shards
from ktui.kube.routing import decide_get, decide_list, decide_watch
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import NAME
from ktui.kube.routing.plan import Plan, Source, Trace, TracePhase
from ktui.kube.routing.predicates import Predicate
from ktui.kube.routing.request import ReadRequest
from ktui.kube.seats import SeatRange
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour


def predict(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Plan:
    """Return the plan of a GET, LIST or WATCH; a resource without a watch cache counts as disabled."""
    if request.refusal is not None:
        return _not_understood(Predicate.NOT_UNDERSTOOD, request.refusal)
    plan = _decide(request, state, behaviour)
    if plan.error is not None and plan.error.code == HTTPStatus.UNPROCESSABLE_ENTITY:
        return plan  # an invalid combination of options, which upstream checks before the field selector
    if request.field_fault is not None:
        return _not_understood(Predicate.FIELD_UNSUPPORTED, request.field_fault)
    try:
        read_shards(request.options, behaviour)
    except StatusError as refusal:
        return _not_understood(Predicate.SHARDS_NOT_UNDERSTOOD, refusal, "v.bad_shards")
    return plan


def _not_understood(predicate: Predicate, refusal: StatusError, reason: str = "v.bad_option") -> Plan:
    trace = Trace(TracePhase.API_VALIDATION)
    trace.ask(predicate, True, refusal.message)
    return Plan(Source.NONE, (reason,), trace.steps, error=refusal)


def _decide(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Plan:
    if not request.cached:
        state = replace(state, readiness=Readiness.DISABLED)
    if request.verb == "get":
        return decide_get(request.options.resource_version, state, behaviour)
    if request.verb == "watch":
        return decide_watch(request.options, state, behaviour)
    return decide_list(request.options, request.scope(behaviour), request.token, state, behaviour)


def predict_seats(
    request: ReadRequest, behaviour: Behaviour, *, progress: bool = True, cap: int | None = None
) -> SeatRange:
    """Return the fewest and most flow-control seats, for an empty and for a huge resource.

    `cap` is that of the requester's priority level (PriorityLevel.max_seats), None if unknown.
    """
    if not behaviour.enabled("APIPriorityAndFairness"):
        return SeatRange(0, 0)
    if request.verb == "get" or behaviour.minor <= 22:
        return SeatRange(1, 1)
    if request.refusal is not None:
        # Options that cannot be decoded count as the worst case.
        most = seats.max_seats(behaviour, cap) if request.verb == "list" else 1
        return SeatRange(most, most)
    options, single = request.options, request.fields.requires(NAME) is not None
    work = seats.work_of(behaviour, options, single=single, progress=progress)
    if request.verb == "list":
        return seats.seat_range(lambda sized: seats.list_seats(behaviour, sized, cap), work)
    asked = options.resource_version, options.send_initial_events
    return seats.seat_range(lambda sized: seats.watch_seats(behaviour, sized, *asked, cap), work)
