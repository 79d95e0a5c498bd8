"""Metrics of the watch caches, read at each scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ktui.apiserver.metrics.exposition import CallbackMetric, Labels, Metric, resource_labels
from ktui.kube.gates import SHARDED

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry
    from ktui.cacher.resource_cache import ResourceCache
    from ktui.kube.versions import Behaviour


CHECKED_MINOR = 33


def _sharded(cache: ResourceCache) -> int:
    return sum(stream.sharded for stream in cache.streams)


def _shard_filtered(cache: ResourceCache) -> int:
    return cache.shard_filtered + sum(stream.shard_filtered for stream in cache.streams)


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
    _Row(
        "apiserver_watch_cache_resource_version",
        "resourceVersion of the watch cache.",
        "gauge",
        lambda cache: cache.memory.rv,
        31,
    ),
    _Row(
        "watch_cache_capacity",
        "Events that the watch cache's buffer can hold.",
        "gauge",
        lambda cache: cache.memory.event_buffer.capacity,
        21,
    ),
    _Row(
        "watch_cache_capacity_increase_total",
        "Times that the buffer grew.",
        "counter",
        lambda cache: cache.memory.event_buffer.grown,
        19,
    ),
    _Row(
        "watch_cache_capacity_decrease_total",
        "Times that the buffer shrank.",
        "counter",
        lambda cache: cache.memory.event_buffer.shrunk,
        19,
    ),
    _Row(
        "apiserver_watch_cache_events_received_total",
        "Events received from etcd.",
        "counter",
        lambda cache: cache.memory.events_received,
        27,
    ),
    _Row(
        "apiserver_watch_cache_events_dispatched_total",
        "Events offered to the watchers.",
        "counter",
        lambda cache: cache.dispatcher.dispatched,
        24,
    ),
    _Row(
        "apiserver_watch_cache_initializations_total",
        "Times that the cache was filled.",
        "counter",
        lambda cache: cache.memory.generation,
        25,
    ),
    _Row(
        "apiserver_terminated_watchers_total",
        "Watchers that were ended because they were too slow.",
        "counter",
        lambda cache: cache.dispatcher.terminated,
        21,
    ),
    _Row(
        "apiserver_watch_shards_total",
        "Watches of a shard that are served now.",
        "gauge",
        _sharded,
        36,
        gate=SHARDED,
    ),
    _Row(
        "apiserver_watch_filtered_events_total",
        "Events that shards left out.",
        "counter",
        _shard_filtered,
        36,
        gate=SHARDED,
    ),
    _Row(
        "apiserver_resource_objects",
        "Objects of the resource.",
        "gauge",
        lambda cache: len(cache.memory.store),
        34,
    ),
    _Row(
        "apiserver_resource_size_estimate_bytes",
        "Stored bytes of the objects of the resource.",
        "gauge",
        lambda cache: cache.memory.store.bytes,
        34,
    ),
    _Row(
        "ktui_watch_cache_json_bytes",
        "JSON and Table rows of objects, kept for the next answers; shared bytes count for each object.",
        "gauge",
        lambda cache: cache.memory.store.share.bytes,
        0,
    ),
    _Row(
        "ktui_watch_cache_json_evictions_total",
        "Objects whose kept JSON was dropped because all caches together had too much.",
        "counter",
        lambda cache: cache.memory.store.share.evicted,
        0,
    ),
    _Row(
        "apiserver_storage_objects",
        "Objects of the resource.",
        "gauge",
        lambda cache: len(cache.memory.store),
        21,
        33,
    ),
    _Row(
        "etcd_object_counts",
        "Objects of the resource.",
        "gauge",
        lambda cache: len(cache.memory.store),
        19,
        24,
    ),
)


def cache_metrics(registry: Registry, behaviour: Behaviour) -> Iterator[Metric]:
    """Yield the metrics of the version, with its labels; caches that were never requested are left out."""
    live = [
        (resource_labels(cacher.resource, behaviour), cacher.cache)
        for cacher in registry
        if cacher.cache is not None and not cacher.cache.cold
    ]
    for row in _ROWS:
        if row.first <= behaviour.minor <= row.last and (not row.gate or behaviour.enabled(row.gate)):
            yield CallbackMetric(row.name, row.help, partial(_values, row, live), row.kind)
    if behaviour.minor >= CHECKED_MINOR:
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


def _values(row: _Row, live: list[tuple[Labels, ResourceCache]]) -> list[tuple[Labels, float]]:
    return [(labels, row.read(cache)) for labels, cache in live]
