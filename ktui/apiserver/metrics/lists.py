"""apiserver_storage_list_* and apiserver_cache_list_*: objects that LISTs read from etcd and cache."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.apiserver.call import Call
from ktui.apiserver.metrics.exposition import Counter, Labels, Metric
from ktui.apiserver.metrics.labels import resource_labels
from ktui.kube.resources import Resource

LISTS_SINCE = 23
# Since 1.37 storage_list_* count the cache's lists too, with two more labels, and no probes.
ROUTE_LABELS_SINCE = 37
NO_INDEX: Labels = (("index", ""),)


class ListMetrics:
    """Counts each LIST once, at its end."""

    def __init__(self) -> None:
        self.storage = _Counters("storage")
        self.cache = _Counters("cache")

    def metrics(self, minor: int) -> Iterator[Metric]:
        """Yield the metrics of kube-apiserver 1.`minor`."""
        if minor >= LISTS_SINCE:
            yield from self.storage.metrics()
            yield from self.cache.metrics()[:-1]

    def ended(self, call: Call, resource: Resource) -> None:
        meter, behaviour = call.meter, call.behaviour
        named = resource_labels(resource, behaviour)
        told_apart = behaviour.minor >= ROUTE_LABELS_SINCE
        if call.route in ("cache", "cache_snapshot"):
            index = _index(call, resource)
            prefixed = resource_labels(resource, behaviour, "resource_prefix")
            self.cache.add(prefixed, meter.fetched, 0, meter.returned, index)
            if told_apart:
                cached = (*named, ("storage", "watchcache"))
                self.storage.add(cached, meter.fetched, 0, meter.returned, index)
            elif meter.etcd_gets:  # the probe is a LIST of one key that does not exist
                self.storage.add(named, 0, 0, 0)
        elif call.route in ("etcd", "cache,etcd"):
            if told_apart:
                named = (*named, ("storage", "etcd"))
            index = NO_INDEX if told_apart else ()
            self.storage.add(named, meter.fetched, meter.evaluated, meter.returned, index)


def _index(call: Call, resource: Resource) -> Labels:
    """The label of the index that kube-apiserver uses for a LIST from its cache; only pods have one."""
    name = ""
    if resource.id == "pods":
        if "spec.nodeName" in call.request.parameter("fieldSelector"):
            name = "f:spec.nodeName"
        elif call.info.namespace and call.behaviour.storage_namespace_index:
            name = "f:metadata.namespace"
    return (("index", name),)


class _Counters:
    def __init__(self, route: str) -> None:
        name = f"apiserver_{route}_list"
        self.total = Counter(f"{name}_total", f"LISTs served from {route}.")
        self.fetched = Counter(f"{name}_fetched_objects_total", f"Objects read from {route} for LISTs.")
        self.returned = Counter(f"{name}_returned_objects_total", "Objects returned.")
        self.evaluated = Counter(f"{name}_evaluated_objects_total", "Objects put to the selectors.")

    def add(self, labels: Labels, fetched: int, evaluated: int, returned: int, index: Labels = ()) -> None:
        self.total.add(1, (*labels, *index))
        self.fetched.add(fetched, (*labels, *index))
        self.returned.add(returned, labels)
        self.evaluated.add(evaluated, labels)

    def metrics(self) -> tuple[Counter, ...]:
        return self.total, self.fetched, self.returned, self.evaluated
