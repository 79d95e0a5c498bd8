"""A receiver's requests as a source of events: for the dashboard, and for `ktui record`."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator

from ktui import __version__
from ktui.contract.events import (
    AnyEvent,
    ChainStage,
    Dropped,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    WatcherClosed,
    WatcherOpened,
)
from ktui.contract.events.base import KUBE_APISERVER
from ktui.contract.events.live import LiveStatus
from ktui.kube.requestinfo import RequestInfo, first_values, selected_name
from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import assumed_state
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.versions import Behaviour
from ktui.traces import SCHEME
from ktui.traces.reading import info_of
from ktui.traces.receiver import OtlpReceiver
from ktui.traces.spans import TracedRequest

SOURCE = "traces"
_EVERY = 0.25  # seconds between two looks for requests
_AT_ONCE = 500  # requests in one batch of events


def traces_server(receiver: OtlpReceiver, behaviour: Behaviour) -> ServerInfo:
    """Return the event about the server where traces are the only source."""
    return ServerInfo(
        at=time.time(), ktui_version=__version__, kube_version=behaviour.version, etcd_version="",
        etcd_kind=KUBE_APISERVER, endpoints=[url_of(receiver)], writable=False, progress="assumed",
        name="traces", feature_gates=dict(behaviour.changed_gates),
    )  # fmt: skip


def url_of(receiver: OtlpReceiver) -> str:
    """Return the endpoint that names the traces in the event about the server."""
    return f"{SCHEME}{address_of(receiver)}"


def address_of(receiver: OtlpReceiver) -> str:
    return f"port {receiver.grpc_port} (gRPC) and {receiver.http_port} (HTTP)"


async def traced_events(
    receiver: OtlpReceiver, behaviour: Behaviour, first: int = 0
) -> AsyncIterator[list[AnyEvent]]:
    """Yield the events of requests as they become complete, and what was dropped or could not be read.

    Requests are numbered from `first` + 1 on. Ends once the receiver is closed.
    """
    made = TraceEvents(behaviour, first)
    dropped, problem = 0, ""
    while True:
        closed = receiver.closed
        requests = receiver.drain() + (receiver.assembler.finish() if closed else [])
        for start in range(0, len(requests), _AT_ONCE):
            some = requests[start : start + _AT_ONCE]
            yield [event for request in some for event in made.events(request)]
            await asyncio.sleep(0)
        lost = receiver.received.dropped + receiver.counts.dropped
        if lost > dropped:
            yield [Dropped(at=time.time(), count=lost - dropped)]
            dropped = lost
        if receiver.received.problem != problem:
            problem = receiver.received.problem
            yield [LiveStatus(at=time.time(), source=SOURCE, problem=problem)]
        if closed:
            return
        await asyncio.sleep(_EVERY)


UNTOLD = ("evaluated", "decoded", "decoded_bytes", "etcd_bytes", "cached_bytes", "cpu_ms", "seats")
"""Figures that no trace contains."""
_CHAIN = ("authentication", "impersonation", "flow control", "authorization")
_OUTSIDE = ("authentication", "other")  # not within the request's own time; the rest of it
_MOST_WATCHES = 10_000
OBSERVED, UNKNOWN = "observed", "not-told"


class TraceEvents:
    """Makes events from requests, numbered from `first` + 1 on. `behaviour`: the rules for comparison."""

    def __init__(self, behaviour: Behaviour, first: int = 0) -> None:
        self.behaviour = behaviour
        self._number = first
        self._watches: OrderedDict[str, int] = OrderedDict()  # open ones, by trace

    def events(self, request: TracedRequest) -> Iterator[AnyEvent]:
        """Yield the events of a request; of a WATCH that was reported before, only those of its end."""
        watch = request.verb == "watch"
        number = self._watches.pop(request.trace_id, 0) if watch and request.continues else 0
        info = info_of(request.path)
        end = (request.at + max(0, request.took)) / 1e6
        if not number:
            if not request.path:
                return
            self._number += 1
            number = self._number
            started = _started(request, info, number)
            yield started
            yield self._routed(request, number)
            if watch and request.route in ("cache", "etcd"):
                yield _opened(request, info, started)
        if watch and not request.complete:
            self._watches[request.trace_id] = number
            if len(self._watches) > _MOST_WATCHES:
                self._watches.popitem(last=False)
            return
        yield _finished(request, number, end)
        if watch:
            yield WatcherClosed(at=end, id=number, resource=info.resource_id, delivered=0, cause="it ended")

    def _routed(self, request: TracedRequest, number: int) -> RequestRouted:
        plan = _predicted(request, self.behaviour)
        steps = [RouteStep("observed in the trace", request.why or "nothing", bool(request.route), "trace")]
        reason = request.why
        if plan is not None:
            route = plan.source.route if plan.error is None else "none"
            steps.append(
                RouteStep(f"predicted by {self.behaviour.version}", route, route == request.route, "rules")
            )
            reason = f"{reason}; {_compared(request, plan, route, self.behaviour)}"
        return RequestRouted(
            at=request.at / 1e6, id=number, route=_route(request),
            reason_id=OBSERVED if request.route else UNKNOWN, reason=reason, steps=steps,
        )  # fmt: skip


def _route(request: TracedRequest) -> str:
    return "cache,etcd" if request.fallback else request.route


def _predicted(request: TracedRequest, behaviour: Behaviour) -> Plan | None:
    """Return what the rules say of a read; None for another request, or without its query."""
    if request.verb not in ("get", "list", "watch") or not request.query:
        return None
    try:
        read = parse_request(request.path, request.verb)
        return predict(read, assumed_state(read, progress=True), behaviour)
    except RequestError:
        return None


def _compared(request: TracedRequest, plan: Plan, route: str, behaviour: Behaviour) -> str:
    """Return how the observed route compares with the predicted one."""
    rules = f"the rules of {behaviour.version}"
    if not request.route:
        return f"{rules} predict {route}"
    if route == request.route:
        return f"as {rules} predict: {sentences.reason(plan)}"
    if request.fallback:
        return f"{rules} predict {route}: a fallback, for the cache was not ready or too far behind"
    if request.route == "none":
        return f"refused with {request.status}; {rules} predict {route}"
    return (
        f"{rules} predict {route} ({sentences.reason(plan)}): another version or feature gate, or the cache "
        "did not have what was asked for"
    )


def _started(request: TracedRequest, info: RequestInfo, number: int) -> RequestStarted:
    path, _, query = request.path.partition("?")
    verb = {"create": "POST", "update": "PUT"}.get(request.verb, request.verb.upper())
    # What each stage decided, as far as the status says.
    refused = {403: "authorization", 429: "flow control", 401: "authentication"}.get(request.status)
    decisions = {refused: f"refused with {request.status}"} if request.route == "none" else {}
    stages = [(stage, request.stages[stage]) for stage in _CHAIN if stage in request.stages]
    return RequestStarted(
        at=request.at / 1e6, id=number, verb=verb, path=path, query=query, resource=info.resource_id,
        namespace=info.namespace, name=info.name or request.name,
        client=(request.user_agent.split("/")[0].split() or ["unknown"])[0], user_agent=request.user_agent,
        accept=request.accept, peer=request.peer or request.client, audit_id=request.audit_id,
        chain=[ChainStage(stage, decisions.get(stage, "passed"), ms) for stage, ms in stages],
    )  # fmt: skip


def _finished(request: TracedRequest, number: int, at: float) -> RequestFinished:
    told = {"fetched": request.scanned, "returned": request.returned, "sent_bytes": request.body}
    untold = [*UNTOLD, *(name for name, value in told.items() if value < 0)]
    return RequestFinished(
        at=at, id=number, status=max(0, request.status), route=_route(request),
        reason_id=OBSERVED if request.route else UNKNOWN, ms=max(0, request.took) / 1000,
        phases={stage: ms for stage, ms in request.stages.items() if stage not in _OUTSIDE},
        fetched=max(0, request.scanned), matched=max(0, request.returned), returned=max(0, request.returned),
        etcd_rpcs=request.rpcs, sent_bytes=max(0, request.body),
        initial_ms=request.stages.get("initial events", 0.0), untold=untold,
    )  # fmt: skip


def _opened(request: TracedRequest, info: RequestInfo, started: RequestStarted) -> WatcherOpened:
    values = first_values(started.query)
    selectors = (values.get("labelSelector", ""), values.get("fieldSelector", ""))
    return WatcherOpened(
        at=started.at, id=started.id, resource=info.resource_id, since=values.get("resourceVersion", ""),
        client=started.client, namespace=info.namespace,
        name=info.name or selected_name(info, "WATCH", started.query),
        selector=",".join(filter(None, selectors)), route=request.route, observed=True,
    )  # fmt: skip
