"""Findings on one resource: each check compares its figures of the window with what a healthy cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum

import msgspec

from ktui.core.format import frequency, integer, long_milliseconds, many, times
from ktui.core.live.resource_routes import ResourceRoutes

AMPLIFIED = 50  # objects read for each one returned
LARGE = 500  # objects of a resource whose LISTs from etcd are worth a finding
OFTEN = 0.1  # LISTs per second of a resource that no client watches
LEAST_WAITS = 20  # reads that waited for a cache: fewer say nothing about it
SLOW_WAIT_MS = 250.0  # mean wait of reads that a healthy storage does not cause
MANY_EVENTS = 1_000.0  # initial events per second of a resource
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


def _rate(row: ResourceRoutes, value: float | None) -> float:
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
    if lists and lists <= (row.fallback or 0):
        return  # that finding has it
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


def _waits(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    waits = row.waits or 0
    if waits < LEAST_WAITS or row.fallback or row.rejected_reads:  # those findings have it
        return
    slow = waits - row.fast_waits if row.fast_waits is not None else 0
    if slow <= waits / 100 and (row.wait_ms or 0) < SLOW_WAIT_MS:
        return
    yield Finding(
        "slow-consistent-reads",
        Severity.WARNING,
        row.resource,
        f"{many(round(waits), 'read')} waited for the cache, {long_milliseconds(row.wait_ms or 0)} on average"
        + (f"; {integer(round(slow))} of them over a second" if slow > 0 else ""),
        "apiserver_watch_cache_read_wait_seconds",
        "the storage reports no timely progress (kine, dqlite), or etcd stalls: look at its latency",
        _rate(row, waits),
    )


def _filling(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.init_errors:
        yield Finding(
            "cache-cannot-fill",
            Severity.CRITICAL,
            row.resource,
            f"the watch cache could not be filled ({many(round(row.init_errors), 'time')})",
            "apiserver_watch_cache_initialization_errors_total",
            "a conversion webhook that fails, or an object that cannot be decoded? see kube-apiserver's log; "
            "until then LISTs and WATCHes of it get 429 or read etcd",
            _rate(row, row.objects),
        )
    begun = _rate(row, row.init_events)
    if begun >= MANY_EVENTS:
        took = f"; a WatchList took {long_milliseconds(row.watch_list_ms)}" if row.watch_list_ms else ""
        yield Finding(
            "initial-events",
            Severity.NOTICE,
            row.resource,
            f"new WATCHes were sent {many(round(row.init_events or 0), 'initial event')} "
            f"({frequency(begun)}){took}",
            "apiserver_init_events_total, apiserver_watch_list_duration_seconds",
            f"clients that restart or lose their WATCH receive everything again; {WHO}",
            begun,
        )


def _ended(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    ended = (row.terminated_requests or 0) + (row.aborted or 0)
    if ended:
        yield Finding(
            "requests-terminated",
            Severity.WARNING,
            row.resource or "other requests",
            f"{many(round(ended), 'request')} ended by kube-apiserver without an answer (timeout, 504)",
            "apiserver_request_terminations_total, apiserver_request_aborts_total",
            "they took longer than --request-timeout: look at slow webhooks, at etcd, and at large LISTs",
            _rate(row, ended),
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
    if row.checks_errored and row.checks_errored > (row.checks or 0):
        yield Finding(
            "cache-check-error",
            Severity.WARNING if row.checks_errored > 1 else Severity.NOTICE,
            row.resource,
            f"{many(round(row.checks_errored), 'consistency check')} of the watch cache ended with an error",
            'apiserver_storage_consistency_checks_total{status="error"}',
            "nothing was compared: kube-apiserver's log has the reason (cache not ready, etcd timed out)",
            _rate(row, row.objects),
        )
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
    lists = _rate(row, row.succeeded)
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
    lists = min(row.cluster_lists or 0, row.succeeded or 0)
    if row.resource in _PRIVATE and lists:
        yield Finding(
            "cluster-wide-secrets" if row.resource == "secrets" else "cluster-wide-configmaps",
            Severity.WARNING if row.resource == "secrets" else Severity.NOTICE,
            row.resource,
            f"{many(round(lists), 'LIST')} over all namespaces",
            'apiserver_request_duration_seconds_count{verb="LIST",scope="cluster"}',
            "a client that holds all of them needs the memory and the right to read all: list by namespace, "
            f"by name or with a label selector; {WHO}",
            _rate(row, row.fetched),
        )


CHECKS: tuple[Callable[[ResourceRoutes, int], Iterator[Finding]], ...] = (
    _fallbacks,
    _waits,
    _filling,
    _ended,
    _from_etcd,
    _amplified,
    _refills,
    _damage,
    _polling,
    _private,
)
