"""Priority levels in telemetry: ktui's own server publishes the events of a scraped kube-apiserver."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec.json

from ktui.apiserver.call import shortened
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
from ktui.flowcontrol.fair_queues import CANCELLED, CONCURRENCY_LIMIT, QUEUE_FULL, TIME_OUT
from ktui.kube.flow_schemas import default_levels, default_schemas
from ktui.kube.seats import flow_controlled

if TYPE_CHECKING:
    from ktui.cacher.settings import Settings
    from ktui.contract.events import AnyEvent
    from ktui.flowcontrol.controller import PriorityAndFairness
    from ktui.flowcontrol.levels import Level
    from ktui.telemetry.bus import Bus

REPLICA = "A"
SECONDS = 1.0
MOST_REQUESTS = 500  # requests of a dump


class FlowReporter:
    """Publishes changes once a second, if telemetry is read. `stored` returns schemas and levels."""

    def __init__(
        self,
        bus: Bus,
        settings: Settings,
        controller: PriorityAndFairness,
        stored: Callable[[], tuple[list[Any], list[Any]]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bus = bus
        self._settings = settings
        self._controller = controller
        self._stored = stored
        self._clock = clock
        self._began = time.time()
        self._published: dict[str, AnyEvent] = {}
        bus.add_snapshot(self.describe)

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
        if not flow_controlled(behaviour):
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
        found: list[RunningRequest] = []
        for name, level in sorted(self._controller.levels.by_name.items()):
            for _, place, request in level.queues.requests():
                if len(found) == MOST_REQUESTS:
                    break
                asked = request.asked
                found.append(
                    RunningRequest(
                        name,
                        request.schema.name,
                        shortened(request.who.user),
                        asked.verb,
                        shortened(asked.path or request.path),
                        shortened(asked.resource),
                        shortened(asked.namespace),
                        request.width,
                        place >= 0,
                        round(offset + request.arrived, 3),
                    )
                )
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
