"""Columns of the live tables. `?`: the server does not report the figure; `·`: zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.core.format import (
    duration,
    integer,
    milliseconds,
    short_bytes,
    short_count,
    short_milliseconds,
    times,
)
from ktui.core.live.findings import SLOW_ADMISSION_MS, Severity
from ktui.core.live.processes import WEBHOOK, AdmissionRow
from ktui.core.live.window import total
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.tui.live.live_rows import (
    CacheAt,
    FindingLine,
    GateLine,
    LevelLine,
    QueueLine,
    ReplicaLine,
    RouteLine,
    RunningLine,
    SchemaLine,
    UserLine,
)
from ktui.tui.widgets.lines import figure, resource_runs

UNKNOWN: Cell = ("?", "$ink-faint")
SEVERITY = {
    Severity.CRITICAL: ("▲ critical", "bold $error"),
    Severity.WARNING: ("▲ warning", "bold $warning"),
    Severity.NOTICE: ("· notice", "$ink-muted"),
}


def _number(
    name: str,
    title: str,
    value: Callable[[Any], float | None],
    about: str,
    *,
    width: int = 5,
    priority: int = 1,
    unit: str = "",
    loud: float = 0,
    loud_style: str = "bold $warning",
    shown: Callable[[float], str] | None = None,
    of: Callable[[Any], float | None] = lambda row: None,
) -> Column[Any]:
    """Return a column of numbers, highlighted from `loud` on.

    A mean is shown as none, not as unknown, where `of` returns 0: there was nothing to average.
    """
    show = shown or (short_bytes if unit == "B" else short_milliseconds if unit == "ms" else short_count)

    def cell(row: Any) -> Cell:
        number = value(row)
        if number is None:
            return NOTHING if of(row) == 0 else UNKNOWN
        if not number:
            return NOTHING
        quiet = getattr(row, "checks", None) is not None  # what the server itself reads is no alarm
        return (show(number), loud_style if loud and number >= loud and not quiet else "$foreground")

    return figure(
        name, title, lambda row: value(row) or 0, about, width=width, priority=priority, unit=unit, cell=cell
    )


def _resource(of: Callable[[Any], str], width: int = 16, wish: int = 0) -> Column[Any]:
    return Column(
        "resource", "resource", lambda row: resource_runs(of(row)), of, width, flex=2, most=56, wish=wish,
        priority=0, about="the Kubernetes resource",
    )  # fmt: skip


def _per_second(value: float) -> str:
    return f"{value:.2f}" if value < 0.095 else f"{value:.1f}" if value < 9.95 else short_count(value)


def _rate(
    name: str, title: str, value: Callable[[RouteLine], float | None], about: str, **more: Any
) -> Column[Any]:
    def per_second(row: RouteLine) -> float | None:
        return row.routes.per_second(value(row))

    return _number(name, title, per_second, about, shown=_per_second, **more)


# Requests: routes by resource.
ROUTES: tuple[Column[RouteLine], ...] = (
    _resource(lambda row: row.routes.resource),
    _rate("lists", "LIST/s", lambda row: row.routes.answered if row.checks is None else 0,
          "LIST requests of clients a second, without 429s: apiserver_request_total", width=6, priority=0),
    _rate("cache", "C /s", lambda row: row.routes.cache.lists,
          "LISTs a second from the watch cache: apiserver_cache_list_total", priority=0),
    _rate("etcd", "E /s", lambda row: row.routes.etcd.lists,
          "LISTs a second from etcd, without revision probes: apiserver_storage_list_total", priority=0,
          loud=1e-9),
    _rate("read_cache", "read C", lambda row: row.routes.cache.fetched,
          "objects a second read in the cache: apiserver_cache_list_fetched_objects_total", width=6,
          priority=1),
    _rate("read_etcd", "read E", lambda row: row.routes.etcd.fetched,
          "objects a second read from etcd: apiserver_storage_list_fetched_objects_total", width=6,
          priority=0, loud=500),
    _rate("returned", "sent", lambda row: row.routes.returned, "objects a second returned", priority=3),
    _number("amplification", "ampl.", lambda row: row.routes.amplification,
            "objects read for each one returned", width=6, priority=1, loud=50, shown=times,
            of=lambda row: row.routes.returned),
    _rate("bytes", "B/s", lambda row: row.routes.bytes, "response bytes a second: apiserver_response_sizes",
          priority=2, unit="B"),
    _number("mean", "B each", lambda row: row.routes.mean_bytes, "mean bytes of an answer", width=6,
            priority=5, unit="B", of=lambda row: row.routes.lists),
    _number("ms", "ms", lambda row: row.routes.ms, "mean of a LIST: apiserver_request_duration_seconds",
            priority=1, unit="ms", of=lambda row: row.routes.lists),
    _number("cluster_ms", "ms all", lambda row: row.routes.cluster_ms, "mean of LISTs over all namespaces",
            width=6, priority=6, unit="ms", of=lambda row: row.routes.cluster_lists),
    _number("namespace_ms", "ms ns", lambda row: row.routes.namespace_ms, "mean of LISTs of one namespace",
            priority=6, unit="ms", of=lambda row: row.routes.namespace_lists),
    _number("consistent", "fresh", lambda row: row.routes.success,
            "consistent reads that the cache answered: apiserver_watch_cache_consistent_read_total",
            priority=4),
    _number("fallback", "fallb", lambda row: row.routes.fallback,
            "consistent reads that fell back to etcd, the cache being 3 s late", priority=2, loud=1,
            loud_style="bold $error"),
    _number("wait", "wait", lambda row: row.routes.wait_ms,
            "mean wait for the cache: apiserver_watch_cache_read_wait_seconds", priority=5, unit="ms",
            of=lambda row: row.routes.waits),
    _number("errors", "err", lambda row: row.routes.errors, "LISTs answered with 4xx or 5xx", priority=5,
            width=4, loud=1),
    _number("rejected", "429", lambda row: row.routes.rejected, "LISTs answered with 429", priority=3,
            width=4, loud=1, loud_style="bold $error"),
)  # fmt: skip

_SHORT = ("resource", "lists", "rejected", "cache", "etcd", "read_etcd", "amplification", "bytes", "ms",
          "fallback")  # fmt: skip
SHORT_ROUTES = tuple(column for column in ROUTES if column.id in _SHORT)


RUNNING: tuple[Column[RunningLine], ...] = (
    Column("state", "state",
           lambda row: ("◐ queued", "bold $warning") if row.request.queued else ("● executing", "$success"),
           lambda row: "queued" if row.request.queued else "executing", 11,
           priority=0, about="whether it holds seats or waits for them"),
    Column("user", "user", lambda row: row.request.user, width=16, flex=2, most=44, priority=0,
           about="who sent it"),
    Column("verb", "verb", lambda row: row.request.verb.upper(), width=6, priority=2, about="the verb"),
    Column("path", "path", lambda row: row.request.path, width=16, flex=4, priority=0, tail=True,
           about="the path; queries are in no dump"),
    Column("level", "level", lambda row: row.request.level, width=14, flex=1, most=24, priority=1,
           about="the priority level"),
    Column("schema", "flow schema", lambda row: row.request.schema, width=14, flex=1, most=30, priority=5,
           about="the flow schema that put it there"),
    _number("seats", "seats", lambda row: row.request.seats, "seats that it holds, or will", priority=1,
            loud=5),
    _number("age", "s", lambda row: row.age, "seconds since it arrived", priority=0, unit="s", loud=1,
            shown=lambda value: f"{value:.1f}"),
    Column("replica", "replica", lambda row: (row.replica, "$ink-muted"), width=7, priority=4,
           about="which replica has it"),
)  # fmt: skip

USERS: tuple[Column[UserLine], ...] = (
    Column("user", "user", lambda row: row.user, width=20, flex=2, most=60, priority=0, about="who"),
    Column("level", "level", lambda row: row.level, width=14, flex=1, most=24, priority=1,
           about="the priority level"),
    _number("seats", "seats", lambda row: row.seats, "seats held, mean of the samples", width=6, priority=0,
            shown=lambda value: f"{value:.2f}"),
    _number("executing", "executing", lambda row: row.executing, "requests executing, mean", width=9,
            priority=1, shown=lambda value: f"{value:.2f}"),
    _number("queued", "queued", lambda row: row.queued, "requests waiting, mean", width=6, priority=1,
            loud=0.01, shown=lambda value: f"{value:.2f}"),
    Column("path", "most often", lambda row: row.path, width=16, flex=3, priority=2, tail=True,
           about="the path seen most often"),
)  # fmt: skip

CACHES: tuple[Column[CacheAt], ...] = (
    _resource(lambda row: row.resource, wish=33),
    Column("replica", "replica", lambda row: row.replica, width=7, priority=0, about="which process"),
    Column("rv", "rv", lambda row: integer(row.rv) if row.rv is not None else UNKNOWN,
           lambda row: row.rv or 0, 14, align="right", priority=0, descending=True,
           about="the cache's resourceVersion: apiserver_watch_cache_resource_version", unit="rv"),
    _number("behind", "behind", lambda row: row.behind,
            "revisions behind the newest at any replica, each at its last scrape", width=7,
            priority=0, loud=1_000),
    _number("lag", "lag", lambda row: row.lag, "revisions behind etcd by the newest probe (p)", priority=1,
            loud=1_000, of=lambda row: 0 if row.probe is None or not row.lag else None),
    _number("objects", "objects", lambda row: row.routes.objects, "objects: apiserver_resource_objects",
            width=7, priority=1),
    _number("bytes", "bytes", lambda row: row.routes.size_bytes,
            "the server's own estimate: apiserver_resource_size_estimate_bytes", priority=5, unit="B"),
    _number("capacity", "buffer", lambda row: row.capacity,
            "length of the event buffer: watch_cache_capacity", width=6, priority=1),
    _number("grown", "grown", lambda row: row.routes.capacity_increases, "times that it was enlarged",
            priority=5, loud=1),
    _number("events", "ev/s", lambda row: row.routes.per_second(row.routes.cache_events),
            "events a second from etcd", priority=1, shown=_per_second),
    _number("refills", "refills", lambda row: row.routes.refills,
            "times that it was filled again, each a full read of etcd", width=7, priority=1, loud=1),
    _number("wait", "wait ms", lambda row: row.routes.wait_ms, "mean wait of readers for it", width=7,
            priority=2, unit="ms", of=lambda row: row.routes.waits),
    _number("checks", "checks", lambda row: row.routes.checks_ok, "comparisons with etcd that agreed",
            width=6, priority=5),
    _number("failed", "differ", lambda row: row.routes.checks_failed, "comparisons with etcd that differed",
            width=6, priority=3, loud=1, loud_style="bold $error"),
)  # fmt: skip

ETCD: tuple[Column[RouteLine], ...] = (
    _resource(lambda row: row.routes.resource),
    _rate("calls", "calls/s", lambda row: row.routes.etcd_calls,
          "calls of etcd a second: etcd_request_duration_seconds_count", width=7, priority=0),
    _rate("gets", "get/s", lambda row: row.routes.etcd_gets, "gets a second, revision probes among them",
          priority=1),
    _rate("list", "list/s", lambda row: row.routes.etcd_list_calls, "list calls a second, a page each",
          width=6, priority=0),
    _rate("writes", "write/s", lambda row: row.routes.etcd_writes, "creates, updates and deletes a second",
          width=7, priority=1),
    _number("ms", "ms", lambda row: row.routes.etcd_ms, "mean of a call", priority=0, unit="ms", loud=100,
            of=lambda row: row.routes.etcd_calls),
    _number("errors", "errors", lambda row: row.routes.etcd_errors, "calls that failed", width=6, priority=1,
            loud=1, loud_style="bold $error"),
    _rate("read", "read/s", lambda row: row.routes.etcd.fetched, "objects a second that LISTs read from etcd",
          width=6, priority=0, loud=500),
    _number("objects", "objects", lambda row: row.routes.objects, "objects stored", width=7, priority=0),
    _number("bytes", "bytes", lambda row: row.routes.size_bytes, "the server's own estimate", priority=1,
            unit="B"),
)  # fmt: skip

VERBS: tuple[Column[RouteLine], ...] = (
    _resource(lambda row: row.routes.resource),
    _rate("gets", "GET/s", lambda row: row.routes.gets, "GETs a second: apiserver_request_total", priority=0),
    _rate("lists", "LIST/s", lambda row: row.routes.lists, "LISTs of clients a second, with 429s", width=6,
          priority=0),
    _rate("watches", "WATCH/s", lambda row: row.routes.watch_requests, "WATCHes that ended a second", width=7,
          priority=1),
    _rate("creates", "POST/s", lambda row: row.routes.creates, "creates a second", width=6, priority=1),
    _rate("updates", "PUT/s", lambda row: row.routes.updates, "updates a second", priority=1),
    _rate("patches", "PATCH/s", lambda row: row.routes.patches, "patches a second, applies among them",
          width=7, priority=1),
    _rate("deletes", "DEL/s", lambda row: row.routes.deletes, "deletes a second, also of collections",
          priority=1),
    _number("errors", "GET err", lambda row: row.routes.get_errors,
            "GETs answered with 4xx or 5xx, except 404 and 429", width=7, priority=2, loud=1),
    _number("ended", "timeouts", lambda row: total((row.routes.terminated_requests, row.routes.aborted)),
            "requests that the server ended without an answer: apiserver_request_terminations_total, "
            "apiserver_request_aborts_total", width=8, priority=1, loud=1, loud_style="bold $error"),
)  # fmt: skip

ADMISSION: tuple[Column[AdmissionRow], ...] = (
    Column("name", "webhook or plugin", lambda row: row.name, width=20, flex=2, most=60, priority=0,
           about="the webhook's or the plugin's name"),
    Column("kind", "kind", lambda row: (row.kind, "bold" if row.kind == WEBHOOK else "$ink-muted"), width=7,
           priority=0, about="webhook, or a plugin inside kube-apiserver"),
    _number("calls", "calls", lambda row: row.calls, "calls in the window", priority=0),
    _number("ms", "ms", lambda row: row.ms,
            "mean of a call: apiserver_admission_webhook_admission_duration_seconds", priority=0, unit="ms",
            loud=SLOW_ADMISSION_MS),
    _number("rejected", "refused", lambda row: row.rejected, "calls that rejected the request", width=7,
            priority=1),
)  # fmt: skip

WATCHES: tuple[Column[RouteLine], ...] = (
    _resource(lambda row: row.routes.resource),
    _number("watches", "open", lambda row: row.routes.watches,
            "open WATCHes, kube-apiserver's own included: apiserver_longrunning_requests", priority=0),
    _rate("events", "sent/s", lambda row: row.routes.watch_events,
          "events a second sent to clients: apiserver_watch_events_total", width=6, priority=0),
    _rate("bytes", "B/s", lambda row: row.routes.watch_bytes,
          "bytes a second sent to clients: apiserver_watch_events_sizes", priority=0, unit="B"),
    _rate("received", "from etcd", lambda row: row.routes.cache_events, "events a second from etcd", width=9,
          priority=1),
    _number("fan_out", "fan-out", lambda row: row.routes.fan_out, "events sent for each one received",
            width=7, priority=1, shown=times, of=lambda row: row.routes.cache_events),
    _number("watch_lists", "WatchList", lambda row: row.routes.watch_lists,
            "WatchLists that became live: apiserver_watch_list_duration_seconds", width=9, priority=2),
    _number("watch_list_ms", "ms", lambda row: row.routes.watch_list_ms,
            "mean until a WatchList is live", priority=3, unit="ms", of=lambda row: row.routes.watch_lists),
    _rate("initial", "initial/s", lambda row: row.routes.init_events,
          "initial events a second sent to new WATCHes: apiserver_init_events_total", width=9, priority=1),
    _number("terminated", "cut off", lambda row: row.routes.terminated,
            "WATCHes cut off because the client read too slowly", width=7, priority=0, loud=1,
            loud_style="bold $error"),
)  # fmt: skip

LEVELS: tuple[Column[LevelLine], ...] = (
    Column("level", "level", lambda row: row.level, width=16, flex=1, most=40, priority=0,
           about="the priority level"),
    _number("nominal", "nominal", lambda row: row.row.nominal,
            "seats by its shares: apiserver_flowcontrol_nominal_limit_seats", width=7, priority=1),
    _number("current", "seats", lambda row: row.row.current, "seats after borrowing", priority=0),
    _number("held", "held", lambda row: row.held, "seats held now, by the dumps or the last scrape",
            priority=0),
    _number("executing", "executing", lambda row: row.executing, "requests executing now", width=9,
            priority=0),
    _number("queued", "queued", lambda row: row.queued, "requests waiting now", width=6, priority=0, loud=1),
    _number("dispatched", "req/s", lambda row: row.dispatched, "requests a second that got their seats",
            priority=1, shown=_per_second),
    _number("rejected", "429", lambda row: row.row.rejected,
            "requests rejected: apiserver_flowcontrol_rejected_requests_total", priority=0, loud=1,
            loud_style="bold $error"),
    _number("p50", "wait p50", lambda row: row.row.wait_p50, "half of the requests waited at most this",
            width=8, priority=1, unit="ms", of=lambda row: row.row.waits),
    _number("p99", "p99 ms", lambda row: row.row.wait_p99, "99 of 100 waited at most this", width=6,
            priority=1, unit="ms", loud=1_000, of=lambda row: row.row.waits),
)  # fmt: skip

SCHEMAS: tuple[Column[SchemaLine], ...] = (
    _number("precedence", "prec.", lambda row: row.schema.precedence, "the lowest that matches decides",
            width=6, priority=0, shown=lambda value: f"{value:.0f}"),
    Column("schema", "flow schema", lambda row: row.schema.name, width=18, flex=2, most=44, priority=0,
           about="the FlowSchema"),
    Column("level", "level", lambda row: row.schema.level, width=14, flex=1, most=30, priority=0,
           about="the priority level that its requests go to"),
    Column("flow", "flows", lambda row: row.schema.distinguisher or NOTHING, width=11, priority=3,
           about="what separates its flows: each gets a few queues"),
    _number("executing", "executing", lambda row: row.executing, "requests executing now: dumps", width=9,
            priority=1),
    _number("queued", "queued", lambda row: row.queued, "requests waiting now: dumps", width=6, priority=1,
            loud=1),
    Column("subjects", "subjects", lambda row: ", ".join(row.schema.subjects), width=16, flex=4, priority=2,
           about="whose requests it matches, by its rules"),
)  # fmt: skip

QUEUES: tuple[Column[QueueLine], ...] = (
    Column("level", "level", lambda row: row.queue.level, width=16, flex=1, most=40, priority=0,
           about="the priority level"),
    Column("replica", "replica", lambda row: row.replica, width=7, priority=1, about="which process"),
    _number("index", "queue", lambda row: row.queue.index, "its number in the level", priority=0,
            shown=lambda value: f"{value:.0f}"),
    _number("pending", "waiting", lambda row: row.queue.pending, "requests in it", width=7, priority=0,
            loud=1),
    _number("executing", "executing", lambda row: row.queue.executing, "its requests that execute", width=9,
            priority=0),
    _number("seats", "seats", lambda row: row.queue.seats, "seats that these hold", priority=0),
)  # fmt: skip


def _gate(on: bool | None) -> Cell:
    return UNKNOWN if on is None else ("on", "$success") if on else ("off", "$ink-muted")


GATES: tuple[Column[GateLine], ...] = (
    Column("gate", "feature gate", lambda row: row.name, width=30, flex=1, most=60, priority=0,
           about="kubernetes_feature_enabled"),
    Column("server", "server", lambda row: _gate(row.on), lambda row: row.on, width=6, priority=0,
           about="as the server reports it"),
    Column("default", "default", lambda row: _gate(row.default), lambda row: str(row.default), width=7,
           priority=0, about="of its version; ? for gates that do not affect reads"),
    Column("differs", "", lambda row: ("◂ set by the operator", "bold $warning")
           if row.default not in (None, row.on) else "", width=22, priority=1,
           about="whether it differs from the default: routes are predicted with it"),
)  # fmt: skip

REPLICAS: tuple[Column[ReplicaLine], ...] = (
    Column("replica", "replica", lambda row: row.name, width=7, priority=0,
           about="in the order of discovery"),
    Column("state", "state",
           lambda row: ("● scraped", "$success") if row.present
           else ("○ down", "bold $error") if row.row.down is not None else ("○ gone", "bold $warning"),
           width=9, priority=0,
           about="down: it does not answer; gone: no scrape of it for three intervals"),
    Column("version", "version", lambda row: row.row.scrape.version or UNKNOWN, width=7, priority=1,
           about="the minor"),
    Column("uptime", "uptime", lambda row: duration(row.uptime), lambda row: row.uptime, 7, align="right",
           priority=1, about="since the process began", unit="s"),
    _number("memory", "memory", lambda row: row.row.scrape.memory_bytes, "process_resident_memory_bytes",
            width=6, priority=1, unit="B"),
    _number("grown", "±memory", lambda row: row.growth.grown, "more or less memory than a minute ago",
            width=7, priority=2, unit="B",
            shown=lambda value: f"{'+' if value > 0 else '−'}{short_bytes(abs(value))}"),
    _number("cores", "cores", lambda row: row.growth.cores,
            "CPU cores used, mean: process_cpu_seconds_total", priority=1,
            shown=lambda value: f"{value:.2f}"),
    _number("reading", "reads", lambda row: row.row.scrape.reading, "read requests in flight", priority=2),
    _number("writing", "writes", lambda row: row.row.scrape.writing, "other requests in flight", width=6,
            priority=2),
    _number("page", "page", lambda row: row.row.scrape.page_bytes, "bytes of its /metrics", priority=3,
            unit="B"),
    Column("ms", "scrape ms", lambda row: milliseconds(row.row.scrape.ms), lambda row: row.row.scrape.ms, 9,
           align="right", priority=2, about="time that the last scrape took", unit="ms"),
)  # fmt: skip

FINDINGS: tuple[Column[FindingLine], ...] = (
    Column("severity", "", lambda row: SEVERITY[row.finding.severity], lambda row: row.finding.severity, 10,
           priority=0, descending=True, about="how urgent it is"),
    Column("subject", "what", lambda row: row.finding.subject, width=12, flex=1, most=30, priority=0,
           about="the resource or the priority level"),
    Column("text", "finding", lambda row: row.finding.text, width=20, flex=4, priority=0,
           about="what was seen"),
    Column("metric", "metric", lambda row: (row.finding.metric, "$ink-muted"), width=20, flex=2, priority=5,
           about="the metric that says so"),
)  # fmt: skip
