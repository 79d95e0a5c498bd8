"""A whole read request through the rules: its decision and its seats, nothing read."""

from __future__ import annotations

from dataclasses import replace

from ktui.kube import seats
from ktui.kube.routing import decide_get, decide_list, decide_watch, errors
from ktui.kube.routing.model import CacheState, Decision, Readiness, Route
from ktui.kube.routing.request import ReadRequest
from ktui.kube.routing.walk import API_VALIDATION, Walk
from ktui.kube.seats import ListWork, SeatRange
from ktui.kube.versions import Behaviour


def predict(request: ReadRequest, state: CacheState, behaviour: Behaviour) -> Decision:
    """The decision of a GET, LIST or WATCH; a resource without cache counts as disabled."""
    if request.refusal is not None:
        walk = Walk(API_VALIDATION)
        walk.ask("parameters understood?", "no", True)
        return Decision(Route.NONE, ("v.bad_option",), walk.done(), error=errors.of_status(request.refusal))
    if not request.cached:
        state = replace(state, readiness=Readiness.DISABLED)
    if request.verb == "get":
        return decide_get(request.options.resource_version, state, behaviour)
    if request.verb == "watch":
        return decide_watch(request.watch_question(), state, behaviour)
    decision = decide_list(request.list_question(behaviour), state, behaviour)
    if request.token_fault is not None and "v.bad_continue" in decision.reasons:
        return replace(decision, error=errors.of_status(request.token_fault))
    return decision


def predict_seats(request: ReadRequest, behaviour: Behaviour, *, progress: bool = True) -> SeatRange:
    """Fewest and most flow-control seats, from an empty to a huge resource."""
    if not seats.flow_controlled(behaviour):
        return SeatRange(0, 0)
    if request.verb == "get" or behaviour.minor <= 22:
        return SeatRange(1, 1)
    if request.refusal is not None:
        # Options that cannot be decoded are taken for the worst.
        most = seats.max_seats(behaviour) if request.verb == "list" else 1
        return SeatRange(most, most)
    options = request.options
    work = ListWork(
        objects=None,
        limit=max(options.limit, 0),
        from_cache=seats.list_from_cache(
            behaviour,
            options.resource_version,
            options.resource_version_match,
            options.limit,
            continued=bool(options.continue_),
            progress=progress,
        ),
        selectors=not (request.labels.empty and request.fields.empty),
        single=bool(request.required_name),
    )
    if request.verb == "watch":
        return seats.watch_seat_range(behaviour, work, options.resource_version, options.send_initial_events)
    return seats.list_seat_range(behaviour, work)
