"""Metrics of API requests: apiserver_request_* and what LISTs read from cache and etcd."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.apiserver.call import Call
from ktui.apiserver.metrics.exposition import Counter, Gauge, Histogram, Labels, Metric

DURATION_BOUNDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
SIZE_BOUNDS = tuple(10.0**power for power in range(3, 10))
COMPONENT = ("component", "apiserver")
# Kubernetes 1.34 replaced `resource` / `resource_prefix` by `group,resource`.
GROUP_LABEL_MINOR = 34


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

    def metrics(self) -> Iterator[Metric]:
        yield from (self.total, self.duration, self.sizes, self.inflight, self.longrunning)
        yield self.consistent_reads
        for counters in self.lists.values():
            yield from counters.metrics()

    def began(self, call: Call) -> None:
        self._in_service(call, 1)

    def ended(self, call: Call) -> None:
        self._in_service(call, -1)
        self.total.add(1, (*_request_labels(call), ("code", str(call.response.status))))
        if call.verb != "WATCH":
            self.duration.observe(call.elapsed_ms() / 1000.0, _request_labels(call))
            self.sizes.observe(call.response.sent_bytes, _request_labels(call, dry_run=False))
        if call.verb == "LIST" and call.resource is not None:
            self._list_ended(call)

    def _in_service(self, call: Call, step: int) -> None:
        if call.verb == "WATCH":
            self.longrunning.add(step, _request_labels(call, dry_run=False))
            return
        mutating = call.verb not in ("GET", "LIST")
        self.inflight.add(step, (("request_kind", "mutating" if mutating else "readOnly"),))

    def _list_ended(self, call: Call) -> None:
        meter, resource = call.meter, storage_labels(call)
        fell_back = call.route == "cache,etcd"
        if call.route in ("cache", "cache_snapshot"):
            self.lists["cache"].add(resource, meter.fetched, None, meter.returned)
            if meter.etcd_gets:  # the probe is a list of one key that is not there
                self.lists["storage"].add(resource, 0, 0, 0)
        elif call.route in ("etcd", "cache,etcd"):
            self.lists["storage"].add(resource, meter.fetched, meter.evaluated, meter.returned)
        if call.decision is not None and call.decision.consistency == "linearizable" and call.route != "etcd":
            outcome = (("success", "true"), ("fallback", "true" if fell_back else "false"))
            self.consistent_reads.add(1, (*resource, *outcome))


class _ListCounters:
    def __init__(self, route: str) -> None:
        name = f"apiserver_{route}_list"
        self.total = Counter(f"{name}_total", f"LISTs served from {route}.")
        self.fetched = Counter(f"{name}_fetched_objects_total", f"Objects read from {route} for LISTs.")
        self.evaluated = Counter(f"{name}_evaluated_objects_total", "Objects put to the selectors.")
        self.returned = Counter(f"{name}_returned_objects_total", "Objects returned.")

    def add(self, labels: Labels, fetched: int, evaluated: int | None, returned: int) -> None:
        self.total.add(1, labels)
        self.fetched.add(fetched, labels)
        self.returned.add(returned, labels)
        if evaluated is not None:
            self.evaluated.add(evaluated, labels)

    def metrics(self) -> Iterator[Metric]:
        yield from (self.total, self.fetched, self.returned)
        if self.total.name.startswith("apiserver_storage"):
            yield self.evaluated


def storage_labels(call: Call) -> Labels:
    """How storage and cache metrics name the resource in the version whose rules apply."""
    assert call.resource is not None
    if call.behaviour.minor >= GROUP_LABEL_MINOR:
        return (("group", call.resource.group), ("resource", call.resource.resource))
    return (("resource", call.resource.id),)


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
