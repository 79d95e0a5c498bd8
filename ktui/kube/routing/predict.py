"""A whole read request through the rules: its decision and its seats, nothing read."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus

from ktui.kube import seats
from ktui.kube.routing import decide_get, decide_list, decide_watch, errors
from ktui.kube.routing.model import CacheState, Decision, Readiness, Route
from ktui.kube.routing.questions import list_question, watch_question
from ktui.kube.routing.request import ReadRequest
from ktui.kube.routing.scope import NAME
from ktui.kube.routing.walk import API_VALIDATION, Walk
from ktui.kube.seats import ListWork, SeatRange
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour


def predict(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Decision:
    """The decision of a GET, LIST or WATCH; a resource without cache counts as disabled."""
    if request.refusal is not None:
        return _not_understood("parameters understood?", request.refusal)
    decision = _decide(request, state, behaviour)
    if request.field_fault is None or _refused_options(decision):
        return decision
    return _not_understood("field selector supported by the resource?", request.field_fault)


def _not_understood(rule: str, refusal: StatusError) -> Decision:
    walk = Walk(API_VALIDATION)
    walk.ask(rule, "no", True)
    return Decision(Route.NONE, ("v.bad_option",), walk.done(), error=errors.of_status(refusal))


def _refused_options(decision: Decision) -> bool:
    """Whether the options may not go together: upstream looks at that before the resource's fields."""
    return decision.error is not None and decision.error.code == HTTPStatus.UNPROCESSABLE_ENTITY


def _decide(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Decision:
    if not request.cached:
        state = replace(state, readiness=Readiness.DISABLED)
    if request.verb == "get":
        return decide_get(request.options.resource_version, state, behaviour)
    if request.verb == "watch":
        return decide_watch(watch_question(request.options), state, behaviour)
    asked = list_question(request.options, request.scope(behaviour), request.token)
    decision = decide_list(asked, state, behaviour)
    if request.token.error is not None and "v.bad_continue" in decision.reasons:
        return replace(decision, error=errors.of_status(request.token.error))
    return decision


def predict_seats(
    request: ReadRequest, behaviour: Behaviour, *, progress: bool = True, cap: int | None = None
) -> SeatRange:
    """Fewest and most flow-control seats, from an empty to a huge resource.

    `cap` is that of the requester's priority level (PriorityLevel.max_seats), None where nobody tells.
    """
    if not seats.flow_controlled(behaviour):
        return SeatRange(0, 0)
    if request.verb == "get" or behaviour.minor <= 22:
        return SeatRange(1, 1)
    if request.refusal is not None:
        # Options that cannot be decoded are taken for the worst.
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
    """What the estimator of seats looks at in a LIST or WATCH over `objects` (None: never counted)."""
    return seats.work_of(
        behaviour,
        request.options,
        single=request.fields.requires(NAME) is not None,
        progress=progress,
        objects=objects,
        average_bytes=average_bytes,
    )
