"""What the routing rules say of a request: in other versions, and asked more cheaply."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.kube.advice import Advice, advise
from ktui.kube.query import first_values
from ktui.kube.requestinfo import split_url
from ktui.kube.routing.model import CacheState as RoutingState
from ktui.kube.routing.model import Readiness
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of
from ktui.tui.model.request_view import READS
from ktui.tui.model.state import RequestRow, State

# Where reading changed: before consistent reads from cache, with them (1.31), with snapshots (1.34), now.
VERSIONS = ("1.24", "1.30", "1.31", "1.34", "1.36")
_READINESS = {
    "ready": Readiness.READY,
    "cold": Readiness.INITIALIZING,
    "initializing": Readiness.INITIALIZING,
    "reinitializing": Readiness.REINITIALIZING,
    "disabled": Readiness.DISABLED,
}


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The route under one version; `current` is the version that the server follows."""

    version: str
    route: str
    current: bool


@dataclass(frozen=True, slots=True)
class Cheaper:
    """A cheaper form: what to change (`add resourceVersion=0`), why, and the route foreseen for it."""

    change: str
    why: str
    route: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """All that the rules say; empty for what is no GET, LIST or WATCH of a resource."""

    versions: tuple[Foreseen, ...] = ()
    cheaper: tuple[Cheaper, ...] = ()


NOTHING = Outlook()


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
    return Outlook(
        versions=versions_of(request, cache, now),
        cheaper=tuple(cheaper_of(row.target, advice) for advice in advise(request, cache, now)),
    )


def server_behaviour(state: State) -> Behaviour:
    """The rules that the server follows now, with its gates. Raises BehaviourError for unknown ones."""
    server = state.server
    return behaviour_of(server.kube_version, server.feature_gates) if server is not None else behaviour_of()


def cheaper_of(target: str, advice: Advice) -> Cheaper:
    change = _change(target, advice.path)
    # "add resourceVersion=0 — resourceVersion=0 answers …" says it twice.
    return Cheaper(change, advice.why.removeprefix(f"{change.split(' ')[-1]} "), advice.decision.route.value)


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
        Foreseen(f"1.{minor}", predict(request, cache, behaviour).route.value, minor == now.minor)
        for minor, behaviour in sorted(behaviours.items())
    )


def routing_state(resource: str, state: State) -> RoutingState:
    """What the rules may know of a resource's cache; nothing is known of one that was never asked."""
    server = state.server
    progress = server is None or server.progress != "unsupported"
    cached = state.caches.get(resource)
    if cached is None:
        return RoutingState(progress=progress)
    return RoutingState(
        readiness=_READINESS.get(cached.cache.state, Readiness.READY),
        cache_rv=cached.rv,
        progress=progress,
        oldest_snapshot_rv=cached.cache.oldest_rv if cached.cache.snapshots else None,
        oldest_watch_rv=cached.cache.oldest_rv,
    )
