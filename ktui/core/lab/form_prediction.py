"""The prediction for the Lab's form: route and figures, next to those measured; or the field at fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ktui.core.format import integer
from ktui.core.lab.form import ListForm, path_of
from ktui.core.lab.measured import Measured
from ktui.core.prediction.assumptions import ServerAssumptions, present
from ktui.core.prediction.prediction import agree, predict, routes_of
from ktui.core.ranking.remedy import VersionRoute
from ktui.core.rows import letter_of
from ktui.core.state import State
from ktui.kube.explain import Explanation
from ktui.kube.gates import GATES, SHARDED
from ktui.kube.resources import ResourceTable, finds_namespaces
from ktui.kube.routing.parameters import TokenState
from ktui.kube.routing.plan import Source
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of

# Objects are created and deleted between prediction and request: a difference this small is expected.
DRIFT = 0.02
_ONE_READ = ("revision_probe", "get_key", "get_key_at_rev")


@dataclass(frozen=True, slots=True)
class CountRange:
    """A predicted count, `low` to `high`; `high` None: no upper bound is known."""

    low: int
    high: int | None

    @property
    def text(self) -> str:
        if self.high is None:
            return f"≥ {integer(self.low)}"
        return integer(self.low) + (f"–{integer(self.high)}" if self.high != self.low else "")

    def holds(self, value: int) -> bool:
        return self.low <= value and (self.high is None or value <= self.high)

    def nearly(self, value: int) -> bool:
        """True if `value` is within the range when objects created or deleted meanwhile are allowed for."""
        room = max(2, round(DRIFT * (self.high or self.low)))
        return self.low - room <= value and (self.high is None or value <= self.high + room)


@dataclass(frozen=True, slots=True)
class Figures:
    """The prediction for one request. `route` is cache | etcd | none, "" if nothing is predicted.

    `reads` are reads of etcd as kube-apiserver counts them (a whole LIST is one). A figure that cannot
    be predicted is None.
    """

    route: str = ""
    fallback: bool = False
    limit: int = 0
    limit_honoured: bool | None = None
    seats: CountRange | None = None
    fetched: CountRange | None = None
    reads: CountRange | None = None


NOTHING = Figures()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure, predicted and measured.

    `verdict`: `=` as predicted, `≈` within drift, `≠` different, `?` not comparable.
    """

    name: str
    predicted: str
    measured: str
    verdict: str


def figures_of(explanation: Explanation, objects: int | None, seats: int | None) -> Figures:
    """Return the figures of a prediction.

    `objects` is the number of stored objects of the resource, `seats` the estimate for them; None: unknown.
    """
    plan, between = explanation.plan, explanation.seats
    known = CountRange(seats, seats) if seats is not None else CountRange(between.min, between.max)
    if plan.error is not None:
        return Figures(Source.NONE.value, seats=known)
    limit, ops = max(explanation.request.options.limit, 0), plan.unstreamed_ops
    pages = limit > 0 and explanation.request.scope(explanation.behaviour).selective
    grows = pages and any(op not in _ONE_READ for op in ops)  # pages are read until enough objects match
    reads = CountRange(len(ops), None if grows else len(ops))
    fallback, fetched = plan.fallback.reads_etcd, _fetched(explanation, objects)
    return Figures(plan.source.route, fallback, limit, plan.limit_honoured, known, fetched, reads)


def _fetched(explanation: Explanation, count: int | None) -> CountRange | None:
    """Return how many objects are read from cache or etcd, of `count` stored; None: unknown."""
    request, behaviour, plan = explanation.request, explanation.behaviour, explanation.plan
    scope = request.scope(behaviour)
    if request.verb == "get" or scope.single:
        return CountRange(0, 1)
    begins = plan.initial_events and plan.source is Source.CACHE
    if count is None or (request.verb == "watch" and not begins):
        return None
    part = bool(scope.namespace)
    if plan.source is Source.CACHE and request.verb == "list":
        indexed = request.required_node is not None
        part = indexed or (part and finds_namespaces(behaviour.minor, pods=request.of_pods))
    elif plan.source is Source.SNAPSHOT:
        part = True
    elif plan.source is Source.ETCD:
        part = part or request.token.state is not TokenState.NONE
        if (limit := request.options.limit) > 0:
            page = min(limit, count)
            return CountRange(0 if part else page, count if scope.selective else page)
    return CountRange(0 if part else count, count)


def compare(figures: Figures, measured: Measured) -> Iterator[Comparison]:
    """Yield each predicted figure next to the measured one."""
    route = measured.first_route or measured.route
    known = bool(route) or not measured.from_storage
    agrees = agree(figures.route, route, fallback=figures.fallback)
    letter, verdict = (letter_of(route or "none"), "=" if agrees else "≠") if known else ("?", "?")
    yield Comparison("route", letter_of(figures.route), letter, verdict)
    if measured.ok and figures.seats is not None:
        yield _counted("seats", figures.seats, measured.seats)
    if not measured.ok or measured.pages != 1 or (known and not agrees):
        return  # the other figures are predicted for one page from the predicted route
    if figures.limit_honoured is not None:
        yield _limit(figures, measured)
    shared = "etcd_gets" not in measured.counters  # includes whatever else that server did meanwhile
    if figures.fetched is not None:
        yield _counted("scanned", figures.fetched, measured.counters.get("fetched"), shared=shared)
    if figures.reads is not None:
        yield _counted("etcd reads", figures.reads, reads_of(measured), shared=shared)


def reads_of(measured: Measured) -> int | None:
    """Return the reads of etcd as kube-apiserver counts them; a real one reports only its RPCs."""
    counters = measured.counters
    if "etcd_gets" in counters:
        return counters["etcd_gets"] + counters.get("etcd_lists", 0)
    return counters.get("etcd_rpcs")


def returned_by(measured: Measured) -> int | None:
    """Return the objects in the answer, counted by the server, else by the client; None: unknown."""
    counted = measured.counters.get("returned")
    return counted if counted is not None else (measured.items or None)


def _counted(name: str, span: CountRange, value: int | None, *, shared: bool = False) -> Comparison:
    """Compare a count. A `shared` counter above its range is not comparable: others may have increased it."""
    if value is None:
        return Comparison(name, span.text, "?", "?")
    verdict = "=" if span.holds(value) else "≈" if span.nearly(value) and name == "scanned" else "≠"
    if shared and verdict == "≠" and value > span.low:
        verdict = "?"
    return Comparison(name, span.text, integer(value), verdict)


def _limit(figures: Figures, measured: Measured) -> Comparison:
    returned = returned_by(measured)
    honoured: bool | None = None
    if measured.continue_token:
        honoured = True
    elif returned is not None and returned > figures.limit:
        honoured = False
    words = {True: "honoured", False: "ignored", None: "all fit"}
    verdict = "?" if honoured is None else "=" if honoured == figures.limit_honoured else "≠"
    return Comparison("limit", words[figures.limit_honoured], words[honoured], verdict)


_NAME_ONE = "name a resource: pods, leases, deployments.apps"
# The field that causes an error, by reason id.
_FIELD_OF_REASON = {
    **dict.fromkeys(("v.match_needs_rv", "v.match_with_cont", "v.match_unknown", "v.exact_zero"), "match"),
    **dict.fromkeys(("v.rv_with_cont", "v.bad_continue"), "continue_token"),
    "v.bad_rv": "resource_version", "v.bad_option": "limit", "v.bad_shards": "shard",
}  # fmt: skip


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
        missing = f"the server has no resource {form.resource!r}" if form.resource else _NAME_ONE
        return LabPrediction(problem=PredictedError(0, "", missing, "resource"))
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
    problem, routes = _problem(found.explanation, form), routes_of(request, assumed.cache, assumed.behaviour)
    figures = figures_of(found.explanation, objects, found.seats)
    return LabPrediction(path, found.explanation, found.seats, problem, routes, figures)


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


def _grammar_problem(form: ListForm) -> PredictedError | None:
    """Return the error of a selector that cannot be parsed, None if both can."""
    field = "label_selector"
    try:
        LabelSelector.parse(form.label_selector)
        field = "field_selector"
        FieldSelector.parse(form.field_selector)
    except StatusError as error:
        return PredictedError(error.code, error.reason, error.message, field)
    return None


def _problem(explanation: Explanation, form: ListForm) -> PredictedError | None:
    plan, error = explanation.plan, explanation.plan.error
    if error is None:
        return None
    field = _FIELD_OF_REASON.get(plan.reason_id, "")
    if plan.reason_id == "v.bad_option" and explanation.request.field_fault is not None:
        field = "field_selector"
    elif plan.reason_id == "w.badmatch":
        # Without a match in the form a valid one is sent: then the feature gate WatchList is off.
        field = "match" if form.match else "verb"
    return PredictedError(error.code, error.reason, error.message, field)
