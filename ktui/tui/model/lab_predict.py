"""What the rules foresee for the LIST that is being composed, from what the dashboard knows of the server."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ktui.client.foresight import World
from ktui.kube import seats
from ktui.kube.explain import Explanation, explain
from ktui.kube.flowcontrol import LEVELS
from ktui.kube.resources import Resource, ResourceTable
from ktui.kube.routing.model import CacheState, Readiness
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.kube.versions import DEFAULT_VERSION, Behaviour, BehaviourError, behaviour_of
from ktui.tui.model import foresee
from ktui.tui.model.foresee import Foreseen
from ktui.tui.model.lab import ListForm, path_of
from ktui.tui.model.lab_figures import Figures, figures_of
from ktui.tui.model.state import State

# The dashboard is let in as an administrator, whose level is exempt; of these the server sizes requests
# as of the level that they would fall under otherwise.
ADMINISTRATOR_CAP = LEVELS["global-default"].max_seats

# Which field a refusal is about, by the id of its reason.
_FIELD_OF_REASON = {
    "v.match_needs_rv": "match",
    "v.match_with_cont": "match",
    "v.match_unknown": "match",
    "v.exact_zero": "match",
    "v.rv_with_cont": "continue_token",
    "v.bad_continue": "continue_token",
    "v.bad_rv": "resource_version",
    "v.bad_option": "limit",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a LIST will not be answered: the Status that the server would give.

    `code` 0: there is nothing to send yet. `field` is the form's field that is to blame.
    """

    code: int
    reason: str
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The verdict on a form. `path` is "" when there is no such resource."""

    path: str = ""
    explanation: Explanation | None = None
    seats: int | None = None  # None: the resource's size is not known
    problem: Problem | None = None
    versions: tuple[Foreseen, ...] = ()
    figures: Figures | None = None

    @property
    def route(self) -> str:
        """Public route: cache | etcd | none; "" when nothing could be said."""
        if self.explanation is None:
            return "none" if self.problem is not None and self.problem.code else ""
        return self.explanation.decision.route.public


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A kube-apiserver that the dashboard has no telemetry of; `sizes` by path, as far as they were asked."""

    world: World
    sizes: dict[str, tuple[int, float]] = field(default_factory=dict)

    def size(self, collection: str) -> tuple[int, int] | None:
        """Objects of a collection and their bytes, as JSON."""
        found = self.sizes.get(collection)
        return (found[0], round(found[0] * found[1])) if found is not None else None


def predict(
    form: ListForm,
    table: ResourceTable,
    state: State,
    version: str = "",
    elsewhere: Elsewhere | None = None,
) -> Prediction:
    """Predict `form` under the rules of `version` (default: those of the form, else of the server).

    The server is ktui's own, as `state` knows it, or the one `elsewhere`.
    """
    resource = table.by_name(form.resource)
    if resource is None:
        return Prediction(problem=Problem(0, "", _unknown(form.resource), "resource"))
    path = path_of(form, resource)
    if problem := _selector_problem(form, resource):
        return Prediction(path, problem=problem)
    try:
        server = elsewhere.world.behaviour if elsewhere else foresee.server_behaviour(state)
        wanted = version or form.kube_version
        behaviour = behaviour_of(wanted) if wanted else server
        request = parse_request(path, "watch" if form.stream else "list")
    except (RequestError, BehaviourError) as error:
        return Prediction(path, problem=Problem(0, "", str(error)))
    if elsewhere:
        cache, size = elsewhere.world.routing_state(resource.id), elsewhere.size(resource.path)
        progress, cap = elsewhere.world.progress, None
    else:
        cache, size = routing_state(state, resource.id), size_of(state, resource.id)
        progress, cap = _progress(state), ADMINISTRATOR_CAP
    explanation = explain(request, cache, behaviour)
    seats_taken = seats_for(request, behaviour, size, progress=progress, cap=cap)
    return Prediction(
        path,
        explanation,
        seats_taken,
        _problem(explanation),
        foresee.versions_of(request, cache, server),
        figures_of(explanation, size[0] if size else None, seats_taken),
    )


def server_version(state: State) -> str:
    """The minor whose rules the server follows now."""
    return state.server.kube_version if state.server is not None else DEFAULT_VERSION


def routing_state(state: State, resource_id: str) -> CacheState:
    """What the dashboard knows of a resource's cache and of etcd, as the rules want to know it."""
    head, compact = state.head.revision or None, state.head.compact or None
    known = replace(foresee.routing_state(resource_id, state), etcd_rv=head, compact_rv=compact)
    if resource_id in state.caches:
        return known
    return replace(known, readiness=Readiness.INITIALIZING)  # the first who asks starts to fill it


def _unknown(name: str) -> str:
    if not name:
        return "name a resource: pods, leases, deployments.apps"
    return f"the server has no resource {name!r}"


def _selector_problem(form: ListForm, resource: Resource) -> Problem | None:
    try:
        LabelSelector.parse(form.label_selector)
    except StatusError as error:
        return Problem(error.code, error.reason, error.message, "label_selector")
    try:
        FieldSelector.parse(form.field_selector).for_resource(resource)
    except StatusError as error:
        return Problem(error.code, error.reason, error.message, "field_selector")
    return None


def _problem(explanation: Explanation) -> Problem | None:
    decision = explanation.decision
    if decision.error is None:
        return None
    error = decision.error
    return Problem(error.code, error.reason, error.message, _FIELD_OF_REASON.get(decision.reason_id, ""))


def estimated_seats(request: ReadRequest, behaviour: Behaviour, state: State, resource_id: str) -> int | None:
    """Seats of a read by the number and size of the stored objects; None where those are not known."""
    return seats_for(request, behaviour, size_of(state, resource_id), progress=_progress(state))


def _progress(state: State) -> bool:
    return state.server is None or state.server.progress != "unsupported"


def seats_for(
    request: ReadRequest,
    behaviour: Behaviour,
    size: tuple[int, int] | None,
    *,
    progress: bool,
    cap: int | None = None,
) -> int | None:
    """Seats of a LIST or WATCH of so many objects and bytes; `cap` is the priority level's, None: unknown."""
    if size is None or request.refusal is not None:
        return None
    objects, stored = size
    options = request.options
    work = seats.ListWork(
        objects=objects,
        average_bytes=stored // objects if objects else 0,
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
        asked = options.resource_version, options.send_initial_events
        return seats.watch_seats(behaviour, work, *asked, cap)
    return seats.list_seats(behaviour, work, cap)


def size_of(state: State, resource_id: str) -> tuple[int, int] | None:
    """Objects and bytes of a resource: from its cache, else from what was counted in etcd."""
    row = state.caches.get(resource_id)
    if row is not None and row.live:
        return row.cache.objects, row.cache.bytes
    for prefix in state.prefixes.values():
        if prefix.resource == resource_id:
            return prefix.count, prefix.bytes
    return None
