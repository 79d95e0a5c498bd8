"""The table of findings, and those on one resource: its figures against those of a healthy cluster.

`ktui observe` and the dashboard judge a window by the table, `ktui rules` makes alert rules of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import Any

import msgspec

from ktui.core.format import frequency, integer, long_milliseconds, many, times
from ktui.core.live.processes import LevelRow
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.kube.gates import default_of

AMPLIFIED = 50  # objects read for each one returned
LARGE = 500  # objects of a resource whose LISTs from etcd are worth a finding
OFTEN, LEAST_LISTS = 0.1, 5  # LISTs per second of a resource that no client watches, and in the window
LEAST_WAITS = 20  # reads that waited for a cache: fewer say nothing about it
SLOW_WAIT_MS = 250.0  # mean wait of reads that a healthy storage does not cause
LATE_SHARE = 0.01  # of these waits that take over a second
MANY_EVENTS = 1_000.0  # initial events per second of a resource
LEAST_FETCHED = 1_000  # objects within the window: fewer cost little, whatever the factor
LIST_MEMORY = 0.1  # share of a replica's memory that answers of LISTs hold
SLOW_ADMISSION_MS, LEAST_CALLS = 500.0, 3  # mean of a webhook's or plugin's calls
TLS_ERRORS = 0.2  # failed handshakes per second
UNCACHED = ("events",)  # resources that every LIST reads from etcd
WHO = "metrics do not name the client: `ktui audit AUDIT.LOG` ranks the clients of an audit log"


class Severity(IntEnum):
    """How urgent; `--fail-on` names one of them."""

    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


class Finding(msgspec.Struct, frozen=True):
    """`cost` ranks findings of one severity: objects read per second, or requests."""

    id: str
    severity: Severity
    subject: str  # a resource or a priority level
    text: str
    metric: str
    advice: str
    cost: float = 0.0


class FindingKind(msgspec.Struct, frozen=True):
    """`title`: what was found, without numbers. `advice` holds where a finding has none of its own."""

    id: str
    severity: Severity
    title: str
    metric: str
    advice: str = ""


_N, _W, _C = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL
_CONSISTENT = "apiserver_watch_cache_consistent_read_total"
_CHECKS = "apiserver_storage_consistency_checks_total"
_BEHIND = "the cache is behind etcd: look at etcd's latency and defragmentation"
_KINDS = (
    FindingKind(
        "consistent-read-fallback", _C, "consistent LISTs waited 3 s for the cache and then read etcd",
        f'{_CONSISTENT}{{fallback="true"}}', f"{_BEHIND}, and at the lag on the Cache screen",
    ),
    FindingKind(
        "consistent-read-rejected", _C, "consistent LISTs got a 429: the cache was 3 s behind",
        f'{_CONSISTENT}{{fallback="skipped"}}', _BEHIND,
    ),
    FindingKind(
        "slow-consistent-reads", _W, "reads wait long for the cache",
        "apiserver_watch_cache_read_wait_seconds",
        "the storage reports no timely progress (kine, dqlite), etcd stalls (look at its latency), or "
        "clients send a resourceVersion that is not there yet and get a 504",
    ),
    FindingKind(
        "cache-cannot-fill", _C, "the watch cache could not be filled",
        "apiserver_watch_cache_initialization_errors_total",
        "a conversion webhook that fails, or an object that cannot be decoded? see kube-apiserver's log; "
        "until then LISTs and WATCHes of it get 429 or read etcd",
    ),
    FindingKind(
        "initial-events", _N, "new WATCHes are sent many initial events",
        "apiserver_init_events_total, apiserver_watch_list_duration_seconds",
        f"clients that restart or lose their WATCH receive everything again; {WHO}",
    ),
    FindingKind(
        "requests-terminated", _W, "requests ended without an answer (timeout, 504)",
        "apiserver_request_terminations_total, apiserver_request_aborts_total",
        "they took longer than --request-timeout: look at slow webhooks, at etcd, and at large LISTs",
    ),
    FindingKind(
        "etcd-lists", _W, "LISTs by clients read many objects from etcd",
        "apiserver_storage_list_fetched_objects_total",
    ),
    FindingKind(
        "amplification", _W, "LISTs read many objects for each one returned", "",
        "a selector that no index serves makes the server read all objects: use spec.nodeName or the "
        f"namespace where possible, or one WATCH instead of LISTs; {WHO}",
    ),
    FindingKind(
        "list-memory", _W, "answers of LISTs being sent amount to much of kube-apiserver's memory",
        "apiserver_response_sizes, apiserver_request_duration_seconds, process_resident_memory_bytes",
        "read in pages (limit=500), with selectors, or by one WATCH; before 1.33 each JSON LIST is in memory "
        f"as a whole until the client has read it, later ones are streamed; {WHO}",
    ),
    FindingKind(
        "cache-refilled", _W, "the watch cache was filled again: each time reads all of etcd",
        "apiserver_watch_cache_initializations_total",
        "its watch of etcd broke off: look for compaction or restarts in etcd's log",
    ),
    FindingKind(
        "event-buffer-grows", _N, "the event buffer was enlarged", "watch_cache_capacity_increase_total",
        "objects change faster than the buffer lasts 75 s: find what writes so often, "
        "for a client that reconnects late must list again",
    ),
    FindingKind(
        "cache-check-error", _W, "consistency checks of the watch cache end with an error",
        f'{_CHECKS}{{status="error"}}',
        "nothing was compared: kube-apiserver's log has the reason (cache not ready, etcd timed out)",
    ),
    FindingKind(
        "cache-inconsistent", _C, "the watch cache differs from etcd", f'{_CHECKS}{{status="failure"}}',
        "restart the kube-apiserver replica and report it: reads from this cache are wrong",
    ),
    FindingKind(
        "slow-watchers", _W, "WATCHes cut off because the client read too slowly",
        "apiserver_terminated_watchers_total", f"each of them lists again; {WHO}",
    ),
    FindingKind(
        "polled", _N, "listed often and watched by no client",
        'apiserver_request_total{verb="LIST"}, apiserver_longrunning_requests{verb="WATCH"}',
        f"one WATCH (an informer) replaces the polling, unless these are pages of one read; {WHO}",
    ),
    *(
        FindingKind(
            f"cluster-wide-{resource}", severity, "listed over all namespaces",
            'apiserver_request_duration_seconds_count{verb="LIST",scope="cluster"}',
            "a client that holds all of them needs the memory and the right to read all: list by namespace, "
            f"by name or with a label selector; {WHO}",
        )
        for resource, severity in (("secrets", _W), ("configmaps", _N))
    ),
    FindingKind(
        "rejected", _C, "requests were rejected with 429",
        "apiserver_flowcontrol_rejected_requests_total",
        "the Flow control screen shows who holds the seats: make those requests cheaper, "
        "or give the level more shares",
    ),
    FindingKind(
        "queue-never-empty", _W, "requests are always queued",
        "apiserver_flowcontrol_current_inqueue_requests",
        "the level is short of seats: the Flow control screen shows who holds them",
    ),
    FindingKind(
        "slow-webhook", _W, "an admission webhook is slow",
        "apiserver_admission_webhook_admission_duration_seconds",
        "every write that it matches waits for it and holds its seats: look at the webhook's own server, "
        "narrow its rules, or give it a short timeoutSeconds",
    ),
    FindingKind(
        "slow-admission", _W, "an admission plugin is slow",
        "apiserver_admission_controller_admission_duration_seconds",
        "every write that it matches waits for it and holds its seats",
    ),
    FindingKind(
        "tls-handshake-errors", _N, "TLS handshakes fail", "apiserver_tls_handshake_errors_total",
        "a client that does not trust the certificate, or a load balancer that probes without TLS",
    ),
    FindingKind(
        "metrics-denied", _C, "metrics cannot be read", "/metrics",
        "`ktui rbac` prints the ClusterRole that grants it",
    ),
    FindingKind(
        "replica-down", _W, "a replica does not answer",
        "/debug/api_priority_and_fairness/dump_requests, /readyz",
        "a restart, or an outage of it: its figures are those of its last scrape",
    ),
    FindingKind(
        "replicas-not-reached", _N, "not all replicas were reached",
        "process_start_time_seconds; Leases in kube-system",
        "the load balancer gave no connection to the others: --prometheus reads all of them",
    ),
    FindingKind(
        "not-ready", _C, "a readiness check fails", "/readyz?verbose",
        "the replica takes no traffic from a load balancer until it passes",
    ),
    FindingKind(
        "hidden-metrics", _N, "metrics are hidden or disabled by the server",
        "hidden_metrics_total, disabled_metrics_total",
        "figures that show ? may be among them: --show-hidden-metrics-for-version on the server",
    ),
)  # fmt: skip
KINDS = {kind.id: kind for kind in _KINDS}


def finding(id_: str, subject: str, text: str, cost: float = 0.0, **other: Any) -> Finding:
    """Return a finding of a kind in the table. `other`: its own severity, metric or advice."""
    kind = KINDS[id_]
    fields = {"severity": kind.severity, "metric": kind.metric, "advice": kind.advice, **other}
    return Finding(id_, subject=subject, text=text, cost=cost, **fields)


def holds_lists(minor: int) -> bool:
    """True before 1.33: from then on an answer is written item by item, and none is held as a whole."""
    return not default_of("StreamingCollectionEncodingToJSON", minor)


def etcd_lists_advice(minor: int, *, fallback: bool) -> str:
    """Return why LISTs of a version read etcd, and what to do. `fallback`: the cache was late for some."""
    if minor < 31:
        why = (
            "before 1.31 every LIST without resourceVersion=0 reads etcd: let clients send resourceVersion=0"
        )
        return f"{why}; {WHO}"
    why = "from 1.31 on a LIST without resourceVersion comes from the cache: "
    why += "resourceVersionMatch=Exact" + ("" if minor >= 34 else ", a continue token")
    why += ", a cache that is not ready" + (" or a fallback" if fallback else "") + " reads etcd"
    return f"{why}; {WHO}"


_PRIVATE = ("secrets", "configmaps")


def _found(row: ResourceRoutes, id_: str, text: str, cost: float | None, **other: Any) -> Finding:
    """Return a finding on the row's resource; `cost` is of the whole window, the finding's of a second."""
    return finding(id_, row.resource, text, rate(row, cost), **other)


def rate(row: ResourceRoutes | LevelRow, value: float | None) -> float:
    return (value or 0) / row.seconds if row.seconds else 0.0


def _fallbacks(row: ResourceRoutes) -> Iterator[Finding]:
    if row.consistent_fallback:
        lists = many(round(row.consistent_fallback), "consistent LIST")
        text = f"{lists} waited 3 s for the cache and then read etcd"
        yield _found(row, "consistent-read-fallback", text, row.etcd.fetched)
    if row.consistent_rejected:
        lists = many(round(row.consistent_rejected), "consistent LIST")
        text = f"{lists} got a 429: the cache was 3 s behind"
        yield _found(row, "consistent-read-rejected", text, row.consistent_rejected)


def _from_etcd(minor: int, row: ResourceRoutes) -> Iterator[Finding]:
    lists, fetched = row.etcd.lists or 0, row.etcd.fetched or 0
    if lists and lists <= (row.consistent_fallback or 0):
        return  # that finding has it
    if not lists or row.resource in UNCACHED or max(row.objects or 0, fetched / lists) < LARGE:
        return
    read, often = many(round(fetched), "object"), frequency(rate(row, fetched))
    text = f"{many(round(lists), 'LIST')} read {read} from etcd ({often} objects)"
    advice = etcd_lists_advice(minor, fallback=bool(row.consistent_fallback))
    yield _found(row, "etcd-lists", text, fetched, advice=advice)


def _amplified(row: ResourceRoutes) -> Iterator[Finding]:
    for served, where, family in ((row.cache, "the cache", "cache"), (row.etcd, "etcd", "storage")):
        factor, fetched = served.amplification, served.fetched or 0
        if fetched < LEAST_FETCHED or (factor is not None and factor < AMPLIFIED):
            continue
        factor_text = "none was returned" if factor is None else f"{times(factor)} as many as were returned"
        text = f"LISTs read {many(round(fetched), 'object')} in {where}: {factor_text}"
        metric = f"apiserver_{family}_list_fetched_objects_total ÷ …_returned_objects_total"
        yield _found(row, "amplification", text, fetched, metric=metric)


def _waits(row: ResourceRoutes) -> Iterator[Finding]:
    waits = row.waits or 0
    if waits < LEAST_WAITS or row.consistent_fallback or row.consistent_rejected:  # those findings have it
        return
    slow = waits - row.fast_waits if row.fast_waits is not None else 0
    if slow <= waits * LATE_SHARE and (row.wait_ms or 0) < SLOW_WAIT_MS:
        return
    average = long_milliseconds(row.wait_ms or 0)
    text = f"{many(round(waits), 'read')} waited for the cache, {average} on average"
    if slow > 0:
        text += f"; {integer(round(slow))} of them over a second"
    yield _found(row, "slow-consistent-reads", text, waits)


def _filling(row: ResourceRoutes) -> Iterator[Finding]:
    if row.init_errors:
        text = f"the watch cache could not be filled ({many(round(row.init_errors), 'time')})"
        yield _found(row, "cache-cannot-fill", text, row.objects)
    begun = rate(row, row.init_events)
    if begun >= MANY_EVENTS:
        took = f"; a WatchList took {long_milliseconds(row.watch_list_ms)}" if row.watch_list_ms else ""
        sent = many(round(row.init_events or 0), "initial event")
        text = f"new WATCHes were sent {sent} ({frequency(begun)}){took}"
        yield _found(row, "initial-events", text, row.init_events)


def _ended(row: ResourceRoutes) -> Iterator[Finding]:
    ended = (row.terminated_requests or 0) + (row.aborted or 0)
    if ended:
        text = f"{many(round(ended), 'request')} ended by kube-apiserver without an answer (timeout, 504)"
        yield finding("requests-terminated", row.resource or "other requests", text, rate(row, ended))


def _refills(row: ResourceRoutes) -> Iterator[Finding]:
    if row.refills:
        text = (
            f"the watch cache was filled again ({many(round(row.refills), 'time')}): each reads all of etcd"
        )
        yield _found(row, "cache-refilled", text, row.objects)
    if row.capacity_increases:
        text = f"the event buffer was enlarged {many(round(row.capacity_increases), 'time')}"
        yield _found(row, "event-buffer-grows", text, row.cache_events)


def _damage(row: ResourceRoutes) -> Iterator[Finding]:
    if row.checks_errored and row.checks_errored > (row.checks or 0):
        checks = many(round(row.checks_errored), "consistency check")
        text = f"{checks} of the watch cache ended with an error"
        severity = Severity.WARNING if row.checks_errored > 1 else Severity.NOTICE
        yield _found(row, "cache-check-error", text, row.objects, severity=severity)
    if row.checks_failed:
        yield _found(row, "cache-inconsistent", "the watch cache differs from etcd", row.cache.returned)
    if row.terminated_watchers:
        text = f"WATCHes cut off because the client read too slowly: {integer(row.terminated_watchers)}"
        yield _found(row, "slow-watchers", text, row.terminated_watchers * (row.objects or 1))


def _polling(row: ResourceRoutes) -> Iterator[Finding]:
    lists = rate(row, row.succeeded)
    if row.watches == 0 and lists >= OFTEN and (row.succeeded or 0) >= LEAST_LISTS:
        yield _found(row, "polled", f"listed {frequency(lists)} and watched by no client", row.fetched)


def _private(row: ResourceRoutes) -> Iterator[Finding]:
    lists = min(row.cluster_lists or 0, row.succeeded or 0)
    if row.resource in _PRIVATE and lists and row.returned != 0:  # not if it is known that none had objects
        text = f"{many(round(lists), 'LIST')} over all namespaces"
        yield _found(row, f"cluster-wide-{row.resource}", text, row.fetched)


def resource_findings(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    for check in (
        _fallbacks, _waits, _filling, _ended, partial(_from_etcd, minor), _amplified, _refills, _damage,
        _polling, _private,
    ):  # fmt: skip
        yield from check(row)
