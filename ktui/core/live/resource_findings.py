"""Findings on one resource: each check compares its figures of the window with what a healthy cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ktui.core.format import frequency, integer, long_milliseconds, many, times
from ktui.core.live.finding_kinds import (
    AMPLIFIED,
    LARGE,
    LATE_SHARE,
    LEAST_FETCHED,
    LEAST_WAITS,
    MANY_EVENTS,
    OFTEN,
    SLOW_WAIT_MS,
    UNCACHED,
    Finding,
    Severity,
    etcd_lists_advice,
    finding,
)
from ktui.core.live.resource_routes import ResourceRoutes

_PRIVATE = ("secrets", "configmaps")


def _rate(row: ResourceRoutes, value: float | None) -> float:
    return (value or 0) / row.seconds if row.seconds else 0.0


def _fallbacks(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.fallback:
        yield finding(
            "consistent-read-fallback",
            row.resource,
            f"{many(round(row.fallback), 'consistent LIST')} waited 3 s for the cache and then read etcd",
            _rate(row, row.etcd.fetched),
        )
    if row.rejected_reads:
        yield finding(
            "consistent-read-rejected",
            row.resource,
            f"{many(round(row.rejected_reads), 'consistent LIST')} got a 429: the cache was 3 s behind",
            _rate(row, row.rejected_reads),
        )


def _from_etcd(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    lists, fetched = row.etcd.lists or 0, row.etcd.fetched or 0
    if lists and lists <= (row.fallback or 0):
        return  # that finding has it
    if not lists or row.resource in UNCACHED or max(row.objects or 0, fetched / lists) < LARGE:
        return
    yield finding(
        "etcd-lists",
        row.resource,
        f"{many(round(lists), 'LIST')} read {many(round(fetched), 'object')} from etcd "
        f"({frequency(_rate(row, fetched))} objects)",
        _rate(row, fetched),
        advice=etcd_lists_advice(minor, fallback=bool(row.fallback)),
    )


def _amplified(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    for served, where, family in ((row.cache, "the cache", "cache"), (row.etcd, "etcd", "storage")):
        factor, fetched = served.amplification, served.fetched or 0
        if fetched < LEAST_FETCHED or (factor is not None and factor < AMPLIFIED):
            continue
        factor_text = "none was returned" if factor is None else f"{times(factor)} as many as were returned"
        yield finding(
            "amplification",
            row.resource,
            f"LISTs read {many(round(fetched), 'object')} in {where}: {factor_text}",
            _rate(row, fetched),
            metric=f"apiserver_{family}_list_fetched_objects_total ÷ …_returned_objects_total",
        )


def _waits(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    waits = row.waits or 0
    if waits < LEAST_WAITS or row.fallback or row.rejected_reads:  # those findings have it
        return
    slow = waits - row.fast_waits if row.fast_waits is not None else 0
    if slow <= waits * LATE_SHARE and (row.wait_ms or 0) < SLOW_WAIT_MS:
        return
    yield finding(
        "slow-consistent-reads",
        row.resource,
        f"{many(round(waits), 'read')} waited for the cache, {long_milliseconds(row.wait_ms or 0)} on average"
        + (f"; {integer(round(slow))} of them over a second" if slow > 0 else ""),
        _rate(row, waits),
    )


def _filling(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.init_errors:
        yield finding(
            "cache-cannot-fill",
            row.resource,
            f"the watch cache could not be filled ({many(round(row.init_errors), 'time')})",
            _rate(row, row.objects),
        )
    begun = _rate(row, row.init_events)
    if begun >= MANY_EVENTS:
        took = f"; a WatchList took {long_milliseconds(row.watch_list_ms)}" if row.watch_list_ms else ""
        yield finding(
            "initial-events",
            row.resource,
            f"new WATCHes were sent {many(round(row.init_events or 0), 'initial event')} "
            f"({frequency(begun)}){took}",
            begun,
        )


def _ended(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    ended = (row.terminated_requests or 0) + (row.aborted or 0)
    if ended:
        yield finding(
            "requests-terminated",
            row.resource or "other requests",
            f"{many(round(ended), 'request')} ended by kube-apiserver without an answer (timeout, 504)",
            _rate(row, ended),
        )


def _refills(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.refills:
        yield finding(
            "cache-refilled",
            row.resource,
            f"the watch cache was filled again ({many(round(row.refills), 'time')}): each reads all of etcd",
            _rate(row, row.objects),
        )
    if row.capacity_increases:
        yield finding(
            "event-buffer-grows",
            row.resource,
            f"the event buffer was enlarged {many(round(row.capacity_increases), 'time')}",
            _rate(row, row.cache_events),
        )


def _damage(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    if row.checks_errored and row.checks_errored > (row.checks or 0):
        yield finding(
            "cache-check-error",
            row.resource,
            f"{many(round(row.checks_errored), 'consistency check')} of the watch cache ended with an error",
            _rate(row, row.objects),
            severity=Severity.WARNING if row.checks_errored > 1 else Severity.NOTICE,
        )
    if row.checks_failed:
        yield finding(
            "cache-inconsistent",
            row.resource,
            "the watch cache differs from etcd",
            _rate(row, row.cache.returned),
        )
    if row.terminated:
        yield finding(
            "slow-watchers",
            row.resource,
            f"WATCHes cut off because the client read too slowly: {integer(round(row.terminated))}",
            _rate(row, (row.terminated or 0) * (row.objects or 1)),
        )


def _polling(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    lists = _rate(row, row.succeeded)
    if row.watches == 0 and lists >= OFTEN:
        yield finding(
            "polled",
            row.resource,
            f"listed {frequency(lists)} and watched by no client",
            _rate(row, row.fetched),
        )


def _private(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    lists = min(row.cluster_lists or 0, row.succeeded or 0)
    if row.resource in _PRIVATE and lists:
        yield finding(
            f"cluster-wide-{row.resource}",
            row.resource,
            f"{many(round(lists), 'LIST')} over all namespaces",
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
