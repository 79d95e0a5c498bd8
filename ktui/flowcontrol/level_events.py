"""Priority levels in telemetry, as those of a scraped server, and upstream's dumps of them (`pages`)."""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec.json

from ktui.apiserver.call import shortened
from ktui.apiserver.chain import Ticket
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import Page
from ktui.cacher.settings import Settings
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import (
    FlowConfig,
    LevelCounters,
    LevelGauges,
    LevelSample,
    LevelScrape,
    LevelsDump,
    QueueSample,
    ReplicaScrape,
    RequestsDump,
    RunningRequest,
)
from ktui.contract.flow_config import flow_config
from ktui.flowcontrol.controller import PriorityAndFairness
from ktui.flowcontrol.fair_queues import CANCELLED, CONCURRENCY_LIMIT, QUEUE_FULL, TIME_OUT
from ktui.flowcontrol.levels import Level
from ktui.kube.flow_schemas import default_levels, default_schemas
from ktui.kube.golang.times import format_duration
from ktui.kube.status import path_not_found
from ktui.printable import escaped
from ktui.telemetry.bus import Bus

REPLICA = "A"
SECONDS = 1.0
MOST_REQUESTS = 500  # requests of a dump


@dataclass(slots=True, eq=False)
class FlowReporter:
    """Publishes changes once a second, if telemetry is read. `stored` returns schemas and levels."""

    _bus: Bus
    _settings: Settings
    _controller: PriorityAndFairness
    _stored: Callable[[], tuple[list[Any], list[Any]]]
    _clock: Callable[[], float] = time.monotonic
    _began: float = field(default_factory=time.time)
    _published: dict[str, AnyEvent] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bus.add_snapshot(self.describe)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            if self._bus.watched:
                self.report()

    def report(self) -> None:
        """Publish the differences from the last report, and the time of this one."""
        for key, event in self._present():
            if key == "replica" or self._published.get(key) != event:
                self._published[key] = event
                self._bus.publish(event)

    def describe(self) -> Iterator[AnyEvent]:
        """Return the current state, for a new subscriber."""
        return (event for _, event in self._present())

    def _present(self) -> Iterator[tuple[str, AnyEvent]]:
        behaviour = self._settings.behaviour
        if not behaviour.enabled("APIPriorityAndFairness"):
            return
        self._controller.use(behaviour.minor)
        yield "config", self._config(behaviour.minor)
        for name, level in sorted(self._controller.levels.by_name.items()):
            yield f"level {name}", self._scrape(level)
        yield "replica", ReplicaScrape(replica=REPLICA, version=f"1.{behaviour.minor}", started=self._began)
        yield "requests", self._requests()
        yield "queues", self._queues()

    def _config(self, minor: int) -> FlowConfig:
        schemas, levels = self._stored()
        if not schemas and not levels:
            schemas = [_named(*item) for item in default_schemas(minor).items()]
            levels = [_named(*item) for item in default_levels(minor).items()]
        return flow_config(*(msgspec.json.encode({"items": items}) for items in (schemas, levels)))

    def _scrape(self, level: Level) -> LevelScrape:
        counted, queues = self._controller.counted, level.queues
        own = ("priority_level", level.name)
        reasons = dict.fromkeys((QUEUE_FULL, CONCURRENCY_LIMIT, TIME_OUT), 0)
        for _, labels, value in counted.rejected.samples():
            if own in labels:
                reason = dict(labels)["reason"]
                reasons[TIME_OUT if reason == CANCELLED else reason] += int(value)
        buckets: dict[str, int] = {}
        waits = {"_count": 0.0, "_sum": 0.0}
        for suffix, labels, value in counted.waits.samples():
            if own not in labels:
                continue
            if suffix == "_bucket":
                bound = labels[-1][1]
                buckets[bound] = buckets.get(bound, 0) + int(value)
            else:
                waits[suffix] += value
        counters = LevelCounters(
            dispatched=queues.dispatched,
            rejected=queues.rejected,
            queue_full=reasons[QUEUE_FULL],
            concurrency_limit=reasons[CONCURRENCY_LIMIT],
            timed_out=reasons[TIME_OUT],
            waits=int(waits["_count"]),
            wait_ms=waits["_sum"] * 1000.0,
            wait_buckets=buckets,
        )
        gauges = LevelGauges(
            nominal=level.nominal,
            current=level.current,
            executing_seats=queues.seats_in_use,
            executing=queues.executing,
            queued=queues.waiting,
        )
        return LevelScrape(replica=REPLICA, level=level.name, counters=counters, gauges=gauges)

    def _requests(self) -> RequestsDump:
        offset = time.time() - self._clock()
        levels = sorted(self._controller.levels.by_name.items())
        running = ((name, place, one) for name, lv in levels for _, place, one in lv.queues.requests())
        found: list[RunningRequest] = []
        for name, place, request in islice(running, MOST_REQUESTS):
            asked, arrived = request.asked, round(offset + request.arrived, 3)
            path, resource = shortened(asked.path or request.path), shortened(asked.resource)
            who = request.schema.name, shortened(request.who.user)
            what = asked.verb, path, resource, shortened(asked.namespace)
            found.append(RunningRequest(name, *who, *what, request.width, place >= 0, arrived))
        return RequestsDump(replica=REPLICA, requests=found)

    def _queues(self) -> LevelsDump:
        levels, queues = [], []
        for name, level in sorted(self._controller.levels.by_name.items()):
            own = level.queues
            busy = [queue for queue in own.queues if queue.busy]
            active = sum(bool(queue.waiting) for queue in busy)
            levels.append(LevelSample(name, active, own.idle, level.quiescing, own.waiting, own.executing))
            queues += [
                QueueSample(name, queue.index, len(queue.waiting), len(queue.executing), queue.seats_in_use)
                for queue in busy
            ]
        return LevelsDump(replica=REPLICA, levels=levels, queues=queues)


def _named(name: str, spec: Any) -> Any:
    return {"metadata": {"name": name}, "spec": spec}


ROOT = "/debug/api_priority_and_fairness"
TEXT = "text/plain; charset=utf-8"
_NEVER = "0001-01-01T00:00:00Z"
_LEVELS = (
    "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
)  # fmt: skip
_TOTALS = ("DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
_QUEUES = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
    "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
_REQUESTS = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
    "ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime",
)  # fmt: skip
_DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")

Row = Sequence[object]


def pages(controller: PriorityAndFairness, settings: Settings, clock: Callable[[], float]) -> dict[str, Page]:
    """Return the pages dump_* by path (apf_controller_debug.go); 404 without priority and fairness."""

    def page(rows: Callable[[Request, int], Iterable[Row]]) -> Page:
        async def answer(request: Request, response: Response) -> None:
            behaviour = settings.behaviour
            if not behaviour.enabled("APIPriorityAndFairness"):
                raise path_not_found()
            controller.use(behaviour.minor)
            text = table([[str(cell) for cell in row] for row in rows(request, behaviour.minor)])
            await response.whole(200, TEXT, text.encode())

        return answer

    def requests(request: Request, minor: int) -> Iterator[Row]:
        offset = time.time() - clock()
        details = bool(request.parameter("includeRequestDetails"))
        return request_rows(controller, minor, offset, details=details)

    return {
        f"{ROOT}/dump_priority_levels": page(lambda _, minor: level_rows(controller, minor)),
        f"{ROOT}/dump_queues": page(lambda _, minor: queue_rows(controller)),
        f"{ROOT}/dump_requests": page(requests),
    }


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align rows as Go's tabwriter does: cells end with a comma and are padded."""
    widths = [max(8, 2 + max(len(cell) for cell in column)) for column in zip(*rows, strict=True)]
    cells = ((zip(row[:-1], widths, strict=False), row[-1]) for row in rows)
    return "".join(
        "".join(f"{cell},".ljust(width) for cell, width in padded) + f"{last}\n" for padded, last in cells
    )


def level_rows(controller: PriorityAndFairness, minor: int) -> Iterator[Row]:
    totals = minor >= 27
    yield (*_LEVELS, *(_TOTALS if totals else ()))
    for name, level in sorted(controller.levels.by_name.items()):
        queues = level.queues
        active = sum(bool(queue.waiting) for queue in queues.queues)
        flags = (str(queues.idle).lower(), str(level.quiescing).lower())
        row = (name, active, *flags, queues.waiting, queues.executing)
        yield (*row, *((queues.dispatched, queues.rejected, 0, queues.cancelled) if totals else ()))


def queue_rows(controller: PriorityAndFairness) -> Iterator[Row]:
    yield _QUEUES
    for name, level in sorted(controller.levels.by_name.items()):
        for queue in level.queues.queues:
            waiting = queue.waiting
            yield (
                name, queue.index, len(waiting), len(queue.executing), queue.seats_in_use,
                _seat_seconds(queue.next_r), sum(request.seats for request in waiting),
                sum(request.width for request in waiting), _seat_seconds(queue.waiting_work),
            )  # fmt: skip


def request_rows(
    controller: PriorityAndFairness, minor: int, offset: float, *, details: bool
) -> Iterator[Row]:
    """Yield the rows of requests; `offset` is Unix time minus the clock of flow control, in seconds."""
    yield (*_REQUESTS, *(_DETAILS if details else ()))
    for name, level in sorted(controller.levels.by_name.items()):
        for index, place, request in level.queues.requests():
            if request.started and minor < 28:
                continue
            yield (
                name, request.schema.name, index, place, _text(request.flow),
                _time(offset + request.arrived), request.seats, request.final_seats,
                format_duration(request.additional_latency),
                _time(offset + request.started) if request.started else _NEVER,
                *(_details(request) if details else ()),
            )  # fmt: skip


def _details(request: Ticket) -> Row:
    asked = request.asked
    version = f"{asked.group}/{asked.version}" if asked.group else asked.version
    path = asked.path or request.path
    texts = (request.who.user, asked.verb, path, asked.namespace, asked.name, version, asked.resource)
    return [_text(text) for text in (*texts, asked.subresource)]


def _text(text: str) -> str:
    """Return a client's text on one line."""
    return escaped(shortened(text))


def _seat_seconds(value: float) -> str:
    return f"{value:.8f}ss"


def _time(at: float) -> str:
    """Format a time in RFC 3339, with the fraction of a second if there is one."""
    whole = datetime.datetime.fromtimestamp(at, datetime.UTC)
    digits = f"{whole.microsecond:06d}".rstrip("0")
    return f"{whole:%Y-%m-%dT%H:%M:%S}{'.' + digits if digits else ''}Z"
