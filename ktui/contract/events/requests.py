"""The events of one request: started, routed, finished with its cost."""

from __future__ import annotations

import msgspec

from ktui.contract.events.base import Count, Difference, Event, Milliseconds
from ktui.contract.events.cost import CostEvent


class ChainStage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One stage of the request chain, what it decided, and how long it took."""

    stage: str  # authentication | impersonation | flow control | authorization | admission
    decision: str
    ms: Milliseconds = 0.0


class RequestStarted(Event, frozen=True, kw_only=True, tag="request_started"):
    """A request that passed authentication. `id` is unique within the server's life."""

    id: Count
    verb: str  # GET LIST WATCH POST PUT PATCH DELETE …, normalised as in kube-apiserver's log
    path: str
    query: str  # raw, without "?"
    resource: str  # "pods", "ciliumnodes.cilium.io"; "" if it is not a resource request
    namespace: str
    name: str
    client: str  # short: the first word of the user agent, e.g. "kubectl"
    user_agent: str
    accept: str = ""  # the header; "" if it was not sent
    user: str = ""  # the authenticated user; "" if unknown
    level: str = ""  # the priority level of the request; "" without flow control
    peer: str = ""  # host:port of the client: tells apart clients with the same name
    audit_id: str = ""  # of the Audit-ID header: names the request in audit log and request log
    flow_schema: str = ""  # "" without flow control
    chain: list[ChainStage] = msgspec.field(default_factory=list)  # the stages before the handler, in order


class RouteStep(msgspec.Struct, frozen=True, gc=False):
    """One predicate of the decision trace; `phase` is the kube-apiserver function that evaluates it."""

    rule: str
    saw: str
    taken: bool
    phase: str = ""


class RequestRouted(Event, frozen=True, kw_only=True, tag="request_routed"):
    """The routing decision, before anything is read."""

    id: Count
    route: str  # cache | cache_snapshot | etcd | none
    reason_id: str
    reason: str
    steps: list[RouteStep]
    limit_honoured: bool | None = None
    consistency: str | None = None
    wait: str = "none"


class RequestFinished(CostEvent, frozen=True, kw_only=True, tag="request_finished"):  # type: ignore[misc]
    """The response is complete; for a WATCH, its stream has ended."""

    id: Count
    status: Count
    route: str  # as finally served: cache | cache_snapshot | etcd | none | "cache,etcd"
    reason_id: str = ""
    ms: Milliseconds
    # ms by phase: queue, wait, etcd, decode, filter, encode, send
    phases: dict[str, Milliseconds] = msgspec.field(default_factory=dict)
    seats: Count = 0
    peak_held: Count = 0  # the peak of bytes held: etcd's responses, objects, the body
    process_growth: Difference | None = None  # growth of the process in bytes; None: small, or not measured
    shared: bool = False  # other requests ran meanwhile and may have caused the growth
    initial: Count = 0  # WATCH: events until it was live
    initial_bytes: Count = 0
    initial_ms: Milliseconds = 0.0  # until the last initial event was sent (without any, the headers)
    error: str = ""  # the Status message of an error answer
    rv: str = ""  # list resourceVersion or object resourceVersion of the answer
    chain: list[ChainStage] = msgspec.field(default_factory=list)  # the stages of the handler: admission
    # Figures that are not known rather than 0, where the request was seen from outside (a trace).
    untold: list[str] = msgspec.field(default_factory=list)

    @property
    def seat_seconds(self) -> float:
        """Seats times the seconds for which they were held: from dispatch to the end (WATCH: until live)."""
        return self.seats * max(0.0, (self.initial_ms or self.ms) - self.phases.get("seats", 0.0)) / 1000.0
