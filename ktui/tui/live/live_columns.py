"""Columns of the live tables. `?`: the server does not report the figure; `·`: zero."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ktui.core.format import duration, milliseconds, short_bytes, short_count, short_milliseconds, times
from ktui.core.live.findings import SLOW_ADMISSION_MS, Finding, Severity
from ktui.core.live.live_state import UserRow
from ktui.core.live.processes import WEBHOOK, AdmissionRow, LevelRow
from ktui.core.live.resource_routes import ChecksRow, ResourceRoutes
from ktui.core.live.window import total
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.live import live_rows as rows
from ktui.tui.widgets.lines import figure, resource_runs

UNKNOWN: Cell = ("?", "$ink-faint")
SEVERITY = {
    Severity.CRITICAL: ("▲ critical", "bold $error"),
    Severity.WARNING: ("▲ warning", "bold $warning"),
    Severity.NOTICE: ("· notice", "$ink-muted"),
}
FAILURE = "bold $error"
Value = str | Callable[[Any], Any]  # a path of attributes, such as `row.nominal`, or a function of the row


def _of(value: Value) -> Callable[[Any], Any]:
    return attrgetter(value) if isinstance(value, str) else value


def _text(name: str, title: str, value: Value, width: int, **more: Any) -> Column[Any]:
    return Column(name, title, _of(value), width=width, **{"priority": 0} | more)


def _number(
    name: str,
    title: str,
    value: Value,
    about: str,
    *,
    loud: float = 0,
    loud_style: str = "bold $warning",
    unit: str = "",
    shown: Callable[[float], str] | None = None,
    mean_of: Value | None = None,
    **more: Any,
) -> Column[Any]:
    """Return a column of numbers, highlighted from `loud` on.

    A mean is shown as none, not as unknown, where `mean_of` is 0: there was nothing to average.
    """
    show = shown or (short_bytes if unit == "B" else short_milliseconds if unit == "ms" else short_count)
    read, count = _of(value), _of(mean_of) if mean_of is not None else lambda row: None

    def cell(row: Any) -> Cell:
        number = read(row)
        if number is None:
            return NOTHING if count(row) == 0 else UNKNOWN
        if not number:
            return NOTHING
        quiet = isinstance(row, ChecksRow)  # what the server itself reads is no alarm
        return (show(number), loud_style if loud and number >= loud and not quiet else "$foreground")

    return figure(name, title, lambda row: read(row) or 0, about, unit=unit, cell=cell, **more)


def per_second(value: float) -> str:
    return f"{value:.2f}" if value < 0.095 else f"{value:.1f}" if value < 9.95 else short_count(value)


_hundredths = "{:.2f}".format


def _resource(wish: int = 0) -> Column[Any]:
    return Column(
        "resource", "resource", lambda row: resource_runs(row.resource), width=16, flex=2, most=56, wish=wish,
        priority=0, about="the Kubernetes resource",
    )  # fmt: skip


def _rate(name: str, title: str, path: str, about: str, **more: Any) -> Column[Any]:
    read = _of(path)
    return _number(name, title, lambda row: row.per_second(read(row)), about, shown=per_second, **more)


# Requests: routes by resource.
ROUTES: tuple[Column[ResourceRoutes], ...] = (
    _resource(),
    _number("lists", "LIST/s",
            lambda row: 0 if isinstance(row, ChecksRow) else row.per_second(row.answered),
            "LIST requests of clients a second, without 429s: apiserver_request_total", width=6, priority=0,
            shown=per_second),
    _rate("cache", "C /s", "cache.lists", "LISTs a second from the watch cache: apiserver_cache_list_total",
          priority=0),
    _rate("etcd", "E /s", "etcd.lists",
          "LISTs a second from etcd, without revision probes: apiserver_storage_list_total", priority=0,
          loud=1e-9),
    _rate("read_cache", "read C", "cache.fetched",
          "objects a second read in the cache: apiserver_cache_list_fetched_objects_total", width=6),
    _rate("read_etcd", "read E", "etcd.fetched",
          "objects a second read from etcd: apiserver_storage_list_fetched_objects_total", width=6,
          priority=0, loud=500),
    _rate("returned", "sent", "returned", "objects a second returned", priority=3),
    _number("amplification", "ampl.", "amplification", "objects read for each one returned", width=6, loud=50,
           shown=times, mean_of="returned"),
    _rate("bytes", "B/s", "bytes", "response bytes a second: apiserver_response_sizes", priority=2, unit="B"),
    _number("mean", "B each", "mean_bytes", "mean bytes of an answer", width=6, priority=5, unit="B",
           mean_of="lists"),
    _number("ms", "ms", "list_ms", "mean of a LIST: apiserver_request_duration_seconds", unit="ms",
           mean_of="lists"),
    _number("cluster_ms", "ms all", "cluster_ms", "mean of LISTs over all namespaces", width=6, priority=6,
           unit="ms", mean_of="cluster_lists"),
    _number("namespace_ms", "ms ns", "namespace_ms", "mean of LISTs of one namespace", priority=6, unit="ms",
           mean_of="namespace_timed"),
    _number("consistent", "fresh", "success",
           "consistent reads that the cache answered: apiserver_watch_cache_consistent_read_total",
           priority=4),
    _number("fallback", "fallb", "consistent_fallback",
           "consistent reads that fell back to etcd, the cache being 3 s late", priority=2, loud=1,
           loud_style=FAILURE),
    _number("wait", "wait", "wait_ms", "mean wait for the cache: apiserver_watch_cache_read_wait_seconds",
           priority=5, unit="ms", mean_of="waits"),
    _number("errors", "err", "list_errors", "LISTs answered with 4xx or 5xx", priority=5, width=4, loud=1),
    _number("rejected", "429", "list_rejected", "LISTs answered with 429", priority=3, width=4, loud=1,
           loud_style=FAILURE),
)  # fmt: skip

_SHORT = ("resource", "lists", "rejected", "cache", "etcd", "read_etcd", "amplification", "bytes", "ms",
          "fallback")  # fmt: skip
SHORT_ROUTES = tuple(column for column in ROUTES if column.id in _SHORT)


RUNNING: tuple[Column[rows.RunningLine], ...] = (
    Column("state", "state",
           lambda row: ("◐ queued", "bold $warning") if row.request.queued else ("● executing", "$success"),
           lambda row: "queued" if row.request.queued else "executing", 11, priority=0,
           about="whether it holds seats or waits for them"),
    _text("user", "user", "request.user", 16, flex=2, most=44, about="who sent it"),
    _text("verb", "verb", lambda row: row.request.verb.upper(), 6, priority=2, about="the verb"),
    _text("path", "path", "request.path", 16, flex=4, tail=True, about="the path; queries are in no dump"),
    _text("level", "level", "request.level", 14, flex=1, most=24, priority=1, about="the priority level"),
    _text("schema", "flow schema", "request.schema", 14, flex=1, most=30, priority=5,
          about="the flow schema that put it there"),
    _number("seats", "seats", "request.seats", "seats that it holds, or will", loud=5),
    _number("age", "s", "age", "seconds since it arrived", priority=0, unit="s", loud=1,
            shown="{:.1f}".format),
    _text("replica", "replica", lambda row: (row.replica, "$ink-muted"), 7, priority=4,
          about="which replica has it"),
)  # fmt: skip

USERS: tuple[Column[UserRow], ...] = (
    _text("user", "user", "user", 20, flex=2, most=60, about="who"),
    _text("level", "level", "level", 14, flex=1, most=24, priority=1, about="the priority level"),
    _number("seats", "seats", "seats", "seats held, mean of the samples", width=6, priority=0,
            shown=_hundredths),
    _number("executing", "executing", "executing", "requests executing, mean", width=9, shown=_hundredths),
    _number("queued", "queued", "queued", "requests waiting, mean", width=6, loud=0.01, shown=_hundredths),
    _text("path", "most often", "path", 16, flex=3, priority=2, tail=True, about="the path seen most often"),
)  # fmt: skip

CACHES: tuple[Column[rows.CacheAt], ...] = (
    _resource(wish=33),
    _text("replica", "replica", "replica", 7, about="which process"),
    Column("rv", "rv", lambda row: f"{row.rv:,}" if row.rv is not None else UNKNOWN,
           lambda row: row.rv or 0, 14, align="right", priority=0, descending=True,
           about="the cache's resourceVersion: apiserver_watch_cache_resource_version", unit="rv"),
    _number("behind", "behind", "behind",
            "revisions behind the newest at any replica, each at its last scrape", width=7, priority=0,
            loud=1_000),
    _number("lag", "lag", "lag", "revisions behind etcd by the newest probe (p)", loud=1_000,
            mean_of=lambda row: 0 if row.probe is None or not row.lag else None),
    _number("objects", "objects", "routes.objects", "objects: apiserver_resource_objects", width=7),
    _number("bytes", "bytes", "routes.size_bytes",
           "the server's own estimate: apiserver_resource_size_estimate_bytes", priority=5, unit="B"),
    _number("capacity", "buffer", "capacity", "length of the event buffer: watch_cache_capacity", width=6),
    _number("grown", "grown", "routes.capacity_increases", "times that it was enlarged", priority=5, loud=1),
    _number("events", "ev/s", lambda row: row.routes.per_second(row.routes.cache_events),
            "events a second from etcd", shown=per_second),
    _number("refills", "refills", "routes.refills",
            "times that it was filled again, each a full read of etcd", width=7, loud=1),
    _number("wait", "wait ms", "routes.wait_ms", "mean wait of readers for it", width=7, priority=2,
            unit="ms", mean_of="routes.waits"),
    _number("checks", "checks", "routes.checks_ok", "comparisons with etcd that agreed", width=6, priority=5),
    _number("failed", "differ", "routes.checks_failed", "comparisons with etcd that differed", width=6,
            priority=3, loud=1, loud_style=FAILURE),
)  # fmt: skip

ETCD: tuple[Column[ResourceRoutes], ...] = (
    _resource(),
    _rate("calls", "calls/s", "etcd_timed", "calls of etcd a second: etcd_request_duration_seconds_count",
          width=7, priority=0),
    _rate("gets", "get/s", "etcd_gets", "gets a second, revision probes among them"),
    _rate("list", "list/s", "etcd_lists", "list calls a second, a page each", width=6, priority=0),
    _rate("writes", "write/s", "etcd_writes", "creates, updates and deletes a second", width=7),
    _number("ms", "ms", "etcd_ms", "mean of a call", priority=0, unit="ms", loud=100, mean_of="etcd_timed"),
    _number("errors", "errors", "etcd_errors", "calls that failed", width=6, loud=1, loud_style=FAILURE),
    _rate("read", "read/s", "etcd.fetched", "objects a second that LISTs read from etcd", width=6, priority=0,
          loud=500),
    _number("objects", "objects", "objects", "objects stored", width=7, priority=0),
    _number("bytes", "bytes", "size_bytes", "the server's own estimate", unit="B"),
)  # fmt: skip

VERBS: tuple[Column[ResourceRoutes], ...] = (
    _resource(),
    _rate("gets", "GET/s", "gets", "GETs a second: apiserver_request_total", priority=0),
    _rate("lists", "LIST/s", "lists", "LISTs of clients a second, with 429s", width=6, priority=0),
    _rate("watches", "WATCH/s", "watch_requests", "WATCHes that ended a second", width=7),
    _rate("creates", "POST/s", "creates", "creates a second", width=6),
    _rate("updates", "PUT/s", "updates", "updates a second"),
    _rate("patches", "PATCH/s", "patches", "patches a second, applies among them", width=7),
    _rate("deletes", "DEL/s", "deletes", "deletes a second, also of collections"),
    _number("errors", "GET err", "get_errors", "GETs answered with 4xx or 5xx, except 404 and 429", width=7,
           priority=2, loud=1),
    _number("ended", "timeouts", lambda row: total((row.terminated_requests, row.aborted)),
            "requests that the server ended without an answer: apiserver_request_terminations_total, "
            "apiserver_request_aborts_total", width=8, loud=1, loud_style=FAILURE),
)  # fmt: skip

ADMISSION: tuple[Column[AdmissionRow], ...] = (
    _text("name", "webhook or plugin", "name", 20, flex=2, most=60,
          about="the webhook's or the plugin's name"),
    _text("kind", "kind", lambda row: (row.kind, "bold" if row.kind == WEBHOOK else "$ink-muted"), 7,
          about="webhook, or a plugin inside kube-apiserver"),
    _number("calls", "calls", "calls", "calls in the window", priority=0),
    _number("ms", "ms", "ms", "mean of a call: apiserver_admission_webhook_admission_duration_seconds",
            priority=0, unit="ms", loud=SLOW_ADMISSION_MS),
    _number("rejected", "refused", "rejected", "calls that rejected the request", width=7),
)  # fmt: skip

WATCHES: tuple[Column[ResourceRoutes], ...] = (
    _resource(),
    _number("watches", "open", "watches",
           "open WATCHes, kube-apiserver's own included: apiserver_longrunning_requests", priority=0),
    _rate("events", "sent/s", "watch_events", "events a second sent to clients: apiserver_watch_events_total",
          width=6, priority=0),
    _rate("bytes", "B/s", "watch_bytes", "bytes a second sent to clients: apiserver_watch_events_sizes",
          priority=0, unit="B"),
    _rate("received", "from etcd", "cache_events", "events a second from etcd", width=9),
    _number("fan_out", "fan-out", "fan_out", "events sent for each one received", width=7, shown=times,
           mean_of="cache_events"),
    _number("watch_lists", "WatchList", "watch_lists",
           "WatchLists that became live: apiserver_watch_list_duration_seconds", width=9, priority=2),
    _number("watch_list_ms", "ms", "watch_list_ms", "mean until a WatchList is live", priority=3, unit="ms",
           mean_of="watch_lists"),
    _rate("initial", "initial/s", "init_events",
          "initial events a second sent to new WATCHes: apiserver_init_events_total", width=9),
    _number("terminated", "cut off", "terminated_watchers",
           "WATCHes cut off because the client read too slowly", width=7, priority=0, loud=1,
           loud_style=FAILURE),
)  # fmt: skip

LEVELS: tuple[Column[LevelRow], ...] = (
    _text("level", "level", "level", 16, flex=1, most=40, about="the priority level"),
    _number("nominal", "nominal", "nominal",
            "seats by its shares: apiserver_flowcontrol_nominal_limit_seats", width=7),
    _number("current", "seats", "current", "seats after borrowing", priority=0),
    _number("held", "held", "executing_seats", "seats held now, by the dumps or the last scrape", priority=0),
    _number("executing", "executing", "executing", "requests executing now", width=9, priority=0),
    _number("queued", "queued", "queued", "requests waiting now", width=6, priority=0, loud=1),
    _number("dispatched", "req/s", "per_second", "requests a second that got their seats", shown=per_second),
    _number("rejected", "429", "rejected",
            "requests rejected: apiserver_flowcontrol_rejected_requests_total", priority=0, loud=1,
            loud_style=FAILURE),
    _number("p50", "wait p50", "wait_p50", "half of the requests waited at most this", width=8, unit="ms",
            mean_of="waits"),
    _number("p99", "p99 ms", "wait_p99", "99 of 100 waited at most this", width=6, unit="ms", loud=1_000,
            mean_of="waits"),
)  # fmt: skip

SCHEMAS: tuple[Column[rows.SchemaLine], ...] = (
    _number("precedence", "prec.", "schema.precedence", "the lowest that matches decides", width=6,
            priority=0, shown="{:.0f}".format),
    _text("schema", "flow schema", "schema.name", 18, flex=2, most=44, about="the FlowSchema"),
    _text("level", "level", "schema.level", 14, flex=1, most=30,
          about="the priority level that its requests go to"),
    _text("flow", "flows", lambda row: row.schema.distinguisher or NOTHING, 11, priority=3,
          about="what separates its flows: each gets a few queues"),
    _number("executing", "executing", "executing", "requests executing now: dumps", width=9),
    _number("queued", "queued", "queued", "requests waiting now: dumps", width=6, loud=1),
    Column("subjects", "subjects", lambda row: ", ".join(row.schema.subjects), width=16, flex=4, priority=2,
           about="whose requests it matches, by its rules"),
)  # fmt: skip

QUEUES: tuple[Column[rows.QueueLine], ...] = (
    _text("level", "level", "queue.level", 16, flex=1, most=40, about="the priority level"),
    _text("replica", "replica", "replica", 7, priority=1, about="which process"),
    _number("index", "queue", "queue.index", "its number in the level", priority=0, shown="{:.0f}".format),
    _number("pending", "waiting", "queue.pending", "requests in it", width=7, priority=0, loud=1),
    _number("executing", "executing", "queue.executing", "its requests that execute", width=9, priority=0),
    _number("seats", "seats", "queue.seats", "seats that these hold", priority=0),
)  # fmt: skip


def _gate(on: bool | None) -> Cell:
    return UNKNOWN if on is None else ("on", "$success") if on else ("off", "$ink-muted")


GATES: tuple[Column[rows.GateLine], ...] = (
    _text("gate", "feature gate", "name", 30, flex=1, most=60, about="kubernetes_feature_enabled"),
    Column("server", "server", lambda row: _gate(row.on), lambda row: row.on, width=6, priority=0,
           about="as the server reports it"),
    Column("default", "default", lambda row: _gate(row.default), lambda row: str(row.default), width=7,
           priority=0, about="of its version; ? for gates that do not affect reads"),
    _text("differs", "",
          lambda row: ("◂ set by the operator", "bold $warning") if row.default not in (None, row.on) else "",
          22, priority=1, about="whether it differs from the default: routes are predicted with it"),
)  # fmt: skip

REPLICAS: tuple[Column[rows.ReplicaLine], ...] = (
    _text("replica", "replica", "name", 7, about="in the order of discovery"),
    Column("state", "state", lambda row: ("● scraped", "$success") if row.present
           else ("○ down", "bold $error") if row.row.down is not None else ("○ gone", "bold $warning"),
           width=9, priority=0, about="down: it does not answer; gone: no scrape of it for three intervals"),
    _text("version", "version", lambda row: row.row.scrape.version or UNKNOWN, 7, priority=1,
          about="the minor"),
    Column("uptime", "uptime", lambda row: duration(row.uptime), lambda row: row.uptime, 7, align="right",
           priority=1, about="since the process began", unit="s"),
    _number("memory", "memory", "row.scrape.memory_bytes", "process_resident_memory_bytes", width=6,
            unit="B"),
    _number("grown", "±memory", "growth.grown", "more or less memory than a minute ago", width=7, priority=2,
            unit="B", shown=lambda value: f"{'+' if value > 0 else '−'}{short_bytes(abs(value))}"),
    _number("cores", "cores", "growth.cores", "CPU cores used, mean: process_cpu_seconds_total",
            shown=_hundredths),
    _number("reading", "reads", "row.scrape.reading", "read requests in flight", priority=2),
    _number("writing", "writes", "row.scrape.writing", "other requests in flight", width=6, priority=2),
    _number("page", "page", "row.scrape.page_bytes", "bytes of its /metrics", priority=3, unit="B"),
    Column("ms", "scrape ms", lambda row: milliseconds(row.row.scrape.ms), lambda row: row.row.scrape.ms, 9,
           align="right", priority=2, about="time that the last scrape took", unit="ms"),
)  # fmt: skip

FINDINGS: tuple[Column[Finding], ...] = (
    Column("severity", "", lambda row: SEVERITY[row.severity], lambda row: row.severity, 10,
           priority=0, descending=True, about="how urgent it is"),
    _text("subject", "what", "subject", 12, flex=1, most=30,
          about="the resource or the priority level"),
    _text("text", "finding", "text", 20, flex=4, about="what was seen"),
    _text("metric", "metric", lambda row: (row.metric, "$ink-muted"), 20, flex=2, priority=5,
          about="the metric that says so"),
)  # fmt: skip
