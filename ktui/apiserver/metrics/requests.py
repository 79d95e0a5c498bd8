"""apiserver_request_* and related metrics of API requests, and how long reads waited for a cache."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from http import HTTPStatus

from ktui.apiserver.call import LONG_QUERY, Call
from ktui.apiserver.metrics.metric_types import (
    DURATION_BOUNDS,
    Counter,
    Gauge,
    Histogram,
    Labels,
    Metric,
    Observed,
    resource_labels,
)
from ktui.cacher.cacher_requests import FELL_BACK
from ktui.kube.resources import Resource
from ktui.kube.routing.plan import Fallback, Plan, Source
from ktui.kube.selectors import FieldSelector

STORAGE_PHASES = ("etcd", "decode", "filter")
NO_INDEX: Labels = (("index", ""),)


class ListMetrics:
    """apiserver_storage_list_* and apiserver_cache_list_*, counted once for each LIST, at its end."""

    def __init__(self) -> None:
        self.storage = _Counters("storage")
        self.cache = _Counters("cache")

        self.storage_duration = Histogram(
            "apiserver_storage_list_duration_seconds",
            "Time of LISTs at etcd, decoding included.",
            DURATION_BOUNDS,
        )

    def metrics(self, minor: int) -> Iterator[Metric]:
        """Yield the metrics of kube-apiserver 1.`minor`."""
        if minor >= 23:
            yield from self.storage.metrics()
            yield from self.cache.metrics()[:-1]
        if minor >= 37:
            yield self.storage_duration

    def ended(self, call: Call, resource: Resource) -> None:
        meter, behaviour = call.meter, call.behaviour
        named = resource_labels(resource, behaviour)
        # Since 1.37 storage_list_* count the cache's lists too, with two more labels, and no probes.
        told_apart = behaviour.minor >= 37
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
            seconds = sum(meter.phases.get(phase, 0.0) for phase in STORAGE_PHASES) / 1000.0
            streamed = ("streamed", "true" if meter.streamed else "false")
            self.storage_duration.observe(seconds, (streamed, *named))
            if told_apart:
                named = (*named, ("storage", "etcd"))
            index = NO_INDEX if told_apart else ()
            self.storage.add(named, meter.fetched, meter.evaluated, meter.returned, index)


def _index(call: Call, resource: Resource) -> Labels:
    """The label of the index that kube-apiserver uses for a LIST from its cache; only pods have one.

    Snapshots and further pages have none (upstream: waitUntilFreshAndList), nor have namespaces since the
    cache is a tree (pod/strategy.go of 1.33).
    """
    name, request, behaviour = "", call.request, call.behaviour
    if resource.id == "pods" and call.route == "cache" and not request.parameter("continue"):
        selector = request.parameter("fieldSelector")
        short = len(selector) < LONG_QUERY
        if short and "spec.nodeName" in selector and FieldSelector.parse(selector).requires("spec.nodeName"):
            name = "f:spec.nodeName"
        elif call.info.namespace and behaviour.enabled("StorageNamespaceIndex"):
            is_tree = behaviour.minor >= 33 and behaviour.enabled("BtreeWatchCache")
            name = "" if is_tree else "f:metadata.namespace"
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


SIZE_BOUNDS = tuple(10.0**power for power in range(3, 10))
COMPONENT = ("component", "apiserver")
APPLY = "application/apply-patch+yaml"
WAIT_BOUNDS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3)
VERBS = frozenset(("APPLY", "CONNECT", "DELETE", "GET", "LIST", "PATCH", "POST", "PUT", "WATCH"))
PLAIN_VERBS = VERBS - {"APPLY", "CONNECT", "PATCH"}
CONNECTS = frozenset(("attach", "exec", "log", "portforward", "proxy"))
OTHER_VERB = "other"
ROUTERS = ("406: ", "415: ")  # how errors of upstream's HTTP router begin, for built-in resources
SIZED = ("GET", "LIST")
READ_ONLY, MUTATING = ((("request_kind", kind),) for kind in ("readOnly", "mutating"))
MOST_SHAPES = 4096
SHAPE_LABELS = ("group", "version", "resource", "subresource", "scope")
Shape = tuple[str, str, str, str, str, str, str]
"""The values of SHAPE_LABELS, verb and dry_run."""


class ShapeSeries:
    """The labels of one shape of requests without and with `dry_run`, and by code, and its observations."""

    __slots__ = ("bare", "by_code", "dry_run", "observed", "whole")

    def __init__(self, bare: Labels, dry_run: str) -> None:
        self.bare = bare
        self.dry_run = dry_run
        self.whole: Labels = (*bare, ("dry_run", dry_run))
        self.by_code: dict[int, Labels] = {}
        # Of duration, duration without waiting, and size; None until a request has ended.
        self.observed: tuple[Observed, Observed, Observed] | None = None


# Reads that wait until the cache has seen a resourceVersion.
FRESH = ("linearizable", "at_least_rv", "exact_rv")


class RequestMetrics:
    """Observes each request once, when it ends.

    As upstream (endpoints/metrics, MonitorRequest), of the requests of resources those that have reached a
    handler, and of the others only flow control's 429.
    """

    def __init__(self) -> None:
        self.total = Counter("apiserver_request_total", "API requests by verb, resource and code.")
        self.duration = Histogram(
            "apiserver_request_duration_seconds", "Time until the answer was out.", DURATION_BOUNDS
        )
        self.sizes = Histogram("apiserver_response_sizes", "Bytes of answers.", SIZE_BOUNDS)
        self.inflight = Gauge("apiserver_current_inflight_requests", "Requests being served now.")
        self.longrunning = Gauge("apiserver_longrunning_requests", "Watches being served now.")
        self.longrunning_gauge = self.longrunning.renamed("apiserver_longrunning_gauge")
        self.indicator = Histogram(
            "apiserver_request_sli_duration_seconds", "Time that the server itself took.", DURATION_BOUNDS
        )
        self.objective = self.indicator.renamed("apiserver_request_slo_duration_seconds")
        self._by_shape: dict[Shape, ShapeSeries] = {}
        self.lists = ListMetrics()
        self.consistent_reads = Counter(
            "apiserver_watch_cache_consistent_read_total", "Consistent reads tried from the watch cache."
        )
        self.read_wait = Histogram(
            "apiserver_watch_cache_read_wait_seconds", "Time that reads waited for the cache.", WAIT_BOUNDS
        )

    def metrics(self, minor: int) -> Iterator[Metric]:
        """Yield the metrics of kube-apiserver 1.`minor`."""
        yield from (self.total, self.duration, self.sizes, self.inflight)
        yield self.longrunning if minor >= 23 else self.longrunning_gauge  # so named
        if minor >= 23:  # the duration without waiting times: first called an SLO, then an SLI
            yield self.indicator if minor >= 26 else self.objective
        yield from self.lists.metrics(minor)
        if minor >= 30:
            yield self.read_wait
        if minor >= 31:
            yield self.consistent_reads

    def began(self, call: Call) -> None:
        if call.verb == "WATCH":
            self.longrunning.add(1, self._series(call).bare)
        else:
            self.inflight.add(1, READ_ONLY if call.verb in ("GET", "LIST") else MUTATING)

    def ended(self, call: Call) -> None:
        shape, code = self._series(call), call.response.status
        routed = call.routed and not (call.error.startswith(ROUTERS) and not call.resource_is_custom)
        if routed or code == HTTPStatus.TOO_MANY_REQUESTS:
            labels = shape.by_code.get(code)
            if labels is None:
                labels = shape.by_code[code] = (*shape.whole, ("code", str(code)))
            self.total.add(1, labels)
        if call.verb == "WATCH":
            self.longrunning.add(-1, shape.bare)
        else:
            self.inflight.add(-1, READ_ONLY if call.verb in ("GET", "LIST") else MUTATING)
        if routed:
            self._observe(shape, call)
        if call.resource is None or call.plan is None:
            return
        if call.plan.consistency in FRESH and call.route.startswith("cache"):
            waited = call.meter.phases.get("wait", 0.0) / 1000.0
            self.read_wait.observe(waited, resource_labels(call.resource, call.behaviour))
        if call.verb == "LIST":
            self.lists.ended(call, call.resource)
            if call.plan.probe and call.plan.source is Source.CACHE:
                labels = (*resource_labels(call.resource, call.behaviour), *_consistent_read(call, call.plan))
                self.consistent_reads.add(1, labels)

    def _observe(self, shape: ShapeSeries, call: Call) -> None:
        """Add to three histograms, whose series are looked up once for each shape.

        The time of a dry run or WATCH is no indicator. A WATCH has a size where its route is that of LIST.
        """
        seconds, size = call.elapsed_ms() / 1000.0, call.response.sent_bytes
        watch = call.verb == "WATCH"
        if shape.observed is None:
            of_whole, bare = self.duration.series(shape.whole), shape.bare
            shape.observed = of_whole, self.indicator.series(bare), self.sizes.series(bare)
        (durations, total), (indicated, indicated_total), (sizes, size_total) = shape.observed
        bucket = bisect_left(DURATION_BOUNDS, seconds)
        durations[bucket] += 1
        total[0] += seconds
        if not watch and shape.dry_run == "":
            indicated[bucket] += 1
            indicated_total[0] += seconds
        if call.verb in SIZED or (watch and not call.info.watch and not call.resource_is_custom):
            sizes[bisect_left(SIZE_BOUNDS, size)] += 1
            size_total[0] += size

    def _series(self, call: Call) -> ShapeSeries:
        """Return the series of a request, made once for each shape of requests."""
        resource, verb, scope = call.resource, call.verb, _scope(call)
        if verb not in PLAIN_VERBS or call.info.subresource or call.resource_is_custom:
            verb, scope = _verb(call, scope)
        dry_run = ""  # upstream's label of a request with the parameter: "All" or "invalid"
        if "dryRun" in call.request.parameters:
            dry_run = "All" if set(call.request.parameters["dryRun"]) == {"All"} else "invalid"
        if resource is None:
            shape = ("", "", "", "", "", verb, dry_run)
        else:
            group, version, plural = resource.group, resource.version, resource.resource
            shape = (group, version, plural, call.info.subresource, scope, verb, dry_run)
        found = self._by_shape.get(shape)
        if found is None:
            if len(self._by_shape) >= MOST_SHAPES:  # definitions of custom resources come and go
                self._by_shape.clear()
            bare = (("verb", verb), *zip(SHAPE_LABELS, shape, strict=False), COMPONENT)
            found = self._by_shape[shape] = ShapeSeries(bare, dry_run)
        return found


def _consistent_read(call: Call, plan: Plan) -> Labels:
    """Return the labels of a consistent read. `skipped`: rejected with 429 where others fall back to etcd."""
    success = call.response.status < HTTPStatus.BAD_REQUEST
    skipped = not success and plan.fallback is Fallback.REJECT_IF_LATE
    fallback = "true" if call.route == FELL_BACK else "skipped" if skipped else "false"
    return (("success", "true" if success else "false"), ("fallback", fallback))


def _verb(call: Call, scope: str) -> tuple[str, str]:
    """Return one of VERBS or OTHER_VERB, as labels never come from clients, and the scope.

    A LIST of a custom resource that selects a name is a GET of it.
    """
    verb = call.verb
    if call.info.subresource in CONNECTS:
        return "CONNECT", scope
    if verb == "PATCH" and call.request.headers.get("content-type", "") == APPLY:
        return "APPLY", scope
    if verb == "DELETECOLLECTION":
        return "DELETE", scope
    short = len(call.request.query) < LONG_QUERY
    if verb == "LIST" and call.resource_is_custom and short and call.named_attributes.name:
        return "GET", "resource"
    return verb if verb in VERBS else OTHER_VERB, scope


def _scope(call: Call) -> str:
    if call.info.name or call.verb == "POST":
        return "resource"
    return "namespace" if call.info.namespace else "cluster"
