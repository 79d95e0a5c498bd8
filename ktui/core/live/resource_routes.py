"""Where a resource's LISTs were served from in a window, and at what cost, summed over replicas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ktui.contract.events.live import ResourceScrape
from ktui.core.live.replica import ReplicaRow
from ktui.core.live.window import Grown, growth, latest, share, summed, total

PROBES_COUNTED = range(31, 37)  # minors that count the revision probe of a consistent read as a storage LIST
Number = float | None  # None: not reported


class Served(msgspec.Struct, frozen=True, gc=False):
    """LISTs from one place, and the objects that they read and returned."""

    lists: Number = None
    fetched: Number = None
    returned: Number = None

    @property
    def amplification(self) -> Number:
        """Objects read for each one returned; None when nothing was returned."""
        return share(self.fetched, self.returned)


class ResourceRoutes(msgspec.Struct, frozen=True, gc=False):
    """Totals over `seconds`, and current gauges. None: no replica reports the figure."""

    resource: str
    seconds: float
    cache: Served
    etcd: Served
    probes: Number = None  # revision probes of consistent reads that etcd answered
    indexed: Number = None
    evaluated: Number = None
    success: Number = None  # consistent reads
    failure: Number = None
    fallback: Number = None
    rejected_reads: Number = None
    waits: Number = None
    wait_ms: Number = None  # mean
    lists: Number = None  # requests
    errors: Number = None
    rejected: Number = None
    bytes: Number = None
    mean_bytes: Number = None
    ms: Number = None  # mean of a LIST
    cluster_lists: Number = None
    cluster_ms: Number = None
    namespace_lists: Number = None
    namespace_ms: Number = None
    watches: Number = None
    watch_events: Number = None
    watch_bytes: Number = None
    watch_lists: Number = None
    terminated: Number = None
    cache_events: Number = None
    refills: Number = None  # of the cache, after its first filling
    capacity_increases: Number = None
    capacity_decreases: Number = None
    checks_ok: Number = None
    checks_failed: Number = None
    etcd_gets: Number = None
    etcd_list_calls: Number = None
    etcd_writes: Number = None
    etcd_errors: Number = None
    etcd_calls: Number = None
    etcd_ms: Number = None  # mean of a call
    objects: Number = None
    size_bytes: Number = None

    def per_second(self, value: Number) -> Number:
        return value / self.seconds if value is not None and self.seconds else None

    @property
    def served(self) -> Number:
        """LISTs that cache or etcd answered."""
        return total((self.cache.lists, self.etcd.lists))

    @property
    def fetched(self) -> Number:
        return total((self.cache.fetched, self.etcd.fetched))

    @property
    def returned(self) -> Number:
        return total((self.cache.returned, self.etcd.returned))

    @property
    def fan_out(self) -> Number:
        """Events sent to clients for each one received from etcd."""
        return share(self.watch_events, self.cache_events)

    @property
    def etcd_share(self) -> Number:
        """The share of LISTs (0–1) that etcd answered; None without LISTs."""
        return share(self.etcd.lists, self.served)

    @property
    def amplification(self) -> Number:
        return share(self.fetched, self.returned)


def etcd_lists(grown: Grown, minor: int) -> Number:
    """LISTs that read objects from etcd.

    In 1.31 to 1.36 the counter includes the revision probe of each consistent read, and from 1.34 on a
    rare probe for the resource's size. Neither lists objects, so the list calls are an upper bound too.
    """
    counted = grown.get("storage_lists")
    if counted is None or minor not in PROBES_COUNTED:
        return counted
    if not grown.get("etcd_fetched"):
        return 0.0
    probes = total((grown.get("consistent_success"), grown.get("consistent_failure"))) or 0.0
    lists = max(0.0, counted - probes)
    calls = grown.get("etcd_lists")
    # No call under this resource's name: they are counted under another (custom resources before 1.34).
    return min(lists, calls) if calls is not None and grown.get("etcd_timed") else lists


def summed_routes(resource: str, rows: Sequence[ReplicaRow], seconds: float | None) -> ResourceRoutes:
    """Sum a resource over `rows`, which all report it, for the last `seconds` (None: everything kept)."""
    growths = [growth(row.resources[resource], seconds) for row in rows]
    grown = [part.grown for part in growths]
    points = [row.resources[resource].last for row in rows]

    of = summed(grown).__getitem__

    return ResourceRoutes(
        resource=resource,
        seconds=max(part.seconds for part in growths),
        cache=Served(of("cache_lists"), of("cache_fetched"), of("cache_returned")),
        etcd=Served(
            total(etcd_lists(part, row.minor) for part, row in zip(grown, rows, strict=True)),
            of("etcd_fetched"),
            of("etcd_returned"),
        ),
        probes=total((of("consistent_success"), of("consistent_failure"))),
        indexed=of("indexed_lists"),
        evaluated=of("etcd_evaluated"),
        success=of("consistent_success"),
        failure=of("consistent_failure"),
        fallback=of("consistent_fallback"),
        rejected_reads=of("consistent_rejected"),
        waits=of("waits"),
        wait_ms=share(of("wait_ms"), of("waits")),
        lists=of("lists"),
        errors=of("list_errors"),
        rejected=of("list_rejected"),
        bytes=of("list_bytes"),
        mean_bytes=share(of("list_bytes"), of("list_sizes")),
        ms=share(of("list_ms"), of("list_timed")),
        cluster_lists=of("cluster_timed"),
        cluster_ms=share(of("cluster_ms"), of("cluster_timed")),
        namespace_lists=of("namespace_timed"),
        namespace_ms=share(of("namespace_ms"), of("namespace_timed")),
        watches=latest(points, "watches"),
        watch_events=of("watch_events"),
        watch_bytes=of("watch_bytes"),
        watch_lists=of("watch_lists"),
        terminated=of("terminated_watchers"),
        cache_events=of("cache_events"),
        refills=total(_refills(part, point) for part, point in zip(grown, points, strict=True)),
        capacity_increases=of("capacity_increases"),
        capacity_decreases=of("capacity_decreases"),
        checks_ok=of("checks_ok"),
        checks_failed=of("checks_failed"),
        etcd_gets=of("etcd_gets"),
        etcd_list_calls=of("etcd_lists"),
        etcd_writes=of("etcd_writes"),
        etcd_errors=of("etcd_errors"),
        etcd_calls=of("etcd_timed"),
        etcd_ms=share(of("etcd_ms"), of("etcd_timed")),
        objects=_largest(point.gauges.objects for point in points),
        size_bytes=_largest(point.gauges.size_bytes for point in points),
    )


def _refills(grown: Grown, last: ResourceScrape) -> Number:
    """Return how often a cache was filled again: its first filling does not count."""
    more, all_time = grown["initializations"], last.counters.initializations
    return min(more, all_time - 1) if more and all_time else more


def _largest(values: Iterable[int | None]) -> Number:
    return max((value for value in values if value is not None), default=None)
