"""API Priority and Fairness of a running server: classify requests, and give them seats.

Upstream: util/flowcontrol/apf_controller.go, apf_filter.go and server/filters/priority-and-fairness.go.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ktui.apiserver.flow_control import FlowRequest, FlowTicket, Rejected
from ktui.flowcontrol.fair_queues import CANCELLED, TIME_OUT, Later, SeatRequest
from ktui.flowcontrol.levels import Level, Levels, StoredSpec
from ktui.flowcontrol.max_in_flight import READS, MaxInFlight
from ktui.flowcontrol.metrics import FlowMetrics
from ktui.flowcontrol.retry_after import ADAPTS_SINCE
from ktui.kube.flow_defaults import MANDATORY, default_levels, default_schemas
from ktui.kube.flow_rules import SchemaSpec, level_spec, schema_spec
from ktui.kube.flowcontrol import Classifier, FlowSchema
from ktui.kube.seats import flow_controlled

if TYPE_CHECKING:
    from ktui.apiserver.metrics.exposition import Metric
    from ktui.kube.requestinfo import RequestAttributes
    from ktui.kube.users import Requester
    from ktui.kube.versions import Behaviour

WATCHERS_COUNT_SINCE = 24
CANCELLED_UNTIL = 28  # the reason for a client that has gone; since then it is a time-out too
MOST_MUTATING_SEATS = 10
WATCHES_PER_SEAT = 10
EVENT_SECONDS = 0.005  # seat-seconds of one seat for the event of a write


class SeatTicket:
    """The seats of a request that executes."""

    __slots__ = ("_controller", "_held", "_level", "_request", "_watch", "executed", "waited")

    def __init__(
        self,
        controller: PriorityAndFairness,
        level: Level,
        request: SeatRequest,
        waited: float,
        watch: tuple[str, ...] | None,
    ) -> None:
        self._controller = controller
        self._level = level
        self._request = request
        self._watch = watch
        self._held = True
        self.waited = waited
        self.executed = 0.0

    @property
    def seats(self) -> int:
        return self._request.initial_seats

    @property
    def final_seats(self) -> int:
        return self._request.final_seats

    @property
    def additional_latency(self) -> float:
        return self._request.additional_latency

    def initialized(self) -> None:
        if self._held:
            self._held = False
            self.executed = self._controller.finish(self._level, self._request)

    def leave(self) -> None:
        self.initialized()
        if self._watch is not None:
            self._controller.watches[self._watch] -= 1
            if not self._controller.watches[self._watch]:
                del self._controller.watches[self._watch]
            self._watch = None


class PriorityAndFairness:
    """Serves requests by priority level. kube-apiserver's defaults apply until `configure` is called.

    Where the gate is off, requests in flight are counted instead.
    """

    def __init__(
        self,
        reads: int = 400,
        writes: int = 200,
        clock: Callable[[], float] = time.monotonic,
        later: Later | None = None,
    ) -> None:
        self.levels = Levels(reads + writes, clock, later or _later)
        self.in_flight = MaxInFlight(reads, writes)
        self.counted = FlowMetrics(self.levels)
        self.watches: Counter[tuple[str, ...]] = Counter()  # open watches by group, resource, namespace, name
        self._clock = clock
        self._stored: tuple[Mapping[str, StoredSpec], Mapping[str, tuple[SchemaSpec, str]]] | None = None
        self._minor = 0
        self.classifier = Classifier(())

    def configure(
        self, levels: Mapping[str, StoredSpec], schemas: Mapping[str, tuple[SchemaSpec, str]]
    ) -> None:
        """Use these levels and schemas by name, each with its uid."""
        self._stored = (levels, schemas)
        self._minor = 0  # the next request applies them

    def use(self, minor: int) -> None:
        """Apply the configuration for 1.`minor`."""
        if minor == self._minor:
            return
        self._minor = minor
        own_levels = {n: StoredSpec(level_spec({"spec": doc})) for n, doc in default_levels(minor).items()}
        own_schemas = {n: (schema_spec({"spec": doc}), "") for n, doc in default_schemas(minor).items()}
        if self._stored is None:
            levels, schemas = own_levels, own_schemas
        else:
            levels = {n: own_levels[n] for n in MANDATORY} | {
                name: found for name, found in self._stored[0].items() if not found.spec.fault(name)
            }
            schemas = {n: own_schemas[n] for n in MANDATORY} | dict(self._stored[1])
        self.levels.configure(levels)
        known = self.levels.by_name.values()
        waiting = sum(level.queues.capacity for level in known if level.spec.queuing is not None)
        self.counted.reads_and_writes.limit(self._clock(), waiting, sum(level.nominal for level in known))
        described = {name: level.described() for name, level in self.levels.by_name.items()}
        self.classifier = Classifier(
            FlowSchema(name, described[spec.level], spec, uid)
            for name, (spec, uid) in schemas.items()
            if spec.level in levels
        )

    # FlowControl

    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema:
        self.use(minor)
        return self.classifier.classify(who, asked)

    async def enter(self, request: FlowRequest) -> FlowTicket:
        if not flow_controlled(request.behaviour):
            return self.in_flight.enter(request)
        schema, asked = request.schema, request.asked
        level = self.levels.by_name[schema.level.name]
        watch = self._registered(request) if asked.verb == "watch" else None
        wanted = self._wanted(request, level)
        queuing = level.spec.queuing
        if queuing is not None and queuing.queues > 1:
            wanted.flow = schema.spec.flow_of(request.who, asked)
        reason = level.queues.start(wanted)
        if not reason and wanted.queue is not None:
            self.counted.queued(level, schema, len(wanted.queue.waiting))
        if not reason and not wanted.started:
            self._note(asked, 1, executing=False)
            try:
                reason = await self._wait(level, wanted, request)
            finally:
                self._note(asked, -1, executing=False)
        waited = (wanted.started or self._clock()) - wanted.arrived
        self.counted.decided(level, schema, wanted, waited, reason)
        if reason:
            raise self._rejected(level, request, reason)
        self._note(asked, 1, executing=True)
        if watch is not None:
            self.watches[watch] += 1
        return SeatTicket(self, level, wanted, waited, watch)

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]:
        if not flow_controlled(behaviour):
            return ()
        self.use(behaviour.minor)
        return self.counted.metrics(behaviour.minor, self._clock())

    # For its tickets

    def finish(self, level: Level, request: SeatRequest) -> float:
        """End a request; return the seconds for which it executed."""
        level.queues.finish(request)
        self._note(request.asked, -1, executing=True)
        seconds = self._clock() - request.started
        self.counted.executed(level, request, seconds)
        if level.quiescing:
            self.levels.drop_idle()
        return seconds

    def _note(self, asked: RequestAttributes, number: int, *, executing: bool) -> None:
        mutating = asked.verb not in READS
        self.counted.reads_and_writes.change(self._clock(), number, mutating=mutating, executing=executing)

    def _rejected(self, level: Level, request: FlowRequest, reason: str) -> Rejected:
        seconds = level.retry_after.rejected(int(self._clock()))
        return Rejected(reason, seconds if request.behaviour.minor >= ADAPTS_SINCE else 1)

    async def _wait(self, level: Level, wanted: SeatRequest, request: FlowRequest) -> str:
        """Wait for seats, or until the client has gone; return the reason of a rejection, "" with seats."""
        dispatched = wanted.dispatched = asyncio.get_running_loop().create_future()
        gone = None if request.gone is None else request.gone()
        waits: list[asyncio.Future[Any]] = [dispatched] if gone is None else [dispatched, gone]
        left = False
        try:
            await asyncio.wait(waits, timeout=request.patience, return_when=asyncio.FIRST_COMPLETED)
            left = gone is not None and gone.done()
        except asyncio.CancelledError:
            if not level.queues.give_up(wanted):
                level.queues.finish(wanted)
            raise
        finally:
            if gone is not None:
                gone.cancel()
        if not level.queues.give_up(wanted):
            return ""
        return CANCELLED if left and request.behaviour.minor <= CANCELLED_UNTIL else TIME_OUT

    def _wanted(self, request: FlowRequest, level: Level) -> SeatRequest:
        """The request with its work estimate, which includes a write's event for each of its watchers."""
        asked, schema = request.asked, request.schema
        minor = request.behaviour.minor
        mutating = asked.resource and asked.verb not in READS
        exempt = asked.subresource == "token" and asked.resource == "serviceaccounts"
        if not mutating or exempt or minor < WATCHERS_COUNT_SINCE:
            return SeatRequest(schema, request.who, asked, request.seats, path=request.path)
        watchers = self._watchers(asked)
        self.counted.watched(level, schema, watchers)
        if watchers < WATCHES_PER_SEAT:
            return SeatRequest(schema, request.who, asked, 1, path=request.path)
        seats = -(-watchers // WATCHES_PER_SEAT)
        most = min(MOST_MUTATING_SEATS, schema.level.max_seats or MOST_MUTATING_SEATS)
        capped = min(seats, most)
        latency = seats * EVENT_SECONDS / capped
        return SeatRequest(schema, request.who, asked, 1, capped, latency, request.path)

    def _watchers(self, asked: RequestAttributes) -> int:
        resource = (asked.group, asked.resource)
        scopes = {("", ""), (asked.namespace, ""), ("", asked.name), (asked.namespace, asked.name)}
        return sum(self.watches.get((*resource, *scope), 0) for scope in scopes)

    def _registered(self, request: FlowRequest) -> tuple[str, ...]:
        asked = request.asked
        return (asked.group, asked.resource, asked.namespace, request.name or asked.name)


def _later(seconds: float, call: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(seconds, call)
