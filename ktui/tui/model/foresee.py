"""What the routing rules of other Kubernetes versions would have done with a request."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.kube.continuetoken import decode
from ktui.kube.listoptions import ListOptions, parse_list_options
from ktui.kube.routing import decide_get, decide_list
from ktui.kube.routing.model import CacheState as RoutingState
from ktui.kube.routing.model import Decision, ListQuestion, Readiness, TokenState
from ktui.kube.status import StatusError
from ktui.kube.versions import BehaviourError, behaviour_of
from ktui.tui.model.state import RequestRow, State

# Where the rules of reading changed: before the gates, beta consistent reads (1.31), snapshots (1.34), now.
VERSIONS = ("1.24", "1.30", "1.31", "1.34", "1.36")
_READINESS = {
    "ready": Readiness.READY,
    "cold": Readiness.INITIALIZING,
    "initializing": Readiness.INITIALIZING,
    "reinitializing": Readiness.REINITIALIZING,
    "disabled": Readiness.DISABLED,
}
_NARROWING = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The route under one version; `current` is the version that the server follows."""

    version: str
    route: str
    reason_id: str
    current: bool


def foresee(row: RequestRow, state: State) -> list[Foreseen]:
    """Routes of a GET or LIST by version, with its cache as it is now; [] for anything else."""
    now = _minor(state.server.kube_version) if state.server is not None else ""
    versions = sorted({*VERSIONS, *([now] if now else [])}, key=lambda text: int(text.split(".")[1]))
    foreseen = []
    for version in versions:
        decision = _decide(row, routing_state(row.started.resource, state), version)
        if decision is not None:
            foreseen.append(Foreseen(version, decision.route.value, decision.reason_id, version == now))
    return foreseen


def routing_state(resource: str, state: State) -> RoutingState:
    """What the rules may know of a resource's cache."""
    cached = state.caches.get(resource)
    if cached is None:
        return RoutingState(readiness=Readiness.DISABLED if resource == "events" else Readiness.READY)
    server = state.server
    return RoutingState(
        readiness=_READINESS.get(cached.cache.state, Readiness.READY),
        cache_rv=cached.rv,
        progress=server is None or server.progress != "unsupported",
        oldest_snapshot_rv=cached.cache.oldest_rv or None if cached.cache.snapshots else None,
        oldest_watch_rv=cached.cache.oldest_rv,
    )


def _decide(row: RequestRow, cache: RoutingState, version: str) -> Decision | None:
    started = row.started
    if not started.resource or started.verb not in ("GET", "LIST"):
        return None
    try:
        behaviour = behaviour_of(version)
        options = parse_list_options(started.query)
        if started.verb == "GET":
            return decide_get(options.resource_version, cache, behaviour)
        return decide_list(list_question(options), cache, behaviour)
    except (StatusError, BehaviourError):
        return None  # such a query is refused before anything is routed


def list_question(options: ListOptions) -> ListQuestion:
    """The parts of the options that routing looks at."""
    token, token_rv = _token(options.continue_)
    names = [part.partition("=")[0].rstrip("!=") for part in options.field_selector.split(",") if part]
    return ListQuestion(
        resource_version=options.resource_version,
        match=options.resource_version_match,
        limit=options.limit,
        token=token,
        token_rv=token_rv,
        selectors=bool(options.label_selector) or any(name not in _NARROWING for name in names),
        recursive="metadata.name" not in names,
        send_initial_events=options.send_initial_events is not None,
        narrowed="metadata.namespace" in names,
    )


def _token(text: str) -> tuple[TokenState, int]:
    if not text:
        return TokenState.NONE, 0
    try:
        return TokenState.VALID, decode(text).rv
    except StatusError:
        return TokenState.GARBAGE, 0


def _minor(version: str) -> str:
    """`v1.36.2` → `1.36`."""
    return ".".join(version.lstrip("v").split(".")[:2])
