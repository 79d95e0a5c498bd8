"""API Priority and Fairness: classify requests, give them seats (apf_controller.go, apf_filter.go)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ktui.apiserver.chain import Rejected, Ticket
from ktui.apiserver.metrics.metric_types import Metric
from ktui.flowcontrol.fair_queues import CANCELLED, TIME_OUT, Later
from ktui.flowcontrol.levels import Level, Levels, StoredSpec
from ktui.flowcontrol.metrics import FlowMetrics
from ktui.kube.flow_rules import SchemaSpec, level_spec, schema_spec
from ktui.kube.flow_schemas import MANDATORY, Classifier, FlowSchema, default_levels, default_schemas
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import MASTERS, Requester
from ktui.kube.versions import Behaviour

READS = frozenset(("get", "list", "watch"))


class MaxInFlight:
    """Flow control without priority levels: limits of reads and of writes in flight, 0 for no limit.

    Upstream: server/filters/maxinflight.go, in force in 1.19 and with --enable-priority-and-fairness=false.
    Requests beyond the limit are rejected. WATCHes are not counted; requests of system:masters are counted,
    but never rejected.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._limits = {False: reads, True: writes}
        self.in_flight = {False: 0, True: 0}  # False: reads, True: writes

    def enter(self, ticket: Ticket) -> None:
        """Count a request; raise Rejected beyond the limit."""
        ticket.seats = ticket.width = 0
        if ticket.asked.verb == "watch":
            return
        mutating = ticket.asked.verb not in READS
        limit = self._limits[mutating]
        if limit and self.in_flight[mutating] >= limit and MASTERS not in ticket.who.groups:
            raise Rejected("max-in-flight")
        self.in_flight[mutating] += 1
        ticket.admitted(self)

    def finish(self, ticket: Ticket) -> None:
        self.in_flight[ticket.asked.verb not in READS] -= 1

    def left(self, ticket: Ticket) -> None:
        """Do nothing: WATCHes are not counted."""


MOST_MUTATING_SEATS = 10
WATCHES_PER_SEAT = 10
EVENT_SECONDS = 0.005  # seat-seconds of one seat for the event of a write


class PriorityAndFairness:
    """Serves requests by priority level, upstream's until `configure`; without the gate by their number."""

    def __init__(
        self,
        reads: int = 400,
        writes: int = 200,
        clock: Callable[[], float] = time.monotonic,
        later: Later | None = None,
    ) -> None:
        own = later or (lambda seconds, call: asyncio.get_running_loop().call_later(seconds, call))
        self.levels = Levels(reads + writes, clock, own)
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
        if minor != self._minor:
            self.use(minor)
        return self.classifier.classify(who, asked)

    async def enter(
        self,
        ticket: Ticket,
        patience: float,
        behaviour: Behaviour,
        gone: Callable[[], asyncio.Task[None]] | None = None,
    ) -> None:
        if not behaviour.enabled("APIPriorityAndFairness"):
            self.in_flight.enter(ticket)
            return
        schema, asked = ticket.schema, ticket.asked
        mutating = asked.verb not in READS
        ticket.level = level = self.levels.by_name[schema.level.name]
        if mutating:
            self._estimate(ticket, behaviour.minor)
        queues = level.queues
        if queues.queuing is not None and queues.queuing.queues > 1:
            ticket.flow = schema.spec.flow_of(ticket.who, asked)
        reason = queues.start(ticket)
        if not reason and ticket.queue is not None:
            self.counted.queued(level, schema, len(ticket.queue.waiting))
        change = self.counted.reads_and_writes.change
        if not reason and not ticket.started:
            change(self._clock(), 1, mutating=mutating, executing=False)
            try:
                reason = await self._wait(level, ticket, patience, behaviour.minor, gone)
            finally:
                change(self._clock(), -1, mutating=mutating, executing=False)
        ticket.waited = (ticket.started or self._clock()) - ticket.arrived
        self.counted.decided(level, schema, ticket, ticket.waited, reason)
        if reason:
            seconds = level.retry_after.rejected(int(self._clock()))
            raise Rejected(reason, seconds if behaviour.minor >= 28 else 1)
        change(self._clock(), 1, mutating=mutating, executing=True)
        if asked.verb == "watch":
            ticket.watch = (asked.group, asked.resource, asked.namespace, ticket.name or asked.name)
            self.watches[ticket.watch] += 1
        ticket.admitted(self)

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]:
        if not behaviour.enabled("APIPriorityAndFairness"):
            return ()
        self.use(behaviour.minor)
        return self.counted.metrics(behaviour.minor, self._clock())

    # TicketControl

    def finish(self, ticket: Ticket) -> None:
        level: Level = ticket.level
        now, mutating = level.queues.finish(ticket), ticket.asked.verb not in READS
        self.counted.reads_and_writes.change(now, -1, mutating=mutating, executing=True)
        ticket.executed = now - ticket.started
        self.counted.executed(level, ticket, ticket.executed)
        if level.quiescing:
            self.levels.drop_idle()

    def left(self, ticket: Ticket) -> None:
        if ticket.watch is not None:
            self.watches[ticket.watch] -= 1
            if not self.watches[ticket.watch]:
                del self.watches[ticket.watch]

    async def _wait(
        self,
        level: Level,
        ticket: Ticket,
        patience: float,
        minor: int,
        hang_up: Callable[[], asyncio.Task[None]] | None,
    ) -> str:
        """Wait for seats, or until the client has gone; return the reason of a rejection, "" with seats."""
        dispatched = ticket.dispatched = asyncio.get_running_loop().create_future()
        gone = None if hang_up is None else hang_up()
        waits: list[asyncio.Future[Any]] = [dispatched] if gone is None else [dispatched, gone]
        left = False
        try:
            await asyncio.wait(waits, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            left = gone is not None and gone.done()
        except asyncio.CancelledError:
            if not level.queues.give_up(ticket):
                level.queues.finish(ticket)
            raise
        finally:
            if gone is not None:
                gone.cancel()
        if not level.queues.give_up(ticket):
            return ""
        return CANCELLED if left and minor <= 28 else TIME_OUT  # a client that has gone: later a time-out too

    def _estimate(self, ticket: Ticket, minor: int) -> None:
        """Estimate the work of a write, which includes its event for each of its watchers."""
        asked, schema = ticket.asked, ticket.schema
        exempt = asked.subresource == "token" and asked.resource == "serviceaccounts"
        if not asked.resource or exempt or minor < 24:
            return
        resource = (asked.group, asked.resource)
        scopes = {("", ""), (asked.namespace, ""), ("", asked.name), (asked.namespace, asked.name)}
        watchers = sum(self.watches.get((*resource, *scope), 0) for scope in scopes)
        self.counted.watched(ticket.level, schema, watchers)
        if watchers < WATCHES_PER_SEAT:
            ticket.estimate(1, 0, 0.0)
            return
        seats = -(-watchers // WATCHES_PER_SEAT)
        most = min(MOST_MUTATING_SEATS, schema.level.max_seats or MOST_MUTATING_SEATS)
        capped = min(seats, most)
        ticket.estimate(1, capped, seats * EVENT_SECONDS / capped)
