"""Predict the plan and the seats of a read request by the rules alone, without reading anything."""

from __future__ import annotations

from http import HTTPStatus

from msgspec.structs import replace

from ktui.kube import seats
from ktui.kube.listoptions import read_shards
from ktui.kube.routing import decide_get, decide_list, decide_watch
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import NAME, list_parameters, watch_parameters
from ktui.kube.routing.plan import API_VALIDATION, Plan, Source, Trace
from ktui.kube.routing.predicates import Predicate
from ktui.kube.routing.request import ReadRequest
from ktui.kube.seats import ListWork, SeatRange
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour


def predict(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Plan:
    """Return the plan of a GET, LIST or WATCH; a resource without a watch cache counts as disabled."""
    if request.refusal is not None:
        return _not_understood(Predicate.NOT_UNDERSTOOD, request.refusal)
    plan = _decide(request, state, behaviour)
    if _options_rejected(plan):
        return plan
    if request.field_fault is not None:
        return _not_understood(Predicate.FIELD_UNSUPPORTED, request.field_fault)
    try:
        read_shards(request.options, behaviour)
    except StatusError as refusal:
        return _not_understood(Predicate.SHARDS_NOT_UNDERSTOOD, refusal, "v.bad_shards")
    return plan


def _not_understood(predicate: Predicate, refusal: StatusError, reason: str = "v.bad_option") -> Plan:
    trace = Trace(API_VALIDATION)
    trace.ask(predicate, True, refusal.message)
    return Plan(Source.NONE, (reason,), trace.steps, error=refusal)


def _options_rejected(plan: Plan) -> bool:
    """Whether the options are an invalid combination; upstream checks that before the field selector."""
    return plan.error is not None and plan.error.code == HTTPStatus.UNPROCESSABLE_ENTITY


def _decide(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Plan:
    if not request.cached:
        state = replace(state, readiness=Readiness.DISABLED)
    if request.verb == "get":
        return decide_get(request.options.resource_version, state, behaviour)
    if request.verb == "watch":
        return decide_watch(watch_parameters(request.options), state, behaviour)
    parameters = list_parameters(request.options, request.scope(behaviour), request.token)
    return decide_list(parameters, state, behaviour)


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
    options, work = request.options, work_of(request, behaviour, progress=progress)
    if request.verb == "watch":
        asked = options.resource_version, options.send_initial_events
        return seats.watch_seat_range(behaviour, work, *asked, cap)
    return seats.list_seat_range(behaviour, work, cap)


def work_of(
    request: ReadRequest,
    behaviour: Behaviour,
    *,
    progress: bool,
    objects: int | None = None,
    average_bytes: int = 0,
) -> ListWork:
    """Return the seat estimator's input for a LIST or WATCH over `objects` (None: never counted)."""
    return seats.work_of(
        behaviour,
        request.options,
        single=request.fields.requires(NAME) is not None,
        progress=progress,
        objects=objects,
        average_bytes=average_bytes,
    )
