"""The scrapes of one kube-apiserver process, what its counters grew by in a window of time, and the rates of
LISTs over the past hour."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from ktui.contract.events.live import (
    CacheProbe,
    LevelCounters,
    LevelScrape,
    LevelsDump,
    ReplicaDown,
    ReplicaScrape,
    RequestsDump,
    ResourceCounters,
    ResourceScrape,
)
from ktui.core.live.client_reads import ClientReads, ReadCounters
from ktui.kube.gates import minor_of

KEPT_SECONDS = 120.0  # of scrapes, and the first one: rates look back a minute

Scrape = ResourceScrape | LevelScrape


class ScrapeSeries(msgspec.Struct):
    """The scrapes of one resource or level of one replica, oldest first."""

    points: deque[Any] = msgspec.field(default_factory=deque)
    first: Any = None  # the first scrape, even if `points` no longer has it
    reads: ClientReads = msgspec.field(default_factory=ClientReads)  # for a resource

    def add(self, scrape: Scrape | ReplicaScrape) -> None:
        self.first = self.first or scrape
        self.points.append(scrape)
        while len(self.points) > 2 and self.points[1].at <= scrape.at - KEPT_SECONDS:
            self.points.popleft()

    @property
    def last(self) -> Any:
        return self.points[-1]

    def ends(self, seconds: float | None) -> tuple[Any, Any]:
        """Return the scrape `seconds` before the last one (None: the first one), and the last one."""
        first, last = self.first, self.last
        if seconds is not None:
            for point in self.points:
                if point.at > last.at - seconds:
                    break
                first = point
        return first, last


class ReplicaRow(msgspec.Struct):
    """One process, and what its scrapes reported."""

    scrape: ReplicaScrape
    resources: dict[str, ScrapeSeries] = msgspec.field(default_factory=dict)
    levels: dict[str, ScrapeSeries] = msgspec.field(default_factory=dict)
    scrapes: ScrapeSeries = msgspec.field(default_factory=ScrapeSeries)  # of the process itself
    down: ReplicaDown | None = None  # since its last answer it has not answered
    dump: RequestsDump | None = None
    levels_dump: LevelsDump | None = None
    probes: dict[str, CacheProbe] = msgspec.field(default_factory=dict)  # the newest of each resource

    @property
    def name(self) -> str:
        return self.scrape.replica

    @property
    def minor(self) -> int:
        """The Kubernetes minor version; 0 if unknown."""
        return minor_of(self.scrape.version)


Grown = dict[str, float | None]  # by figure; None: this server does not report it


def growth(series: ScrapeSeries, seconds: float | None = None) -> tuple[Grown, float]:
    """Return the growth from the scrape `seconds` ago (None: the first one) to the last one, and the seconds
    between them.
    """
    first, last = series.ends(seconds)
    return between(first, last), last.at - first.at


def between(first: Scrape, last: Scrape, reader: Reader | None = None) -> Grown:
    """Return what each counter, or each that `reader` reads, has grown by between two scrapes."""
    names, values = reader or (_RESOURCE if isinstance(last.counters, ResourceCounters) else _LEVEL)
    # A counter that decreased was reset to 0.
    return {
        name: None if after is None or before is None else after - before if after >= before else after
        for name, before, after in zip(names, values(first.counters), values(last.counters), strict=True)
    }


def summed(parts: Sequence[Grown]) -> Grown:
    """Sum the growth of several replicas by figure; None if no replica reports the figure."""
    whole, *others = parts
    for part in others:
        whole = {
            name: more if value is None else value if more is None else value + more
            for (name, value), more in zip(whole.items(), part.values(), strict=True)
        }
    return whole


Reader = tuple[tuple[str, ...], Callable[[Any], tuple[float | None, ...]]]


def _reader(*names: str) -> Reader:
    """Return names of counters, and a function that reads all of them at once."""
    return names, attrgetter(*names)


_RESOURCE = _reader(*ReadCounters.__struct_fields__)
_LEVEL = _reader(*(name for name in LevelCounters.__struct_fields__ if name != "wait_buckets"))
_LISTS = _reader("client_cache_lists", "client_etcd_lists", "client_cache_fetched", "client_etcd_fetched")


def buckets(series: ScrapeSeries, seconds: float | None = None) -> dict[str, float]:
    """Return the growth of a level's wait histogram: cumulative counts by bound (`le`, seconds)."""
    first, last = series.ends(seconds)
    before = first.counters.wait_buckets
    return {le: max(0.0, count - before.get(le, 0)) for le, count in last.counters.wait_buckets.items()}


def summed_buckets(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    """Sum the wait histograms of several replicas.

    Bounds differ between versions: for a bound that a replica lacks, its next lower bound counts.
    """
    bounds = sorted(({le for part in parts for le in part if _bound(le)}), key=_seconds)
    whole = dict.fromkeys(bounds, 0.0)
    for part in parts:
        below = 0.0
        for le in bounds:
            below = part.get(le, below)
            whole[le] += below
    return whole


def quantile(counts: dict[str, float], share: float) -> float | None:
    """Return the seconds that `share` (0–1) of the waits do not exceed, interpolated within the bucket.

    None if nothing waited.
    """
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
    """Return the sum of the known values; None if none is known."""
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def share(part: float | None, whole: float | None) -> float | None:
    """Return `part` divided by `whole`; None if either is unknown or `whole` is 0."""
    return part / whole if part is not None and whole else None


def latest(points: Iterable[Any], figure: str) -> float | None:
    """Sum a gauge over the newest scrapes of several replicas."""
    return total(getattr(point.gauges, figure) for point in points)


PART = 30.0  # seconds
PARTS = 120  # kept: an hour
MOST_RESOURCES = 500  # that have a history: the first ones listed
SPANS = (10, 30, 60, PARTS)  # parts in a chart: the smallest that holds all parts known
WHOLE = ""  # the name of all resources together


class ListRates(msgspec.Struct, gc=False):
    """LISTs of clients from cache and etcd, and the objects that they read, within one part or per second."""

    cache: float = 0.0
    etcd: float = 0.0
    read_cache: float = 0.0
    read_etcd: float = 0.0

    def add(self, other: ListRates, share: float) -> None:
        self.cache += other.cache * share
        self.etcd += other.etcd * share
        self.read_cache += other.read_cache * share
        self.read_etcd += other.read_etcd * share


class ListHistory(msgspec.Struct):
    """How LISTs of clients were served over the past hour, for the whole server (WHOLE) and each resource.

    `parts`: by resource and number of the part (Unix seconds divided by PART). The growth of a counter
    between two scrapes is spread evenly over the time between them.
    """

    parts: dict[str, dict[int, ListRates]] = msgspec.field(default_factory=lambda: {WHOLE: {}})
    began: float = 0.0
    ended: float = 0.0

    def add(self, before: ResourceScrape, after: ResourceScrape) -> None:
        """Add the growth between two consecutive scrapes of a resource at one replica."""
        self.began = min(self.began or before.at, before.at)
        self.ended = max(self.ended, after.at)
        if before.counters == after.counters or after.at <= before.at:
            return
        grown = between(before, after, _LISTS)
        found = ListRates(*(more or 0.0 for more in grown.values()))
        if found == ListRates():
            return
        self._spread(WHOLE, before.at, after.at, found)
        if after.resource in self.parts or len(self.parts) <= MOST_RESOURCES:
            self._spread(after.resource, before.at, after.at, found)

    def _spread(self, resource: str, start: float, end: float, amount: ListRates) -> None:
        parts = self.parts.setdefault(resource, {})
        oldest, last = int(self.ended // PART) - PARTS, int(end // PART)
        for number in range(max(int(start // PART), oldest), last + 1):
            overlap = min(end, (number + 1) * PART) - max(start, number * PART)
            parts.setdefault(number, ListRates()).add(amount, overlap / (end - start))
        if len(parts) > PARTS + 2:
            for number in [number for number in parts if number < oldest]:
                del parts[number]

    @property
    def span(self) -> int:
        """The number of complete parts to show; 0 if no part is complete."""
        known = int(self.ended // PART) - int(self.began // PART)
        return next((span for span in SPANS if span >= known), PARTS) if known > 0 else 0

    def per_second(self, resource: str = WHOLE) -> Iterator[ListRates]:
        """Yield the rates per second of the last `span` complete parts, oldest first."""
        parts, last = self.parts.get(resource, {}), int(self.ended // PART)
        for number in range(last - self.span, last):
            rates = ListRates()
            if number in parts:
                rates.add(parts[number], 1 / PART)
            yield rates
