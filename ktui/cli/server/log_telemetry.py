"""Write the telemetry events of a server to the log."""

from __future__ import annotations

import contextlib
import logging

from ktui.contract.events import AnyEvent, CacheStatus, EtcdHealth, RequestFinished, RequestStarted
from ktui.telemetry.bus import Bus

log = logging.getLogger("ktui.server")


async def log_telemetry(bus: Bus) -> None:
    """Log changes of cache state, etcd's health, and at DEBUG every request, until cancelled."""
    follower = TelemetryLog()
    with contextlib.closing(bus.subscribe()) as subscription:
        async for batch in subscription.batches():
            for event in batch:
                follower.log(event)


class TelemetryLog:
    """Logs changes of state, and at DEBUG requests."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}
        self._started: dict[int, RequestStarted] = {}
        self._healthy = True
        self._alarm = ""

    def log(self, event: AnyEvent) -> None:
        if isinstance(event, CacheStatus):
            self._cache(event)
        elif isinstance(event, EtcdHealth):
            self._health(event)
        elif isinstance(event, RequestStarted) and log.isEnabledFor(logging.DEBUG):
            self._started[event.id] = event
        elif isinstance(event, RequestFinished):
            self._finished(event)

    def _cache(self, event: CacheStatus) -> None:
        before, self._states[event.resource] = self._states.get(event.resource, "cold"), event.state
        if event.state == before:
            return
        level = logging.DEBUG if event.state == "initializing" else logging.INFO
        level = logging.WARNING if event.error else level
        error = f": {event.error}" if event.error else ""
        log.log(level, "cache %s is %s at revision %d, %d objects%s",
                event.resource, event.state, event.rv, event.objects, error)  # fmt: skip

    def _health(self, event: EtcdHealth) -> None:
        if event.ok != self._healthy:
            self._healthy = event.ok
            log.log(logging.INFO if event.ok else logging.WARNING, "etcd %s",
                    "answers again" if event.ok else f"does not answer: {event.detail}")  # fmt: skip
        if event.alarm != self._alarm:
            self._alarm = event.alarm
            log.log(logging.WARNING if event.alarm else logging.INFO, "etcd takes %s",
                    f"no writes: {event.alarm}" if event.alarm else "writes again")  # fmt: skip

    def _finished(self, event: RequestFinished) -> None:
        started = self._started.pop(event.id, None)
        if started is not None:
            query = f"?{started.query}" if started.query else ""
            log.debug("%s %s%s by %s: %d from %s in %.1f ms", started.verb, started.path, query,
                      started.client, event.status, event.route, event.ms)  # fmt: skip
