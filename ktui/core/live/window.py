"""The increase of one replica's counters over a stretch of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from ktui.contract.events.live import LevelCounters, LevelScrape, ResourceCounters, ResourceScrape
from ktui.core.live.replica import ScrapeSeries

Grown = dict[str, float | None]  # by figure; None: this server does not report it


class Growth(msgspec.Struct, frozen=True):
    """`grown` within `seconds`; both scrapes are of one process."""

    grown: Grown
    seconds: float


def growth(series: ScrapeSeries, seconds: float | None = None) -> Growth:
    """From the scrape `seconds` ago (None: the first one kept) to the last one."""
    first, last = _ends(series, seconds)
    return Growth(between(first, last), last.at - first.at)


def between(first: ResourceScrape | LevelScrape, last: ResourceScrape | LevelScrape) -> Grown:
    """What the counters of one scrape have more than those of an earlier one."""
    return _grown(first, last, _RESOURCE if isinstance(last.counters, ResourceCounters) else _LEVEL)


def lists_between(first: ResourceScrape, last: ResourceScrape) -> Grown:
    """Of the same only what tells LISTs from cache and etcd apart."""
    return _grown(first, last, _LISTS)


def _grown(first: ResourceScrape | LevelScrape, last: ResourceScrape | LevelScrape, reader: Reader) -> Grown:
    names, values = reader
    # A counter that went back has started from 0 again.
    return {
        name: None if after is None or before is None else after - before if after >= before else after
        for name, before, after in zip(names, values(first.counters), values(last.counters), strict=True)
    }


def summed(parts: Sequence[Grown]) -> Grown:
    """Of several replicas: by figure, the sum of what is known."""
    whole, *others = parts
    for part in others:
        whole = {
            name: more if value is None else value if more is None else value + more
            for (name, value), more in zip(whole.items(), part.values(), strict=True)
        }
    return whole


def _ends(series: ScrapeSeries, seconds: float | None) -> tuple[Any, Any]:
    first, last = series.first, series.last
    if seconds is not None:
        for point in series.points:
            if point.at > last.at - seconds:
                break
            first = point
    return first, last


Read = Callable[[Any], tuple[float | None, ...]]


Reader = tuple[tuple[str, ...], Read]


def _reader(*names: str) -> Reader:
    """The names of counters, and what reads all of them at once."""
    return names, attrgetter(*names)


_RESOURCE = _reader(*ResourceCounters.__struct_fields__)
_LEVEL = _reader(*(name for name in LevelCounters.__struct_fields__ if name != "wait_buckets"))
_LISTS = _reader(
    "cache_lists", "cache_fetched", "storage_lists", "etcd_fetched", "etcd_lists", "etcd_timed",
    "consistent_success", "consistent_failure",
)  # fmt: skip


def buckets(series: ScrapeSeries, seconds: float | None = None) -> dict[str, float]:
    """The same of a level's waits by bucket."""
    first, last = _ends(series, seconds)
    before = first.counters.wait_buckets
    return {le: max(0.0, count - before.get(le, 0)) for le, count in last.counters.wait_buckets.items()}


def summed_buckets(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of several replicas. Where their versions and so their bounds differ, a bound that one does not have
    counts as many there as the bound below it."""
    bounds = sorted(({le for part in parts for le in part if _bound(le)}), key=_seconds)
    whole = dict.fromkeys(bounds, 0.0)
    for part in parts:
        below = 0.0
        for le in bounds:
            below = part.get(le, below)
            whole[le] += below
    return whole


def quantile(counts: dict[str, float], share: float) -> float | None:
    """Seconds that `share` of the waits kept to, interpolated within their bucket; None without any."""
    bounds = sorted((_seconds(le), count) for le, count in counts.items() if _bound(le))
    if not bounds or not bounds[-1][1]:
        return None
    wanted, low, below = share * bounds[-1][1], 0.0, 0.0
    for high, count in bounds:
        if count >= wanted:
            if high == float("inf"):
                return low
            return low + (high - low) * ((wanted - below) / (count - below) if count > below else 1.0)
        low, below = high, count
    return low


def _seconds(le: str) -> float:
    return float(le.replace("+Inf", "inf"))


def _bound(text: str) -> bool:
    try:
        return _seconds(text) >= 0
    except ValueError:
        return False


def total(parts: Iterable[float | None]) -> float | None:
    """The sum of what is known; None when nothing is."""
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def share(part: float | None, whole: float | None) -> float | None:
    """None when either is unknown or there is nothing to share."""
    return part / whole if part is not None and whole else None


def latest(points: Iterable[Any], figure: str) -> float | None:
    """The sum of a gauge over the newest scrapes of several replicas."""
    return total(getattr(point.gauges, figure) for point in points)
