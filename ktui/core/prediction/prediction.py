"""Predict a request: plan, seats, alternatives. Screens, commands and the audit all use this module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ktui.core.prediction.assumptions import Assumptions, logged
from ktui.core.ranking.remedy import NOTHING, Alternative, Alternatives, VersionRoute
from ktui.core.request_view import READS
from ktui.core.state import RequestRow, State
from ktui.kube import seats
from ktui.kube.access_pattern import UNKNOWN, AccessPattern
from ktui.kube.advice import Advice, advise
from ktui.kube.explain import Explanation, explain
from ktui.kube.requestinfo import first_values, split_url
from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.parameters import NAME
from ktui.kube.routing.plan import Source
from ktui.kube.routing.predict import predict as plan_of
from ktui.kube.routing.predict import predict_seats
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.seats import SeatRange
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of

# Versions in which reads changed: without consistent reads from cache, with them (1.31), snapshots (1.34).
VERSIONS = ("1.24", "1.30", "1.31", "1.34", "1.36")
# Labels for advice on access patterns and encodings; other advice is labelled with its URL difference.
WORDS = {
    "a.watch": "WATCH instead of polling",
    "a.metadata": "ask for metadata only",
    "a.protobuf": "accept protobuf",
    "a.backoff": "restart a few at a time",
    "a.account": "give it an account of its own",
}
# Advice that applies to a refused request (4xx): it had no answer that could be cheaper.
_OF_REFUSED = {"a.parameter", "a.backoff", "a.account"}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for one request; without an `explanation`, `problem` says why.

    `seats` are estimated for the size of the resource; None if unknown.
    """

    explanation: Explanation | None = None
    problem: str = ""
    seats: int | None = None
    assumed: bool = False  # the cache counts as ready

    @property
    def route(self) -> str:
        """cache | etcd | none; "" if nothing is predicted."""
        return self.explanation.plan.source.route if self.explanation is not None else ""

    def agrees(self, route: str) -> bool | None:
        """True if the answer came from the predicted source; None without a prediction."""
        if self.explanation is None:
            return None
        return agree(self.route, route, fallback=self.explanation.plan.fallback.reads_etcd)

    def document(self) -> dict[str, Any]:
        """Return the object `predicted` of `ktui list --json`.

        The caller, who has measured, adds `agrees`.
        """
        if self.explanation is None:
            return {"route": None, "problem": self.problem}
        between = self.explanation.seats
        return {
            "kube_version": self.explanation.behaviour.version,
            **sentences.document(self.explanation.plan),
            "seats": {"min": between.min, "max": between.max},
            "warnings": list(self.explanation.warnings),
            "cache_assumed_ready": self.assumed,
        }


def agree(predicted: str, measured: str, *, fallback: bool) -> bool:
    """True if a measured route ("" if refused) is the predicted one, or a `fallback` to etcd."""
    return (measured or Source.NONE.value) == predicted or (fallback and measured == "cache,etcd")


def predict(
    request: ReadRequest,
    assumed: Assumptions,
    behaviour: Behaviour | None = None,
    pattern: AccessPattern = UNKNOWN,
) -> Prediction:
    """Predict a request to a server, or under other rules than the server's."""
    rules = behaviour or assumed.behaviour
    explanation = explain(request, assumed.cache, rules, pattern=pattern, level=assumed.level)
    return Prediction(explanation, seats=seats_by_size(request, rules, assumed), assumed=assumed.assumed)


def predict_path(
    path: str, assume: Callable[[str], Assumptions], pattern: AccessPattern = UNKNOWN
) -> Prediction:
    """Predict a GET or LIST of a path; `assume(resource id)` returns what is known of its server."""
    try:
        request = parse_request(path)
    except RequestError as error:
        return Prediction(problem=str(error))
    return predict(request, assume(resource_id(request)), pattern=pattern)


def resource_id(request: ReadRequest) -> str:
    """Return the id of the request's resource: `pods`, `leases.coordination.k8s.io`."""
    return request.resource.id if request.resource is not None else request.info.resource_id


def seats_by_size(request: ReadRequest, behaviour: Behaviour, assumed: Assumptions) -> int | None:
    """Seats of a LIST or WATCH for the resource's current size; None if unknown."""
    if assumed.size is None or request.refused:
        return None
    count, size, single = assumed.size.count, assumed.size.bytes, request.fields.requires(NAME) is not None
    each, progress = size // count if count else 0, assumed.cache.progress
    work = seats.work_of(
        behaviour, request.options, single=single, progress=progress, objects=count, average_bytes=each
    )
    if request.verb == "watch":
        options = request.options
        asked = options.resource_version, options.send_initial_events
        return seats.watch_seats(behaviour, work, *asked, assumed.max_seats)
    return seats.list_seats(behaviour, work, assumed.max_seats)


def seat_range(request: ReadRequest, behaviour: Behaviour, assumed: Assumptions) -> SeatRange:
    """Return the fewest and most seats; both are equal for a LIST of a resource of known size."""
    by_size = request.verb == "list" and behaviour.minor >= 23 and behaviour.enabled("APIPriorityAndFairness")
    known = seats_by_size(request, behaviour, assumed) if by_size else None
    if known is not None:
        return SeatRange(known, known)
    return predict_seats(request, behaviour, progress=assumed.cache.progress, cap=assumed.max_seats)


class Advised(NamedTuple):
    """A logged request, what is assumed about its server, and the rules' advice on it."""

    request: ReadRequest
    assumed: Assumptions
    advice: Sequence[Advice]


def advised(row: RequestRow, state: State) -> Advised | None:
    """Return the advice on a logged request, with the current state of its cache; None if it is invalid."""
    try:
        request = parse_request(row.target, row.started.verb.lower())
        assumed = logged(state, row.started.resource)
    except (RequestError, BehaviourError):
        return None
    pattern = state.access_patterns.of(row)
    return Advised(request, assumed, advise(request, assumed.cache, assumed.behaviour, pattern))


def alternatives_of(row: RequestRow, state: State) -> Alternatives:
    """Return the alternatives of a request in the log, with the current state of its cache."""
    known = advised(row, state) if row.started.verb in READS else None
    if known is None:
        return NOTHING
    refused = 400 <= row.status < 500
    found = (advice for advice in known.advice if not refused or advice.id in _OF_REFUSED)
    cheaper = tuple(cheaper_of(row.target, advice) for advice in found)
    return Alternatives(routes_of(known.request, known.assumed.cache, known.assumed.behaviour), cheaper)


def routes_of(request: ReadRequest, cache: CacheState, now: Behaviour) -> tuple[VersionRoute, ...]:
    """Return the route under `VERSIONS`, in which reads changed, and under the current rules `now`."""
    return tuple(
        VersionRoute(f"1.{each.minor}", plan_of(request, cache, each).source.value, each.minor == now.minor)
        for each in compared_rules(now)
    )


def compared_rules(now: Behaviour) -> list[Behaviour]:
    """Return the rules of `VERSIONS` and, in place of those of its minor, the current ones, oldest first."""
    by_minor = {each.minor: each for each in (*map(behaviour_of, VERSIONS), now)}
    return [by_minor[minor] for minor in sorted(by_minor)]


def cheaper_of(target: str, advice: Advice) -> Alternative:
    """Describe advice: what to change in `target`, why, and the resulting route."""
    change = _change(target, advice.path) or ", ".join(f"{name}: {value}" for name, value in advice.headers)
    # "add resourceVersion=0 — resourceVersion=0 answers …" would repeat it.
    why = advice.why.removeprefix(f"{change.split(' ')[-1]} ") if change else advice.why
    return Alternative(WORDS.get(advice.id, change), why, advice.plan.source.value, bool(advice.headers))


def _change(before: str, after: str) -> str:
    """Return the difference of two URLs: `add resourceVersion=0`, `drop limit`, or the whole new URL."""
    (old_path, old_query), (path, query) = split_url(before), split_url(after)
    if old_path != path:
        return f"ask {after}"
    old, new = first_values(old_query), first_values(query)
    words = [f"drop {name}" for name in old if name not in new]
    words += [f"add {name}={value}" for name, value in new.items() if name not in old]
    words += [f"{name}={value}" for name, value in new.items() if name in old and old[name] != value]
    return ", ".join(words)
