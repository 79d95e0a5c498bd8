"""The prediction for the Lab's form: its route and cost or, for an invalid form, the field at fault."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ktui.core.lab.form import ListForm, path_of
from ktui.core.lab.predicted_figures import Figures, figures_of
from ktui.core.prediction.alternatives import VersionRoute
from ktui.core.prediction.assumptions import ServerAssumptions, present
from ktui.core.prediction.prediction import predict, routes_of
from ktui.core.state import State
from ktui.kube.explain import Explanation
from ktui.kube.gates import GATES, SHARDED
from ktui.kube.resources import ResourceTable
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of

# The field that causes an error, by reason id.
_FIELD_OF_REASON = {
    "v.match_needs_rv": "match",
    "v.match_with_cont": "match",
    "v.match_unknown": "match",
    "v.exact_zero": "match",
    "v.rv_with_cont": "continue_token",
    "v.bad_continue": "continue_token",
    "v.bad_rv": "resource_version",
    "v.bad_option": "limit",
    "v.bad_shards": "shard",
}


@dataclass(frozen=True, slots=True)
class PredictedError:
    """Why a LIST would fail: code, reason and message of the Status that the server would return.

    `code` 0: the form is incomplete. `field` is the form's field that causes the error.
    """

    code: int
    reason: str
    message: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class LabPrediction:
    """The prediction for a form. `path` is "" if the server has no such resource."""

    path: str = ""
    explanation: Explanation | None = None
    seats: int | None = None  # None: the resource's size is not known
    problem: PredictedError | None = None
    versions: tuple[VersionRoute, ...] = ()
    figures: Figures | None = None

    @property
    def route(self) -> str:
        """cache | etcd | none; "" if nothing is predicted."""
        if self.explanation is None:
            return "none" if self.problem is not None and self.problem.code else ""
        return self.explanation.plan.source.route


def predict_form(
    form: ListForm,
    table: ResourceTable,
    state: State,
    version: str = "",
    server: ServerAssumptions | None = None,
) -> LabPrediction:
    """Predict `form` under the rules of `version` (default: the form's version, else the server's).

    The server is ktui's own, with the caches of `state`, unless `server` describes another one.
    """
    resource = table.by_name(form.resource)
    if resource is None:
        return LabPrediction(problem=PredictedError(0, "", _unknown(form.resource), "resource"))
    path = path_of(form, resource)
    if problem := _grammar_problem(form):
        return LabPrediction(path, problem=problem)
    try:
        assumed = present(state, resource.id) if server is None else server.of(resource.id, resource.path)
        wanted = version or form.kube_version
        behaviour = behaviour_of(wanted) if wanted else None
        request = parse_request(path, "watch" if form.stream else "list")
    except (RequestError, BehaviourError) as error:
        return LabPrediction(path, problem=PredictedError(0, "", str(error)))
    pattern = replace(state.access_patterns.of_target(path), accept=form.accept_header, answer_bytes=None)
    found = predict(request, assumed, behaviour, pattern)
    assert found.explanation is not None
    if form.shard and (why := why_no_shards(found.explanation.behaviour)):
        return LabPrediction(path, found.explanation, problem=PredictedError(0, "", why, "shard"))
    objects = assumed.size.count if assumed.size is not None else None
    return LabPrediction(
        path,
        found.explanation,
        found.seats,
        _problem(found.explanation, form),
        routes_of(request, assumed.cache, assumed.behaviour),
        figures_of(found.explanation, objects, found.seats),
    )


def why_no_shards(behaviour: Behaviour) -> str:
    """Return why a shard is not sent under these rules, "" if it is.

    The server would ignore it without a message, and answer with the whole collection.
    """
    if behaviour.enabled(SHARDED):
        return ""
    first = GATES[SHARDED][0].minor
    if behaviour.minor < first:
        return f"{behaviour.version} has no shardSelector: it came with 1.{first}, gate {SHARDED}"
    return f"the gate {SHARDED} (alpha) is off: shardSelector would be ignored and everything sent"


def _unknown(name: str) -> str:
    if not name:
        return "name a resource: pods, leases, deployments.apps"
    return f"the server has no resource {name!r}"


def _grammar_problem(form: ListForm) -> PredictedError | None:
    """Return the error of a selector that cannot be parsed, None if both can."""
    try:
        LabelSelector.parse(form.label_selector)
    except StatusError as error:
        return PredictedError(error.code, error.reason, error.message, "label_selector")
    try:
        FieldSelector.parse(form.field_selector)
    except StatusError as error:
        return PredictedError(error.code, error.reason, error.message, "field_selector")
    return None


def _problem(explanation: Explanation, form: ListForm) -> PredictedError | None:
    plan = explanation.plan
    if plan.error is None:
        return None
    error = plan.error
    field = _FIELD_OF_REASON.get(plan.reason_id, "")
    if plan.reason_id == "v.bad_option" and explanation.request.field_fault is not None:
        field = "field_selector"
    elif plan.reason_id == "w.badmatch":
        # Without a match in the form a valid one is sent: then the feature gate WatchList is off.
        field = "match" if form.match else "verb"
    return PredictedError(error.code, error.reason, error.message, field)
