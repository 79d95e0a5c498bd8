"""Findings on one resource: each check compares its figures of the window with what a healthy cluster has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

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
from ktui.core.live.level_rows import LevelRow
from ktui.core.live.resource_routes import ResourceRoutes

_PRIVATE = ("secrets", "configmaps")


def _found(row: ResourceRoutes, id_: str, text: str, cost: float | None, **other: Any) -> Finding:
    """Return a finding on the row's resource; `cost` is of the whole window, the finding's of a second."""
    return finding(id_, row.resource, text, rate(row, cost), **other)


def rate(row: ResourceRoutes | LevelRow, value: float | None) -> float:
    return (value or 0) / row.seconds if row.seconds else 0.0


def _fallbacks(row: ResourceRoutes) -> Iterator[Finding]:
    if row.fallback:
        text = f"{many(round(row.fallback), 'consistent LIST')} waited 3 s for the cache and then read etcd"
        yield _found(row, "consistent-read-fallback", text, row.etcd.fetched)
    if row.rejected_reads:
        lists = many(round(row.rejected_reads), "consistent LIST")
        text = f"{lists} got a 429: the cache was 3 s behind"
        yield _found(row, "consistent-read-rejected", text, row.rejected_reads)


def _from_etcd(minor: int, row: ResourceRoutes) -> Iterator[Finding]:
    lists, fetched = row.etcd.lists or 0, row.etcd.fetched or 0
    if lists and lists <= (row.fallback or 0):
        return  # that finding has it
    if not lists or row.resource in UNCACHED or max(row.objects or 0, fetched / lists) < LARGE:
        return
    read, often = many(round(fetched), "object"), frequency(rate(row, fetched))
    text = f"{many(round(lists), 'LIST')} read {read} from etcd ({often} objects)"
    advice = etcd_lists_advice(minor, fallback=bool(row.fallback))
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
    if waits < LEAST_WAITS or row.fallback or row.rejected_reads:  # those findings have it
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
    if row.terminated:
        text = f"WATCHes cut off because the client read too slowly: {integer(round(row.terminated))}"
        yield _found(row, "slow-watchers", text, row.terminated * (row.objects or 1))


def _polling(row: ResourceRoutes) -> Iterator[Finding]:
    lists = rate(row, row.succeeded)
    if row.watches == 0 and lists >= OFTEN:
        yield _found(row, "polled", f"listed {frequency(lists)} and watched by no client", row.fetched)


def _private(row: ResourceRoutes) -> Iterator[Finding]:
    lists = min(row.cluster_lists or 0, row.succeeded or 0)
    if row.resource in _PRIVATE and lists:
        text = f"{many(round(lists), 'LIST')} over all namespaces"
        yield _found(row, f"cluster-wide-{row.resource}", text, row.fetched)


def resource_findings(row: ResourceRoutes, minor: int) -> Iterator[Finding]:
    """Yield all findings on a resource of a server of this minor."""
    for check in (
        _fallbacks, _waits, _filling, _ended, partial(_from_etcd, minor), _amplified, _refills, _damage,
        _polling, _private,
    ):  # fmt: skip
        yield from check(row)
