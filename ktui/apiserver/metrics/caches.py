"""Metrics of the watch caches, read from their present state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ktui.apiserver.metrics.exposition import Labels, Metric, Reading
from ktui.apiserver.metrics.requests import GROUP_LABEL_MINOR
from ktui.kube.resources import Resource
from ktui.kube.versions import Behaviour
from ktui.telemetry.events import CacheState

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry


def cache_metrics(registry: Registry, behaviour: Behaviour) -> Iterator[Metric]:
    """One reading a cache, with the labels of the version whose rules apply."""
    states = [(_labels(cacher.resource, behaviour), cacher.state()) for cacher in registry]
    live = [(labels, s) for labels, s in states if s is not None and s.state != "disabled"]

    def reading(name: str, text: str, member: str, kind: str = "gauge") -> Reading:
        return Reading(name, text, lambda: _values(live, member), kind)

    yield reading("apiserver_watch_cache_resource_version", "resourceVersion of the watch cache.", "rv")
    yield reading("watch_cache_capacity", "Events that the watch cache's buffer can hold.", "capacity")
    yield reading(
        "apiserver_watch_cache_events_received_total", "Events received from etcd.", "events", "counter"
    )
    if behaviour.minor >= GROUP_LABEL_MINOR:
        yield reading("apiserver_resource_objects", "Objects held.", "objects")
        yield Reading(
            "apiserver_resource_size_estimate_bytes",
            "Stored bytes of the objects held.",
            lambda: _values(live, "bytes"),
        )
    else:
        yield reading("apiserver_storage_objects", "Objects held.", "objects")


def _values(states: list[tuple[Labels, CacheState]], member: str) -> Iterable[tuple[Labels, float]]:
    return [(labels, float(getattr(state, member))) for labels, state in states]


def _labels(resource: Resource, behaviour: Behaviour) -> Labels:
    if behaviour.minor >= GROUP_LABEL_MINOR:
        return (("group", resource.group), ("resource", resource.resource))
    return (("resource", resource.id),)
