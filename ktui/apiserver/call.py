"""One request being served: its attributes, what the request chain decided, its plan, its cost, its time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ktui.apiserver.chain import Decision, LoggedObjects, Ticket
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response, header
from ktui.apiserver.large_requests import LargeRequest, LargeRequests, free_later
from ktui.contract.events import (
    AnyEvent,
    ChainStage,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    figures,
)
from ktui.kube.flow_schemas import FlowSchema, PriorityLevel
from ktui.kube.requestinfo import (
    RequestAttributes,
    RequestInfo,
    attributes_of,
    rules_verb,
    selected_name,
)
from ktui.kube.resources import Resource
from ktui.kube.routing import sentences
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.users import Requester
from ktui.kube.versions import Behaviour
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Footprint, Meter

SNAPSHOT, CACHE, NONE = Source.SNAPSHOT.value, Source.CACHE.value, Source.NONE.value
LONG_QUERY = 4096  # characters: a selector of 64 KB takes up to a tenth of a second to parse
MAX_ACCEPT = 256
MAX_TEXT = 2000
REQUEST_SECONDS = 60.0  # kube-apiserver's --request-timeout
FLOW_CONTROL = "flow control"  # a stage
SHOWN_WAIT = 0.0005  # seconds: a shorter wait is not shown
WRITE_REASON_ID = "write"
WRITE_REASON = "a write is a transaction in etcd on the object's mod_revision"


NO_METADATA: Mapping[str, Any] = {}
UNKNOWN = Requester("")  # until the user is known


class Call:
    """One request, from its headers to the last byte of its response: what the request chain found out about
    it, its plan, and its cost. The request logs are written from it.

    `attributes` are what flow schemas and authorizers match. `authenticated` is the user whose credentials it
    has, None until authentication has passed; `who` is the impersonated user, or `authenticated`;
    `constraint` is the verb that allowed to impersonate, "" for the verb of all versions. `level` is its
    priority level, `ticket` its seats in flow control. `received` is in Unix seconds; `arrived` and `started`
    are on the clock of `elapsed_ms`, which counts from `started`: when the API began to serve it, less the
    time that it waited for seats. `issued` is the id of a token in the response, for the audit log, which has
    an Event of the response's start if `logged_start`. `routed`: it has reached its handler.

    `sent` is the metadata of the object in the body. `status` is the Status in the response: of an error or
    of a deletion. `panicked` is the unexpected exception of the handler. `route` is "" before storage is
    read. `begun` are the events that a WATCH published until it began.
    """

    authenticated: Requester | None = None
    who: Requester = UNKNOWN
    constraint: str = ""
    issued: str = ""
    logged_start: bool = False
    routed: bool = False
    flow: FlowSchema | None = None
    level: PriorityLevel | None = None
    decision: Decision | None = None
    ticket: Ticket | None = None
    resource: Resource | None = None
    plan: Plan | None = None
    route: str = ""
    reason_id: str = ""
    reason: str = ""
    error: str = ""
    rv: str = ""
    status: dict[str, Any] | None = None
    sent: Mapping[str, Any] = NO_METADATA
    panicked: str = ""
    objects: LoggedObjects | None = None
    large: LargeRequest | None = None
    allowed: float = REQUEST_SECONDS  # for its response; a WATCH has a time-out of its own
    _timer: asyncio.TimerHandle | None = None  # ends the time allowed
    _expired: bool = False
    _cancelling: int = 0  # cancellations of the request's task, as the timer was armed
    _announced: int = 0  # number of the chain's stages that were published

    def __init__(
        self,
        request: Request,
        response: Response,
        info: RequestInfo,
        verb: str,
        audit_id: str,
        behaviour: Behaviour,
        bus: Bus,
    ) -> None:
        self.request = request
        self.response = response
        self.info = info
        self.verb = verb
        self.attributes = attributes_of(info, rules_verb(info, verb))
        self.audit_id = audit_id
        self.behaviour = behaviour
        self.drops = behaviour.enabled("ManagedFieldsOptOut")  # managedFields, if a client asks
        self.bus = bus
        self.meter = Meter()
        self.stages: list[ChainStage] = []
        self.begun: list[AnyEvent] = []
        self.received = time.time()
        self.arrived = self.started = self._mark = time.perf_counter()

    @property
    def named_attributes(self) -> RequestAttributes:
        """`attributes`, with the name that a LIST or WATCH selects; reading a long selector takes time."""
        info = self.info
        if not info.is_resource or info.name or not self.request.query:
            return self.attributes
        return self.attributes._replace(name=selected_name(info, self.verb, self.request.query))

    @property
    def resource_is_custom(self) -> bool:
        return self.resource is not None and self.resource.custom

    # The request chain.

    def passed(self, stage: str, decision: str) -> None:
        """End a stage; its time began with the end of the previous stage."""
        now = time.perf_counter()
        self.stages.append(ChainStage(stage, decision, (now - self._mark) * 1000.0))
        self._mark = now

    def refused(self, why: str) -> None:
        """End the stage that refuses the request, with the reason `why`."""
        if self.authenticated is None:
            stage = "authentication"
        elif self.who is UNKNOWN:
            stage = "impersonation"
        else:
            stage = FLOW_CONTROL if self.decision is None else "authorization"
        self.passed(stage, f"refused: {why}")

    def resume(self) -> None:
        """Start the time of the next stage now: the time since the last stage does not count."""
        self._mark = time.perf_counter()

    def begin(self, number: int, footprint: Footprint, level: PriorityLevel) -> None:
        """Begin to serve the request, as the API's request `number`."""
        meter = self.meter
        meter.request_id, meter.footprint, self.level = number, footprint, level
        self.started = time.perf_counter()
        ticket = self.ticket
        if ticket is not None:
            meter.seats = ticket.seats
            if ticket.waited >= SHOWN_WAIT:  # the time that it waited for its seats counts as its own
                self.started -= ticket.waited
                meter.add_phase("seats", ticket.waited * 1000.0)

    # Its time.

    def limit(self) -> None:
        """Cancel the request after the time allowed. Called as it first waits: most requests never do."""
        if self.verb != "WATCH":
            task = asyncio.current_task()
            assert task is not None
            self._cancelling = task.cancelling()
            self._timer = asyncio.get_running_loop().call_later(self.allowed, self._expire, task)

    def unlimit(self) -> None:
        """Let the rest of the request take its time: its handler has ended."""
        if self._timer is not None:
            self._timer.cancel()

    def timed_out(self) -> bool:
        """Whether the cancellation that the request's task has just caught is the end of the time allowed."""
        task = asyncio.current_task()
        return self._expired and task is not None and task.uncancel() <= self._cancelling

    def _expire(self, task: asyncio.Task[object]) -> None:
        self._expired = True
        task.cancel()

    # The handler.

    @property
    def resource_id(self) -> str:
        return self.resource.id if self.resource is not None else ""

    def end_concurrency(self) -> None:
        """Record that a WATCH from now on mostly waits: others no longer share the process with it."""
        if self.meter.footprint is not None:
            self.meter.footprint.leave()

    def initialized(self) -> None:
        """Give back the seats of a WATCH that has sent its initial events."""
        if self.ticket is not None:
            self.ticket.initialized()

    def announce(self) -> None:
        """Publish that the request has started."""
        self._announced = len(self.stages)
        if not self.bus.watched and self.verb != "WATCH":
            self.bus.skip()
            return
        controlled = self.behaviour.enabled("APIPriorityAndFairness")
        self._publish(
            RequestStarted(
                id=self.meter.request_id,
                verb=self.verb,
                path=shortened(self.request.path),
                query=shortened(self.request.query),
                resource=self.resource_id,
                namespace=shortened(self.info.namespace),
                name=shortened(self.info.name),
                client=shortened(self.request.client),
                user_agent=shortened(self.request.user_agent),
                accept=self.request.accept[:MAX_ACCEPT],
                user=self.who.user,
                level=self.level.name if controlled and self.level else "",
                peer=self.request.peer,
                audit_id=self.audit_id,
                flow_schema=self.flow.name if controlled and self.flow else "",
                chain=self.stages.copy(),
            )
        )

    def planned(self, plan: Plan, route: str) -> None:
        """Publish the route before anything is read, and again if the cache cannot answer (`cache,etcd`)."""
        self.route = route
        if self.plan is not None:
            return
        self.plan = plan
        self.reason_id, self.reason = plan.reason_id, sentences.reason(plan)
        if not self.bus.watched and self.verb != "WATCH":
            self.bus.skip()
            return
        self._publish(
            RequestRouted(
                id=self.meter.request_id,
                route=plan.source.value,
                reason_id=self.reason_id,
                reason=self.reason,
                steps=sentences.trace(plan, RouteStep),
                limit_honoured=plan.limit_honoured,
                consistency=plan.consistency,
                wait=sentences.wait_value(plan),
            )
        )

    def _publish(self, event: RequestStarted | RequestRouted) -> None:
        """Publish an event; those of a WATCH's start are kept for later subscribers."""
        if self.verb == "WATCH":
            event = replace(event, at=self.bus.now())
            self.begun.append(event)
        self.bus.publish(event)

    def writes(self) -> None:
        """Record that this is a write, which has only one route."""
        self.route, self.reason_id, self.reason = Source.ETCD.value, WRITE_REASON_ID, WRITE_REASON

    async def enter_large(self, places: LargeRequests) -> None:
        """Do the CPU work off the event loop, as one of a few such requests; raise StatusError 429.

        From now on, until the response begins, the request is cancelled if its client disconnects.
        """
        self.large = LargeRequest(places, self.meter.user)
        await self.large.enter(self.request.disconnection)
        self.meter.large = True

    def release_large(self) -> None:
        """Give back the place of a large request, and free its trees."""
        paused = False
        if self.large is not None:
            self.large.leave()
            paused = self.large.pauses
        if self.meter.trees or paused:
            free_later(self.meter.trees, paused=paused)

    def stamp(self) -> None:
        """Add the headers with route and cost to the response; call before it starts."""
        if self.large is not None:
            self.large.leave()
        headers = [
            (b"x-ktui-request-id", b"%d" % self.meter.request_id),
            (b"x-ktui-cost", cost_header(self.meter, self.verb).encode()),
        ]
        if self.route and self.route != NONE:
            public = self.route.replace(SNAPSHOT, CACHE)  # in headers a snapshot counts as the cache
            headers.append((b"x-ktui-route", public.encode()))
        if self.reason_id:
            headers.append(header("x-ktui-reason", f"{self.reason_id} {self.reason}"))
        timing = timing_header(self.stages, self.meter, self.elapsed_ms())
        headers.append((b"server-timing", timing.encode()))
        self.response.add_headers(headers)

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000.0

    def finish(self) -> None:
        """End the request's part in concurrency, and publish that the response is complete."""
        meter = self.meter
        if meter.footprint is not None:
            meter.footprint.leave()
        meter.sent_bytes = self.response.sent_bytes
        if not self.bus.watched:
            self.bus.skip()
            return
        self.bus.publish(
            RequestFinished(
                *figures(meter),
                id=meter.request_id,
                status=self.response.status,
                route=self.route or NONE,
                reason_id=self.reason_id,
                ms=self.elapsed_ms(),
                phases=dict(meter.phases),
                seats=meter.seats,
                peak_held=meter.peak_held,
                process_growth=meter.process_growth,
                shared=meter.shared,
                initial=meter.initial,
                initial_bytes=meter.initial_bytes,
                initial_ms=meter.initial_ms,
                error=shortened(self.error),
                rv=self.rv,
                chain=self.stages[self._announced :],
            )
        )


def shortened(text: str) -> str:
    """Shorten a client's text for events, thousands of which are kept."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def cost_header(meter: Meter, verb: str) -> str:
    """Format `fetched=20, …, seats=8`; kube-apiserver counts only objects of lists, so a GET has 0."""
    objects = "fetched=0, evaluated=0, returned=0"
    if verb != "GET":
        objects = f"fetched={meter.fetched}, evaluated={meter.evaluated}, returned={meter.returned}"
    return f"{objects}, etcd_gets={meter.etcd_gets}, etcd_lists={meter.etcd_lists}, seats={meter.seats}"


def timing_header(stages: Sequence[ChainStage], meter: Meter, total_ms: float) -> str:
    """Return Server-Timing: the chain's stages, the handler's phases, and its time until the headers."""
    timed = ""
    for stage in stages:
        timed += f"{'flow-control' if stage.stage == FLOW_CONTROL else stage.stage};dur={stage.ms:.3f}, "
    for name, ms in meter.phases.items():
        timed += f"{name};dur={ms:.3f}, "
    return f"{timed}total;dur={total_ms:.3f}"
