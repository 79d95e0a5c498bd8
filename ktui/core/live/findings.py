"""Advice from live figures, most expensive first. Each finding names its metric and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum

import msgspec

from ktui.core.format import frequency, integer, long_milliseconds, many, times
from ktui.core.live.levels import LevelRow, level_rows
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.live.routes import all_routes
from ktui.core.live.state import LiveState

AMPLIFIED = 50  # objects read for each one returned
LARGE = 500  # objects of a resource whose LISTs from etcd are worth a finding
OFTEN = 0.1  # LISTs per second of a resource that no client watches
LEAST_FETCHED = 1_000  # objects within the window: fewer cost little, whatever the factor
WHO = "metrics do not name the client: `ktui audit AUDIT.LOG` ranks the clients of an audit log"
_UNCACHED = ("events", "events.events.k8s.io")
_PRIVATE = ("secrets", "configmaps")


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


def findings(live: LiveState, seconds: float | None = None) -> list[Finding]:
    """Return the findings of the last `seconds` (None: of everything kept), most urgent first."""
    found: list[Finding] = live.sums.listed(
        ("findings", seconds), live.touched, lambda: _findings(live, seconds), whole=True
    )
    return found


def _findings(live: LiveState, seconds: float | None) -> list[Finding]:
    minor = max((row.minor for row in live.replicas.values()), default=0)
    found: list[Finding] = []
    for row in all_routes(live, seconds):
        for check in _RESOURCE_CHECKS:
            found += check(row, minor)
    for level in level_rows(live, seconds):
        found += _level_findings(level)
    found += _server_findings(live)
    return sorted(found, key=lambda item: (-item.severity, -item.cost, item.subject))


def worst(found: list[Finding]) -> Severity | None:
    return max((item.severity for item in found), default=None)


def _rate(row: ResourceRoutes | LevelRow, value: float | None) -> float:
    return (value or 0) / row.seconds if row.seconds else 0.0


def _fallbacks(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.fallback:
        yield Finding(
            "consistent-read-fallback",
            Severity.CRITICAL,
            row.resource,
            f"{many(round(row.fallback), 'consistent LIST')} waited 3 s for the cache and then read etcd",
            'apiserver_watch_cache_consistent_read_total{fallback="true"}',
            "the cache is behind etcd: look at etcd's latency and defragmentation, "
            "and at the lag on the Cache screen",
            _rate(row, row.etcd.fetched),
        )
    if row.rejected_reads:
        yield Finding(
            "consistent-read-rejected",
            Severity.CRITICAL,
            row.resource,
            f"{many(round(row.rejected_reads), 'consistent LIST')} got a 429: the cache was 3 s behind",
            'apiserver_watch_cache_consistent_read_total{fallback="skipped"}',
            "the cache is behind etcd: look at etcd's latency and defragmentation",
            _rate(row, row.rejected_reads),
        )


def _from_etcd(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    lists, fetched = row.etcd.lists or 0, row.etcd.fetched or 0
    if not lists or row.resource in _UNCACHED or max(row.objects or 0, fetched / lists) < LARGE:
        return
    if minor >= 31:
        why = "from 1.31 on a LIST without resourceVersion comes from the cache: "
        why += "resourceVersionMatch=Exact" + ("" if minor >= 34 else ", a continue token")
        why += ", a cache that is not ready" + (" or a fallback" if row.fallback else "") + " reads etcd"
    else:
        why = (
            "before 1.31 every LIST without resourceVersion=0 reads etcd: let clients send resourceVersion=0"
        )
    yield Finding(
        "etcd-lists",
        Severity.WARNING,
        row.resource,
        f"{many(round(lists), 'LIST')} read {many(round(fetched), 'object')} from etcd "
        f"({frequency(_rate(row, fetched))} objects)",
        "apiserver_storage_list_fetched_objects_total",
        f"{why}; {WHO}",
        _rate(row, fetched),
    )


def _amplified(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    for served, where, family in ((row.cache, "the cache", "cache"), (row.etcd, "etcd", "storage")):
        factor, fetched = served.amplification, served.fetched or 0
        if fetched < LEAST_FETCHED or (factor is not None and factor < AMPLIFIED):
            continue
        factor_text = "none was returned" if factor is None else f"{times(factor)} as many as were returned"
        yield Finding(
            "amplification",
            Severity.WARNING,
            row.resource,
            f"LISTs read {many(round(fetched), 'object')} in {where}: {factor_text}",
            f"apiserver_{family}_list_fetched_objects_total ÷ …_returned_objects_total",
            "a selector that no index serves makes the server read all objects: use spec.nodeName or the "
            f"namespace where possible, or one WATCH instead of LISTs; {WHO}",
            _rate(row, fetched),
        )


def _refills(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.refills:
        yield Finding(
            "cache-refilled",
            Severity.WARNING,
            row.resource,
            f"the watch cache was filled again ({many(round(row.refills), 'time')}): each reads all of etcd",
            "apiserver_watch_cache_initializations_total",
            "its watch of etcd broke off: look for compaction or restarts in etcd's log",
            _rate(row, row.objects),
        )
    if row.capacity_increases:
        yield Finding(
            "event-buffer-grows",
            Severity.NOTICE,
            row.resource,
            f"the event buffer was enlarged {many(round(row.capacity_increases), 'time')}",
            "watch_cache_capacity_increase_total",
            "objects change faster than the buffer lasts 75 s: find what writes so often, "
            "for a client that reconnects late must list again",
            _rate(row, row.cache_events),
        )


def _damage(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.checks_failed:
        yield Finding(
            "cache-inconsistent",
            Severity.CRITICAL,
            row.resource,
            "the watch cache differs from etcd",
            'apiserver_storage_consistency_checks_total{status="failure"}',
            "restart the kube-apiserver replica and report it: reads from this cache are wrong",
            _rate(row, row.cache.returned),
        )
    if row.terminated:
        yield Finding(
            "slow-watchers",
            Severity.WARNING,
            row.resource,
            f"WATCHes cut off because the client read too slowly: {integer(round(row.terminated))}",
            "apiserver_terminated_watchers_total",
            f"each of them lists again; {WHO}",
            _rate(row, (row.terminated or 0) * (row.objects or 1)),
        )


def _polling(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    lists = _rate(row, row.lists)
    if row.watches == 0 and lists >= OFTEN:
        yield Finding(
            "polled",
            Severity.NOTICE,
            row.resource,
            f"listed {frequency(lists)} and watched by no client",
            'apiserver_request_total{verb="LIST"}, apiserver_longrunning_requests{verb="WATCH"}',
            f"one WATCH (an informer) replaces the polling; {WHO}",
            _rate(row, row.fetched),
        )


def _private(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.resource in _PRIVATE and row.cluster_lists:
        yield Finding(
            "cluster-wide-secrets" if row.resource == "secrets" else "cluster-wide-configmaps",
            Severity.WARNING if row.resource == "secrets" else Severity.NOTICE,
            row.resource,
            f"{many(round(row.cluster_lists), 'LIST')} over all namespaces",
            'apiserver_request_duration_seconds_count{verb="LIST",scope="cluster"}',
            "a client that holds all of them needs the memory and the right to read all: list by namespace, "
            f"by name or with a label selector; {WHO}",
            _rate(row, row.fetched),
        )


_RESOURCE_CHECKS: tuple[Callable[[ResourceRoutes, int], Iterator[Finding]], ...] = (
    _fallbacks,
    _from_etcd,
    _amplified,
    _refills,
    _damage,
    _polling,
    _private,
)


def _level_findings(row: LevelRow) -> Iterator[Finding]:
    if row.rejected:
        counted = row.reasons.items()
        reasons = ", ".join(f"{name.replace('_', ' ')} {integer(round(count))}" for name, count in counted)
        yield Finding(
            "rejected",
            Severity.CRITICAL,
            row.level,
            f"{many(round(row.rejected), 'request')} of this level rejected with 429"
            + (f" ({reasons})" if reasons else ""),
            "apiserver_flowcontrol_rejected_requests_total",
            "the Flow control screen shows who holds the seats: make those requests cheaper, "
            "or give the level more shares",
            _rate(row, row.rejected),
        )
    if row.queue_never_empty:
        wait = f"; half of them waited over {long_milliseconds(row.wait_p50)}" if row.wait_p50 else ""
        yield Finding(
            "queue-never-empty",
            Severity.WARNING,
            row.level,
            f"requests were queued in each of {many(row.queue_samples, 'sample')}{wait}",
            "apiserver_flowcontrol_current_inqueue_requests",
            "the level is short of seats: the Flow control screen shows who holds them",
            _rate(row, row.dispatched),
        )


def _server_findings(live: LiveState) -> Iterator[Finding]:
    server = live.server
    if server is None:
        return
    for denied in server.denied:
        if denied.path == "/metrics":
            yield Finding(
                "metrics-denied",
                Severity.CRITICAL,
                "kube-apiserver",
                f"/metrics cannot be read ({denied.reason}): there are no figures",
                "/metrics",
                "`ktui rbac` prints the ClusterRole that grants it",
            )
    reached, expected = len(live.present), server.expected or 0
    if expected > reached > 0:
        yield Finding(
            "replicas-not-reached",
            Severity.NOTICE,
            "kube-apiserver",
            f"{reached} of {many(expected, 'replica')} reached: all figures are of these",
            "process_start_time_seconds; Leases in kube-system",
            "the load balancer gave no connection to the others: --prometheus reads all of them",
        )
    for check in server.not_ready:
        yield Finding(
            "not-ready",
            Severity.CRITICAL,
            "kube-apiserver",
            f"the readiness check {check} fails",
            "/readyz?verbose",
            "the replica takes no traffic from a load balancer until it passes",
        )
    hidden = max((row.scrape.hidden_metrics or 0 for row in live.replicas.values()), default=0)
    if hidden:
        yield Finding(
            "hidden-metrics",
            Severity.NOTICE,
            "kube-apiserver",
            f"{many(hidden, 'metric')} hidden or disabled by the server",
            "hidden_metrics_total, disabled_metrics_total",
            "figures that show ? may be among them: --show-hidden-metrics-for-version on the server",
        )
