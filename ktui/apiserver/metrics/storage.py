"""Metrics of the caches, the process and its logs, read at each scrape, and of RPCs to etcd."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ktui.apiserver.http.connections import Connections
from ktui.apiserver.metrics.metric_types import (
    DURATION_BOUNDS,
    CallbackMetric,
    Counter,
    Histogram,
    Labels,
    Metric,
    resource_labels,
)
from ktui.apiserver.server import RequestLog
from ktui.cacher.cachers import Registry
from ktui.cacher.resource_cache import ResourceCache
from ktui.cacher.settings import Settings
from ktui.contract.events import AnyEvent, EtcdCall
from ktui.etcd.grpc_errors import UNIMPLEMENTED
from ktui.kube.gates import SHARDED
from ktui.kube.resources import Resource
from ktui.kube.versions import Behaviour
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import resident_bytes


class _Row(NamedTuple):
    """A metric of every cache, and the Kubernetes minors that have it."""

    name: str
    help: str
    kind: str
    read: Callable[[ResourceCache], float]
    first: int
    last: int = 99
    gate: str = ""  # without it the metric is not registered


_ROWS = (
    _Row("apiserver_watch_cache_resource_version", "resourceVersion of the watch cache.",
         "gauge", lambda cache: cache.memory.rv, 31),
    _Row("watch_cache_capacity", "Events that the watch cache's buffer can hold.",
         "gauge", lambda cache: cache.memory.event_buffer.capacity, 21),
    _Row("watch_cache_capacity_increase_total", "Times that the buffer grew.",
         "counter", lambda cache: cache.memory.event_buffer.grown, 19),
    _Row("watch_cache_capacity_decrease_total", "Times that the buffer shrank.",
         "counter", lambda cache: cache.memory.event_buffer.shrunk, 19),
    _Row("apiserver_watch_cache_events_received_total", "Events received from etcd.",
         "counter", lambda cache: cache.memory.events_received, 27),
    _Row("apiserver_watch_cache_events_dispatched_total", "Events offered to the watchers.",
         "counter", lambda cache: cache.dispatcher.dispatched, 24),
    _Row("apiserver_watch_cache_initializations_total", "Times that the cache was filled.",
         "counter", lambda cache: cache.memory.generation, 25),
    _Row("apiserver_terminated_watchers_total", "Watchers that were ended because they were too slow.",
         "counter", lambda cache: cache.dispatcher.terminated, 21),
    _Row("apiserver_watch_shards_total", "Watches of a shard that are served now.",
         "gauge", lambda cache: sum(each.selection.shards is not None for each in cache.streams),
         36, gate=SHARDED),
    _Row("apiserver_watch_filtered_events_total", "Events that shards left out.",
         "counter",
         lambda cache: cache.shard_filtered + sum(stream.shard_filtered for stream in cache.streams),
         36, gate=SHARDED),
    _Row("apiserver_resource_objects", "Objects of the resource.",
         "gauge", lambda cache: len(cache.memory.store), 34),
    _Row("apiserver_resource_size_estimate_bytes", "Stored bytes of the objects of the resource.",
         "gauge", lambda cache: cache.memory.store.bytes, 34),
    _Row("ktui_watch_cache_json_bytes",
         "JSON and Table rows of objects, kept for the next answers; shared bytes count for each object.",
         "gauge", lambda cache: cache.memory.store.share.bytes, 0),
    _Row("ktui_watch_cache_json_evictions_total",
         "Objects whose kept JSON was dropped because all caches together had too much.",
         "counter", lambda cache: cache.memory.store.share.evicted, 0),
    _Row("apiserver_storage_objects", "Objects of the resource.",
         "gauge", lambda cache: len(cache.memory.store), 21, 33),
    _Row("etcd_object_counts", "Objects of the resource.",
         "gauge", lambda cache: len(cache.memory.store), 19, 24),
)  # fmt: skip


def cache_metrics(registry: Registry, behaviour: Behaviour) -> Iterator[Metric]:
    """Yield the metrics of the version, with its labels; caches that were never requested are left out."""
    live = [
        (resource_labels(cacher.resource, behaviour), cacher.cache)
        for cacher in registry
        if cacher.cache is not None and not cacher.cache.cold
    ]
    for row in _ROWS:
        if row.first <= behaviour.minor <= row.last and (not row.gate or behaviour.enabled(row.gate)):
            values = [(labels, row.read(cache)) for labels, cache in live]
            yield CallbackMetric(row.name, row.help, partial(iter, values), row.kind)
    if behaviour.minor >= 33:
        yield CallbackMetric(
            "apiserver_storage_consistency_checks_total",
            "Comparisons of the cache with etcd, by outcome.",
            lambda: [
                ((*labels, ("status", outcome)), float(count))
                for labels, cache in live
                for outcome, count in cache.checker.counts.items()
            ],
            "counter",
        )


# kube-apiserver's `operation` by purpose; other purposes keep their names.
OPERATIONS = {"probe": "get", "reflector": "list", "count": "listWithCount"}
READS_OF_WRITES = ("updateGet", "deleteGet")  # counted separately since 1.38.0-alpha.2
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
        self._task: asyncio.Task[None] | None = None
        self.duration = Histogram(
            "etcd_request_duration_seconds", "Time that etcd took to answer.", DURATION_BOUNDS
        )
        self.total = Counter("etcd_requests_total", "Requests made to etcd.")
        self.errors = Counter("etcd_request_errors_total", "Requests that etcd answered with an error.")

    def metrics(self) -> Iterator[Metric]:
        yield self.duration
        if self._settings.behaviour.minor >= 28:
            yield from (self.total, self.errors)

    def start(self) -> None:
        if self._task is None:
            self._task = self._supervisor.start("the metrics of etcd", partial(self._bus.follow, self._take))

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _take(self, event: AnyEvent) -> None:
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
        if call.purpose == "probe" and behaviour.minor >= 37:
            operation = "getCurrentResourceVersion"
        if call.purpose in READS_OF_WRITES and behaviour.minor < 38:
            operation = "get"
        if call.op == STREAM:
            operation = "listStream"
        resource = self._names.find(call.request)
        named = NO_RESOURCE if resource is None else resource_labels(resource, behaviour, "type")
        return (("operation", operation), *named)


def process_metrics(connections: Connections, logs: Sequence[RequestLog]) -> Iterator[CallbackMetric]:
    """Yield metrics of the process, named as upstream's, and how many lines of the request logs are lost."""
    rows: tuple[tuple[str, str, str, float | None], ...] = (
        ("ktui_connections", "Open connections of clients.", "gauge", connections.open),
        ("ktui_connections_limit", "Connections of clients that may be open at once.", "gauge",
         connections.most),
        ("ktui_connections_refused_total", "Connections refused because as many as allowed were open.",
         "counter", connections.refused),
        ("ktui_connections_silent_total", "Connections closed because they sent no request.", "counter",
         connections.silent),
        ("process_resident_memory_bytes", "Resident memory size in bytes.", "gauge", resident_bytes()),
        ("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", "counter",
         time.process_time()),
    )  # fmt: skip
    for name, about, kind, value in rows:
        values = [] if value is None else [((), value)]
        yield CallbackMetric(name, about, partial(iter, values), kind)
    of_log: Labels = (("plugin", "log"),)
    for name, about, log_kind, label in (
        ("apiserver_audit_error_total", "Audit Events that could not be written.", "audit", of_log),
        ("ktui_http_log_lines_lost_total", "HTTP log lines that could not be written.", "http", ()),
    ):
        lost = [(label, float(log.lost)) for log in logs if log.kind == log_kind]
        yield CallbackMetric(name, about, partial(iter, lost), "counter")
