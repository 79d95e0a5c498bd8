"""etcd_request_*: the RPCs that this server makes, as its own telemetry tells them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from ktui.apiserver.metrics.exposition import Counter, Histogram, Labels, Metric
from ktui.telemetry.bus import Bus, Subscription
from ktui.telemetry.events import EtcdCall

# kube-apiserver: etcd_request_duration_seconds.
BOUNDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
# `operation` as kube-apiserver names what ktui does for that purpose.
OPERATIONS = {"probe": "get", "reflector": "list", "count": "listWithCount"}


class EtcdMetrics:
    """Counts from the first scrape on: who is never scraped pays nothing."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._subscription: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self.duration = Histogram("etcd_request_duration_seconds", "Time that etcd took to answer.", BOUNDS)
        self.total = Counter("etcd_requests_total", "Requests made to etcd.")
        self.errors = Counter("etcd_request_errors_total", "Requests that etcd answered with an error.")

    def metrics(self) -> Iterator[Metric]:
        yield from (self.duration, self.total, self.errors)

    def start(self) -> None:
        if self._task is None:
            self._subscription = self._bus.subscribe()
            self._task = asyncio.create_task(self._follow(self._subscription), name="etcd metrics")

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()

    async def _follow(self, subscription: Subscription) -> None:
        async for batch in subscription.batches():
            for event in batch:
                if isinstance(event, EtcdCall):
                    self.observe(event)

    def observe(self, call: EtcdCall) -> None:
        labels: Labels = (("operation", OPERATIONS.get(call.purpose, call.purpose or call.op)),)
        self.total.add(1, labels)
        self.duration.observe(call.ms / 1000.0, labels)
        if call.error:
            self.errors.add(1, labels)
