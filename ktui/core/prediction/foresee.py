"""What the routing rules say of a request: in other versions, and asked more cheaply."""

from __future__ import annotations

from ktui.core.prediction.outlook import NOTHING, Cheaper, Foreseen, Outlook
from ktui.core.prediction.server_assumptions import routing_state_of
from ktui.core.request_view import READS
from ktui.core.state import RequestRow, State
from ktui.kube.advice import Advice, advise
from ktui.kube.query import first_values
from ktui.kube.requestinfo import split_url
from ktui.kube.routing.cache_state import CacheState as RoutingState
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of

# Where reading changed: before consistent reads from cache, with them (1.31), with snapshots (1.34), now.
VERSIONS = ("1.24", "1.30", "1.31", "1.34", "1.36")
# What advice on habits and forms says in a few words; the others are told by their difference.
WORDS = {
    "a.watch": "WATCH instead of polling",
    "a.metadata": "ask for metadata only",
    "a.protobuf": "accept protobuf",
    "a.backoff": "restart few at a time",
    "a.account": "give it an account of its own",
}
# What a request that was refused (4xx) may be told: it had no answer that could be cheaper.
_OF_REFUSED = {"a.parameter", "a.backoff", "a.account"}


def foresee(row: RequestRow, state: State) -> Outlook:
    """The outlook of a request with its cache as it is now."""
    if row.started.verb not in READS:
        return NOTHING
    try:
        request = parse_request(row.target, row.started.verb.lower())
        now = server_behaviour(state)
    except (RequestError, BehaviourError):
        return NOTHING
    cache = routing_state(row.started.resource, state)
    refused = 400 <= row.status < 500
    return Outlook(
        versions=versions_of(request, cache, now),
        cheaper=tuple(
            cheaper_of(row.target, advice)
            for advice in advise(request, cache, now, state.habits.of(row))
            if not refused or advice.id in _OF_REFUSED
        ),
    )


def server_behaviour(state: State) -> Behaviour:
    """The rules that the server follows now, with its gates. Raises BehaviourError for unknown ones."""
    server = state.server
    return behaviour_of(server.kube_version, server.feature_gates) if server is not None else behaviour_of()


def cheaper_of(target: str, advice: Advice) -> Cheaper:
    change = _change(target, advice.path) or ", ".join(f"{name}: {value}" for name, value in advice.headers)
    # "add resourceVersion=0 — resourceVersion=0 answers …" says it twice.
    why = advice.why.removeprefix(f"{change.split(' ')[-1]} ") if change else advice.why
    return Cheaper(WORDS.get(advice.id, change), why, advice.plan.source.value)


def _change(before: str, after: str) -> str:
    """The difference of two requests in words: `add resourceVersion=0`, `drop limit`, or the whole path."""
    (old_path, old_query), (path, query) = split_url(before), split_url(after)
    if old_path != path:
        return f"ask {after}"
    old, new = first_values(old_query), first_values(query)
    words = [f"drop {name}" for name in old if name not in new]
    words += [f"add {name}={value}" for name, value in new.items() if name not in old]
    words += [f"{name}={value}" for name, value in new.items() if name in old and old[name] != value]
    return ", ".join(words)


def versions_of(request: ReadRequest, cache: RoutingState, now: Behaviour) -> tuple[Foreseen, ...]:
    """The route in the versions where reading changed, and in the one that is followed now."""
    behaviours = {one.minor: one for one in (*map(behaviour_of, VERSIONS), now)}
    return tuple(
        Foreseen(f"1.{minor}", predict(request, cache, behaviour).source.value, minor == now.minor)
        for minor, behaviour in sorted(behaviours.items())
    )


def routing_state(resource: str, state: State) -> RoutingState:
    """What the rules may know of a resource's cache; nothing is known of one that was never asked."""
    cached = state.caches.get(resource)
    if cached is None:
        return RoutingState(progress=state.progress)
    return routing_state_of(cached.cache, cached.rv, progress=state.progress)
