"""How LISTs of clients were served over the past hour, for the whole server and for each resource.

The growth of a counter between two scrapes is spread evenly over the time between them.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ktui.contract.events.live import ResourceScrape
from ktui.core.live.window import lists_between

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
    """The rates by resource and number of the part (Unix seconds divided by PART)."""

    parts: dict[str, dict[int, ListRates]] = msgspec.field(default_factory=lambda: {WHOLE: {}})
    began: float = 0.0
    ended: float = 0.0

    def add(self, before: ResourceScrape, after: ResourceScrape) -> None:
        """Add the growth between two consecutive scrapes of a resource at one replica."""
        self.began = min(self.began or before.at, before.at)
        self.ended = max(self.ended, after.at)
        if before.counters == after.counters or after.at <= before.at:
            return
        grown = lists_between(before, after)
        found = ListRates(
            grown["client_cache_lists"] or 0.0,
            grown["client_etcd_lists"] or 0.0,
            grown["client_cache_fetched"] or 0.0,
            grown["client_etcd_fetched"] or 0.0,
        )
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
