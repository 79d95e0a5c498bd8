"""etcd_request_*: metrics of the server's etcd RPCs, from its own telemetry."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ktui.apiserver.metrics.exposition import Counter, Histogram, Labels, Metric, resource_labels
from ktui.contract.events import EtcdCall
from ktui.etcd.faults import UNIMPLEMENTED
from ktui.kube.resources import Resource
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus, Subscription

if TYPE_CHECKING:
    from ktui.cacher.settings import Settings

# kube-apiserver: etcd_request_duration_seconds.
BOUNDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
# kube-apiserver's `operation` by purpose; other purposes keep their names.
OPERATIONS = {"probe": "get", "reflector": "list", "count": "listWithCount"}
# 1.37 counts the revision probe separately, 1.38.0-alpha.2 the reads of updates and deletions.
PROBE_NAMED_SINCE = 37
READS_OF_WRITES, READS_OF_WRITES_NAMED_SINCE = ("updateGet", "deleteGet"), 38
# Since 1.28 kube-apiserver counts requests and errors in addition to durations.
COUNTED_SINCE = 28

STREAM = "range_stream"

NO_RESOURCE: Labels = ()

_KEY = re.compile(r'\bkey:"([^"\\]*)')

FindResource = Callable[[str], Resource | None]


class KeyNames:
    """Finds the resource of an etcd key by the first parts of the key."""

    def __init__(self, etcd_prefix: str, by_prefix: FindResource) -> None:
        self._root = etcd_prefix.rstrip("/") + "/"
        self._by_prefix = by_prefix

    def find(self, request: str) -> Resource | None:
        """Return the resource of the first key in etcd's text form of a request, None if there is none."""
        key = _KEY.search(request)
        if key is None or not key[1].startswith(self._root):
            return None
        parts = key[1].removeprefix(self._root).split("/")
        return self._by_prefix("/".join(parts[:2]) + "/") or self._by_prefix(parts[0] + "/")


class EtcdMetrics:
    """Counts from the first scrape on, so that there is no overhead without scrapes."""

    def __init__(self, bus: Bus, supervisor: Supervisor, settings: Settings, names: KeyNames) -> None:
        self._bus = bus
        self._supervisor = supervisor
        self._settings = settings
        self._names = names
        self._subscription: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self.duration = Histogram("etcd_request_duration_seconds", "Time that etcd took to answer.", BOUNDS)
        self.total = Counter("etcd_requests_total", "Requests made to etcd.")
        self.errors = Counter("etcd_request_errors_total", "Requests that etcd answered with an error.")

    def metrics(self) -> Iterator[Metric]:
        yield self.duration
        if self._settings.behaviour.minor >= COUNTED_SINCE:
            yield from (self.total, self.errors)

    def start(self) -> None:
        if self._task is None:
            self._subscription = self._bus.subscribe()
            self._task = self._supervisor.start(
                "the metrics of etcd", partial(self._follow, self._subscription)
            )

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()

    async def _follow(self, subscription: Subscription) -> None:
        async for batch in subscription.batches():
            for event in batch:
                if isinstance(event, EtcdCall):
                    self.observe(event)

    def observe(self, call: EtcdCall) -> None:
        if call.op == STREAM and call.error == UNIMPLEMENTED:
            return  # kube-apiserver counts a stream only if etcd has it
        labels = self._labels(call)
        self.total.add(1, labels)
        self.duration.observe(call.ms / 1000.0, labels)
        if call.error:
            self.errors.add(1, labels)

    def _labels(self, call: EtcdCall) -> Labels:
        behaviour = self._settings.behaviour
        operation = OPERATIONS.get(call.purpose, call.purpose or call.op)
        if call.purpose == "probe" and behaviour.minor >= PROBE_NAMED_SINCE:
            operation = "getCurrentResourceVersion"
        if call.purpose in READS_OF_WRITES and behaviour.minor < READS_OF_WRITES_NAMED_SINCE:
            operation = "get"
        if call.op == STREAM:
            operation = "listStream"
        resource = self._names.find(call.request)
        named = NO_RESOURCE if resource is None else resource_labels(resource, behaviour, "type")
        return (("operation", operation), *named)
