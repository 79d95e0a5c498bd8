"""Where a resource's LISTs were served from in a window, and at what cost, summed over replicas.

And the sums of the consistency checks: from 1.34 on kube-apiserver compares each watch cache of each replica
with etcd every 5 to 7.5 minutes (feature gate DetectCacheInconsistency).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ktui.contract.events.live import ResourceScrape
from ktui.core.format import integer, long_bytes, many, percent
from ktui.core.live.client_reads import ReadCounters
from ktui.core.live.window import Grown, ReplicaRow, growth, latest, share, summed, total

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


class ResourceRoutes(ReadCounters, frozen=True, kw_only=True, omit_defaults=False, gc=False):
    """What the counters grew by within `seconds`, and current gauges. None: no replica reports the figure.

    The counters of ReadCounters include what the server reads on its own account, which is in
    `own_etcd_fetched` and `checks`. `cache`, `etcd`, `bytes` and `cluster_lists` are of clients alone.
    The figures of MEANS are means.
    """

    resource: str
    seconds: float
    cache: Served
    etcd: Served
    own_etcd_fetched: Number = None
    probes: Number = None  # revision probes of consistent reads that etcd answered
    success: Number = None  # consistent reads
    bytes: Number = None  # those of `list_bytes` that clients got
    mean_bytes: Number = None
    cluster_lists: Number = None
    watches: Number = None
    refills: Number = None  # of the cache, after its first filling
    checked: bool = False  # since a replica began, there was a check
    check_bytes: Number = None  # of `check_objects`, by the server's own estimate of sizes
    objects: Number = None
    size_bytes: Number = None

    def per_second(self, value: Number) -> Number:
        return value / self.seconds if value is not None and self.seconds else None

    @property
    def answered(self) -> Number:
        """LIST requests without those rejected with 429."""
        return _less(self.lists, self.list_rejected)

    @property
    def succeeded(self) -> Number:
        """LIST requests that were not answered with an error."""
        return _less(self.answered, self.list_errors)

    @property
    def served(self) -> Number:
        return total((self.cache.lists, self.etcd.lists))

    @property
    def fetched(self) -> Number:
        return total((self.cache.fetched, self.etcd.fetched))

    @property
    def checks(self) -> Number:
        """Consistency checks that compared the cache with etcd."""
        return total((self.checks_ok, self.checks_failed))

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


MEANS = {  # figures that are means, by what they are divided by
    "wait_ms": "waits", "list_ms": "list_timed", "cluster_ms": "cluster_timed",
    "namespace_ms": "namespace_timed", "watch_list_ms": "watch_lists", "etcd_ms": "etcd_timed",
}  # fmt: skip


def summed_routes(resource: str, rows: Sequence[ReplicaRow], seconds: float | None) -> ResourceRoutes:
    """Sum a resource over `rows`, which all report it, for the last `seconds` (None: everything kept)."""
    grown, spans = zip(*(growth(row.resources[resource], seconds) for row in rows), strict=True)
    points = [row.resources[resource].last for row in rows]

    sums = summed(grown)
    of = sums.__getitem__
    sent, own_sent = of("lists"), of("self_lists") or 0
    lists = _less(sent, own_sent)
    checks, check_objects = total((of("checks_ok"), of("checks_failed"))), of("check_objects")
    objects = _largest(point.gauges.objects for point in points)
    size_bytes = _largest(point.gauges.size_bytes for point in points)
    figures: dict[str, Any] = sums | {name: share(of(name), of(count)) for name, count in MEANS.items()}

    return ResourceRoutes(
        resource=resource,
        seconds=max(spans),
        cache=Served(of("client_cache_lists"), of("client_cache_fetched"), of("client_cache_returned")),
        etcd=Served(of("client_etcd_lists"), of("client_etcd_fetched"), of("client_etcd_returned")),
        own_etcd_fetched=_less(of("etcd_fetched"), of("client_etcd_fetched")),
        probes=total((of("consistent_success"), of("consistent_failure"))),
        success=_less(of("consistent_success"), own_sent),
        bytes=_share_of(of("list_bytes"), lists, sent),
        mean_bytes=share(of("list_bytes"), of("list_sizes")),
        cluster_lists=_less(of("cluster_timed"), own_sent),
        watches=latest(points, "watches"),
        refills=total(_refills(part, point) for part, point in zip(grown, points, strict=True)),
        checked=any(
            each.counters.checks_ok or each.counters.checks_failed or each.counters.checks_errored
            for each in points
        ),
        check_bytes=_share_of(size_bytes, check_objects, objects) if checks else check_objects,
        objects=objects,
        size_bytes=size_bytes,
        **figures | {"lists": lists},
    )


def _less(counted: Number, part: Number) -> Number:
    """Return what is left of `counted` without `part`."""
    return None if counted is None else max(0, counted - (part or 0))


def _share_of(value: Number, part: Number, whole: Number) -> Number:
    return value if value is None or part is None or not whole else value * part / whole


def _refills(grown: Grown, last: ResourceScrape) -> Number:
    """Return how often a cache was filled again: its first filling does not count."""
    more, all_time = grown["initializations"], last.counters.initializations
    return min(more, all_time - 1) if more and all_time else more


def _largest(values: Iterable[int | None]) -> Number:
    return max((value for value in values if value is not None), default=None)


GATE = "DetectCacheInconsistency"
ROW = "consistency checks"  # the name of the row among resources: none can have it
EVERY = 375.0  # seconds between two checks of a cache, on average


class ChecksRow(ResourceRoutes, frozen=True, kw_only=True, gc=False):
    """The consistency checks of all resources, as a row among the LISTs by resource.

    `etcd` has their LISTs of etcd, a page each; `objects` and `size_bytes` are what each round of them reads.
    """

    resources: int
    share: Number = None  # of the objects that all LISTs read from etcd


def checks_of(routes: Sequence[ResourceRoutes]) -> ChecksRow | None:
    """Sum the checks of all resources; None if no replica reports a check since it began."""
    known = [row for row in routes if row.checked]
    if not known:
        return None

    def of(figure: str) -> Any:
        return total(getattr(row, figure) for row in known) or 0

    read = [part for row in routes for part in (row.etcd.fetched, row.own_etcd_fetched)]
    objects = of("check_objects")
    return ChecksRow(
        resource=ROW,
        seconds=max(row.seconds for row in known),
        resources=sum(bool(row.checks) for row in known),
        cache=Served(of("checks"), objects, objects),
        etcd=Served(of("check_lists"), objects, objects),
        checks_ok=of("checks_ok"),
        checks_failed=of("checks_failed"),
        checks_errored=of("checks_errored"),
        bytes=total(row.check_bytes for row in known),
        share=share(objects, total(read)),
        objects=of("objects"),
        size_bytes=total(row.size_bytes for row in known),
        lists=0,
        list_rejected=0,
        consistent_fallback=0,
    )


def checks_text(row: ChecksRow) -> str:
    """Return count, objects, bytes and share in one sentence."""
    size = f", about {long_bytes(row.bytes)}" if row.bytes else ""
    part = f": {percent(row.share)} of the objects that LISTs read there" if row.share else ""
    count, failed, errored = row.checks or 0, row.checks_failed or 0, row.checks_errored or 0
    found = [f"{many(failed, 'cache')} differed from etcd"] if failed else []
    found += [f"{many(errored, 'check')} ended with an error"] if errored else []
    return (
        f"{many(round(count), 'consistency check')} of {many(row.resources, 'resource')} read "
        f"{many(round(row.etcd.fetched or 0), 'object')}{size} from etcd{part}"
        + "".join(f"; {text}" for text in found or ["all agreed"] if count or found)
    )


def saving_text(row: ChecksRow) -> str:
    """Return what switching the feature gate off would save."""
    size = f", about {long_bytes(row.size_bytes)}" if row.size_bytes else ""
    return (
        f"{GATE}=false would save each replica reading {integer(round(row.objects or 0))} objects{size} "
        f"from etcd every {EVERY / 60:.0f} minutes; then nothing notices a cache that differs from etcd"
    )
