"""What the counters of one replica have grown by over a stretch of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ktui.core.live.state import ScrapeSeries

Grown = dict[str, float | None]  # by figure; None: this server does not report it


class Growth(msgspec.Struct, frozen=True):
    """`grown` within `seconds`; both scrapes are of one process."""

    grown: Grown
    seconds: float


def growth(series: ScrapeSeries, seconds: float | None = None) -> Growth:
    """From the scrape `seconds` ago (None: the first one kept) to the last one."""
    last = series.last
    first = series.points[0]
    if seconds is not None:
        for point in series.points:
            if point.at > last.at - seconds:
                break
            first = point
    names = last.counters.__struct_fields__
    return Growth(
        {name: _grown(getattr(first.counters, name), getattr(last.counters, name)) for name in names
         if not isinstance(getattr(last.counters, name), dict)},
        last.at - first.at,
    )  # fmt: skip


def _grown(before: float | None, after: float | None) -> float | None:
    """A counter that went back has started from 0 again."""
    if after is None or before is None:
        return None
    return after - before if after >= before else after


def buckets(series: ScrapeSeries, seconds: float | None = None) -> dict[str, float]:
    """The same of a level's waits by bucket."""
    last, first = series.last, series.points[0]
    if seconds is not None:
        for point in series.points:
            if point.at > last.at - seconds:
                break
            first = point
    before = first.counters.wait_buckets
    return {le: max(0.0, count - before.get(le, 0)) for le, count in last.counters.wait_buckets.items()}


def quantile(counts: dict[str, float], share: float) -> float | None:
    """Seconds that `share` of the waits kept to, interpolated within their bucket; None without any."""
    bounds = sorted((float(le.replace("+Inf", "inf")), count) for le, count in counts.items() if _bound(le))
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


def _bound(text: str) -> bool:
    try:
        return float(text.replace("+Inf", "inf")) >= 0
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
