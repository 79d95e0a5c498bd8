"""Metrics of API requests: apiserver_request_* and what LISTs read from cache and etcd."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.apiserver.call import Call
from ktui.apiserver.metrics.exposition import Counter, Gauge, Histogram, Labels, Metric
from ktui.apiserver.metrics.labels import resource_labels
from ktui.kube.resources import Resource
from ktui.kube.routing.model import Decision

DURATION_BOUNDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
SIZE_BOUNDS = tuple(10.0**power for power in range(3, 10))
COMPONENT = ("component", "apiserver")
WAIT_BOUNDS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3)
LISTS_SINCE, READ_WAIT_SINCE, CONSISTENT_READS_SINCE = 23, 30, 31
# Reads that wait until the cache has seen a resourceVersion.
FRESH = ("linearizable", "at_least_rv", "exact_rv")


class RequestMetrics:
    """Observes each request once, when it is over."""

    def __init__(self) -> None:
        self.total = Counter("apiserver_request_total", "API requests by verb, resource and code.")
        self.duration = Histogram(
            "apiserver_request_duration_seconds", "Time until the answer was out.", DURATION_BOUNDS
        )
        self.sizes = Histogram("apiserver_response_sizes", "Bytes of answers.", SIZE_BOUNDS)
        self.inflight = Gauge("apiserver_current_inflight_requests", "Requests being served now.")
        self.longrunning = Gauge("apiserver_longrunning_requests", "Watches being served now.")
        self.lists = {route: _ListCounters(route) for route in ("storage", "cache")}
        self.consistent_reads = Counter(
            "apiserver_watch_cache_consistent_read_total", "Consistent reads tried from the watch cache."
        )
        self.read_wait = Histogram(
            "apiserver_watch_cache_read_wait_seconds", "Time that reads waited for the cache.", WAIT_BOUNDS
        )

    def metrics(self, minor: int) -> Iterator[Metric]:
        """Those that kube-apiserver 1.`minor` has."""
        yield from (self.total, self.duration, self.sizes, self.inflight, self.longrunning)
        if minor >= LISTS_SINCE:
            for counters in self.lists.values():
                yield from counters.metrics()
        if minor >= READ_WAIT_SINCE:
            yield self.read_wait
        if minor >= CONSISTENT_READS_SINCE:
            yield self.consistent_reads

    def began(self, call: Call) -> None:
        self._in_service(call, 1)

    def ended(self, call: Call) -> None:
        self._in_service(call, -1)
        self.total.add(1, (*_request_labels(call), ("code", str(call.response.status))))
        if call.verb != "WATCH":
            self.duration.observe(call.elapsed_ms() / 1000.0, _request_labels(call))
            self.sizes.observe(call.response.sent_bytes, _request_labels(call, dry_run=False))
        if call.resource is None or call.decision is None:
            return
        if call.decision.consistency in FRESH and call.route.startswith("cache"):
            waited = call.meter.phases.get("wait", 0.0) / 1000.0
            self.read_wait.observe(waited, resource_labels(call.resource, call.behaviour))
        if call.verb == "LIST":
            self._list_ended(call, call.resource, call.decision)

    def _in_service(self, call: Call, step: int) -> None:
        if call.verb == "WATCH":
            self.longrunning.add(step, _request_labels(call, dry_run=False))
            return
        mutating = call.verb not in ("GET", "LIST")
        self.inflight.add(step, (("request_kind", "mutating" if mutating else "readOnly"),))

    def _list_ended(self, call: Call, resource: Resource, decision: Decision) -> None:
        meter, behaviour = call.meter, call.behaviour
        named = resource_labels(resource, behaviour)
        fell_back = call.route == "cache,etcd"
        if call.route in ("cache", "cache_snapshot"):
            prefixed = resource_labels(resource, behaviour, "resource_prefix")
            self.lists["cache"].add(prefixed, meter.fetched, None, meter.returned, _index(call, resource))
            if meter.etcd_gets:  # the probe is a list of one key that is not there
                self.lists["storage"].add(named, 0, 0, 0)
        elif call.route in ("etcd", "cache,etcd"):
            self.lists["storage"].add(named, meter.fetched, meter.evaluated, meter.returned)
        if decision.consistency == "linearizable" and call.route != "etcd":
            outcome = (("success", "true"), ("fallback", "true" if fell_back else "false"))
            self.consistent_reads.add(1, (*named, *outcome))


def _index(call: Call, resource: Resource) -> Labels:
    """The index that kube-apiserver takes for a LIST from its cache: only pods have any."""
    name = ""
    if resource.id == "pods":
        if "spec.nodeName" in call.request.parameter("fieldSelector"):
            name = "f:spec.nodeName"
        elif call.info.namespace and call.behaviour.storage_namespace_index:
            name = "f:metadata.namespace"
    return (("index", name),)


class _ListCounters:
    def __init__(self, route: str) -> None:
        name = f"apiserver_{route}_list"
        self.total = Counter(f"{name}_total", f"LISTs served from {route}.")
        self.fetched = Counter(f"{name}_fetched_objects_total", f"Objects read from {route} for LISTs.")
        self.evaluated = Counter(f"{name}_evaluated_objects_total", "Objects put to the selectors.")
        self.returned = Counter(f"{name}_returned_objects_total", "Objects returned.")

    def add(
        self, labels: Labels, fetched: int, evaluated: int | None, returned: int, index: Labels = ()
    ) -> None:
        self.total.add(1, (*labels, *index))
        self.fetched.add(fetched, (*labels, *index))
        self.returned.add(returned, labels)
        if evaluated is not None:
            self.evaluated.add(evaluated, labels)

    def metrics(self) -> Iterator[Metric]:
        yield from (self.total, self.fetched, self.returned)
        if self.total.name.startswith("apiserver_storage"):
            yield self.evaluated


def _request_labels(call: Call, *, dry_run: bool = True) -> Labels:
    resource = call.resource
    named: Labels = (
        ("verb", call.verb),
        ("group", resource.group if resource else ""),
        ("version", resource.version if resource else ""),
        ("resource", resource.resource if resource else ""),
        ("subresource", call.info.subresource),
        ("scope", _scope(call)),
        COMPONENT,
    )
    return (*named, ("dry_run", "")) if dry_run else named


def _scope(call: Call) -> str:
    if call.resource is None:
        return ""
    if call.info.name:
        return "resource"
    return "namespace" if call.info.namespace else "cluster"
