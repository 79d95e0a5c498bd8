"""The metrics that ktui reads from a kube-apiserver, 1.24 to 1.37, and the figures that they supply.

A metric with labels has no line before its first event. So a family that the version has but the page
lacks has counted nothing yet: its figures are 0. A family that the version lacks is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ktui.client.metrics_page import Wanted
from ktui.kube.resources import BUILTIN

Labels = Mapping[str, str]


def resource_of(labels: Labels) -> str:
    """Return the resource id, `pods` or `ciliumnodes.cilium.io`; "" if the labels name no known resource.

    Requests have the labels of the API that they name, the storage those of the group that it stores:
    events.events.k8s.io and events are one storage, and one resource here.

    1.34 and later: `group` and `resource`. Before: `resource` with its group, `resource_prefix` for the
    cache's LISTs, `type` for etcd's requests, `kind` for watch events.
    """
    if (resource := labels.get("resource")) is not None:
        group = labels.get("group", "")
        named = f"{resource}.{group}" if group and resource else resource
        return _stored_as().get(named, named)
    if (prefix := labels.get("resource_prefix")) is not None:
        return _of_prefix(prefix.strip("/"))
    if (kind := labels.get("type")) is not None:
        return _of_type(kind.strip("/"))
    if (kind := labels.get("kind")) is not None:
        return _ids().get((labels.get("group", ""), kind), "")
    return ""


def self_requested(labels: Labels) -> str:
    """Return the resource of a request that the server sent to itself: before 1.34 it has no group."""
    found = resource_of(labels)
    return found if "group" in labels else _plurals().get(found, found)


@lru_cache(maxsize=1)
def _plurals() -> dict[str, str]:
    return {resource.id.partition(".")[0]: resource.id for resource in reversed(BUILTIN.preferred())}


def _of_prefix(prefix: str) -> str:
    if (found := _ids().get(prefix)) is not None:
        return found
    group, _, plural = prefix.rpartition("/")
    return f"{plural}.{group}" if group else plural


def _of_type(name: str) -> str:
    """Return the resource of a type `*core.Pod`; "" for custom resources (`*unstructured.Unstructured`)."""
    if not name.startswith("*"):
        return name
    package, _, kind = name[1:].partition(".")
    return _ids().get((package, kind), "")


@lru_cache(maxsize=1)
def _stored_as() -> dict[str, str]:
    """Return by resource the one that its storage is named after."""
    return {one.id: _ids()[one.prefix.strip("/")] for one in BUILTIN.all() if one.prefix}


@lru_cache(maxsize=1)
def _ids() -> dict[object, str]:
    """Return resource ids by prefix, by package and kind, by group and kind; of two, that of the first."""
    found: dict[object, str] = {}
    for resource in reversed(BUILTIN.all()):
        package = resource.group.partition(".")[0] or "core"
        keys = (resource.prefix.strip("/"), (package, resource.kind), (resource.group, resource.kind))
        found |= dict.fromkeys(keys, resource.id)
    return found


ANCHOR = "apiserver_storage_list_total"  # a provider filters a page without it: a missing figure is not 0
REQUESTS = "apiserver_request_total"  # a server sends itself requests as it starts: no page is without it
_EVER = 99


@dataclass(frozen=True, slots=True)
class Family:
    """A metric family. `samples` are the suffixes of its sample names, `figures` what they supply, and
    `values` what they supply besides by the value of `label`.

    `since` and `until` are the first and last minor that has it. Only lines that contain `text` are kept, and
    of a histogram's buckets only the one with the bound `bucket` in seconds.
    """

    name: str
    kind: str  # the name of the method that reads it, in page_figures.py
    figures: tuple[str, ...] = ()
    since: int = 24
    until: int = _EVER
    samples: tuple[str, ...] = ("",)
    text: bytes = b""
    bucket: int = 0
    label: str = ""
    values: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def supplied(self) -> tuple[str, ...]:
        return (*self.figures, *self.values.values())

    def of(self, labels: Labels) -> str:
        """Return the figure that `label` chooses; "" for none."""
        return self.values.get(labels.get(self.label, ""), "")

    def figure(self, suffix: str) -> str:
        """Return the figure that samples with a suffix supply: figures are in the order of `samples`."""
        return self.figures[self.samples.index(suffix)]

    @property
    def wanted(self) -> Wanted:
        names = [f"{self.name}{suffix}".encode() for suffix in self.samples]
        bucket = {f"{self.name}_bucket".encode(): f'le="{self.bucket}"'.encode()} if self.bucket else {}
        return Wanted(names, self.text, bucket)

    @property
    def matcher(self) -> str:
        """What `text` and `bucket` are in a Prometheus selector; "" if they are not set."""
        if self.bucket:
            return f'le=~"|{self.bucket}|{self.bucket}.0"'  # without a bound too: sum and count
        return self.text.decode()


_TOTALS = ("_count", "_sum")
_LIST = b'verb="LIST"'
VERBS: Mapping[str, str] = {  # the figures of requests by verb
    "LIST": "lists", "GET": "gets", "WATCH": "watch_requests", "POST": "creates", "PUT": "updates",
    "PATCH": "patches", "APPLY": "patches", "DELETE": "deletes", "DELETECOLLECTION": "deletes",
}  # fmt: skip


def _counter(name: str, figure: str, since: int = 24) -> Family:
    return Family(name, "counter", (figure,), since)


def _histogram(name: str, count: str, total: str, since: int = 24, text: bytes = b"") -> Family:
    return Family(name, "by_suffix", (count, total), since, samples=_TOTALS, text=text)


RESOURCES = (
    _counter("apiserver_storage_list_total", "storage_lists"),
    _counter("apiserver_storage_list_fetched_objects_total", "etcd_fetched"),
    _counter("apiserver_storage_list_evaluated_objects_total", "etcd_evaluated"),
    _counter("apiserver_storage_list_returned_objects_total", "etcd_returned"),
    Family("apiserver_cache_list_total", "counter", ("cache_lists", "indexed_lists")),
    _counter("apiserver_cache_list_fetched_objects_total", "cache_fetched"),
    _counter("apiserver_cache_list_returned_objects_total", "cache_returned"),
    Family("apiserver_watch_cache_consistent_read_total", "consistent",
           ("consistent_success", "consistent_failure", "consistent_fallback", "consistent_rejected"), 31),
    Family("apiserver_watch_cache_read_wait_seconds", "by_suffix", ("waits", "wait_ms", "fast_waits"), 30,
           samples=(*_TOTALS, "_bucket"), bucket=1),
    Family("apiserver_selfrequest_total", "self_requests", ("self_lists",), text=_LIST),
    Family(REQUESTS, "requests",
           ("list_errors", "list_rejected", "get_errors", "collection_deletes", *VERBS.values())),
    Family("apiserver_request_terminations_total", "terminations", ("terminated_requests",)),
    _counter("apiserver_request_aborts_total", "aborted"),
    Family("apiserver_request_duration_seconds", "durations",
           ("list_timed", "list_ms", "cluster_timed", "cluster_ms", "namespace_timed", "namespace_ms"),
           samples=_TOTALS, text=_LIST),
    _histogram("apiserver_response_sizes", "list_sizes", "list_bytes", text=_LIST),
    _counter("apiserver_watch_events_total", "watch_events"),
    Family("apiserver_watch_events_sizes", "by_suffix", ("watch_bytes",), samples=("_sum",)),
    _histogram("apiserver_watch_list_duration_seconds", "watch_lists", "watch_list_ms", 29),
    _counter("apiserver_terminated_watchers_total", "terminated_watchers", 25),
    _counter("apiserver_watch_cache_events_received_total", "cache_events", 27),
    _counter("apiserver_watch_cache_initializations_total", "initializations", 25),
    _counter("apiserver_watch_cache_initialization_errors_total", "init_errors", 37),
    _counter("apiserver_init_events_total", "init_events", 25),
    _counter("watch_cache_capacity_increase_total", "capacity_increases", 25),
    _counter("watch_cache_capacity_decrease_total", "capacity_decreases", 25),
    Family("apiserver_storage_consistency_checks_total", "by_label", since=33, label="status",
           values={"success": "checks_ok", "failure": "checks_failed", "error": "checks_errored"}),
    Family("etcd_request_duration_seconds", "etcd",
           ("etcd_timed", "etcd_ms", "etcd_gets", "etcd_lists", "etcd_writes"), samples=_TOTALS),
    _counter("etcd_request_errors_total", "etcd_errors", 28),
)  # fmt: skip
GAUGES = (
    Family("apiserver_longrunning_requests", "gauge_sum", ("watches",), text=b'verb="WATCH"'),
    Family("apiserver_watch_cache_resource_version", "gauge", ("rv",), 31),
    Family("watch_cache_capacity", "gauge", ("capacity",), 25),
    Family("apiserver_storage_objects", "gauge", ("objects",)),
    Family("apiserver_resource_objects", "gauge", ("objects",), 34),
    Family("apiserver_resource_size_estimate_bytes", "gauge", ("size_bytes",), 34),
)
_FLOW, _ADMISSION = "apiserver_flowcontrol_", "apiserver_admission_"
LEVELS = (
    Family(f"{_FLOW}dispatched_requests_total", "level", ("dispatched",)),
    Family(f"{_FLOW}rejected_requests_total", "level", ("rejected",), label="reason",
           values={"queue-full": "queue_full", "concurrency-limit": "concurrency_limit",
                   "time-out": "timed_out", "cancelled": "cancelled"}),
    Family(
        f"{_FLOW}request_wait_duration_seconds", "level", ("waits", "wait_ms"), samples=(*_TOTALS, "_bucket")
    ),
    Family(f"{_FLOW}request_concurrency_limit", "level_gauge", ("nominal",), until=36),
    Family(f"{_FLOW}nominal_limit_seats", "level_gauge", ("nominal",), 26),
    Family(f"{_FLOW}current_limit_seats", "level_gauge", ("current",), 26),
    Family(f"{_FLOW}request_concurrency_in_use", "level_gauge_sum", ("executing_seats",), until=36),
    Family(f"{_FLOW}current_executing_seats", "level_gauge_sum", ("executing_seats",), 28),
    Family(f"{_FLOW}current_executing_requests", "level_gauge_sum", ("executing",)),
    Family(f"{_FLOW}current_inqueue_requests", "level_gauge_sum", ("queued",)),
)  # fmt: skip
PROCESS = (
    Family("process_start_time_seconds", "process", ("started",)),
    Family("process_resident_memory_bytes", "process", ("memory_bytes",)),
    Family("process_cpu_seconds_total", "process", ("cpu",)),
    Family("apiserver_tls_handshake_errors_total", "process", ("tls_errors",)),
    Family(f"{_ADMISSION}webhook_admission_duration_seconds", "admission", ("webhooks",), samples=_TOTALS),
    Family(f"{_ADMISSION}controller_admission_duration_seconds", "admission", ("plugins",), samples=_TOTALS),
    Family("apiserver_storage_size_bytes", "process", ("storage_bytes",), 28),
    Family("apiserver_storage_db_total_size_in_bytes", "process", ("storage_bytes",), 26, 36),
    Family("etcd_db_total_size_in_bytes", "process", ("storage_bytes",), 24, 25),
    Family("hidden_metrics_total", "process", ("hidden_metrics",), 28),
    Family("disabled_metrics_total", "process", ("hidden_metrics",), 28),
    Family("apiserver_current_inflight_requests", "process", label="request_kind",
           values={"readOnly": "reading", "mutating": "writing"}),
    Family("kubernetes_build_info", "build"),
    Family("kubernetes_feature_enabled", "gate", (), 26),
)  # fmt: skip
ALL = (*RESOURCES, *GAUGES, *LEVELS, *PROCESS)
WANTED: Mapping[bytes, Wanted] = {family.name.encode(): family.wanted for family in ALL}


@dataclass(frozen=True, slots=True)
class Reported:
    """The figures that a page reports, even if it has no line with them."""

    resources: frozenset[str] = field(default_factory=frozenset)
    watches: bool = False
    levels: frozenset[str] = field(default_factory=frozenset)
    process: frozenset[str] = field(default_factory=frozenset)


def reported(present: Iterable[str], minor: int) -> Reported:
    """Return what a page reports: its families, and if it is complete those of its minor (0: unknown)."""
    there = frozenset(present)
    whole = ANCHOR in there and minor > 0

    def known(family: Family) -> bool:
        expected = family.name != REQUESTS and family.since <= minor <= family.until
        return family.name in there or (whole and expected)

    return Reported(
        frozenset(figure for family in RESOURCES if known(family) for figure in family.supplied),
        known(GAUGES[0]),
        frozenset(figure for family in LEVELS if known(family) for figure in family.supplied),
        frozenset(figure for family in PROCESS if known(family) for figure in family.supplied),
    )
