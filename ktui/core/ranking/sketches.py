"""Figures of many requests in little memory: the most frequent values, and a histogram."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, Protocol, TypeVar

import msgspec

from ktui.contract.events.base import Count


class Counted(Protocol):
    """A number of requests, and their cost: microseconds in a log, bytes in live traffic."""

    @property
    def count(self) -> int: ...

    @property
    def cost(self) -> int: ...


K = TypeVar("K", bound=Hashable)
G = TypeVar("G", bound=Counted)


class TopGroups(Generic[K, G]):
    """Groups by key. At `most` groups, the smaller half is passed to `fold` and dropped.

    The largest by count and the largest by cost are kept. A dropped group that appears again
    starts from zero, so its numbers are then too low.
    """

    def __init__(self, most: int, fold: Callable[[G], None]) -> None:
        self._most = max(4, most)
        self._fold = fold
        self._groups: dict[K, G] = {}
        self.folded = 0

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[G]:
        return iter(self._groups.values())

    def get(self, key: K) -> G | None:
        return self._groups.get(key)

    def add(self, key: K, group: G) -> G:
        if len(self._groups) >= self._most:
            self._prune()
        self._groups[key] = group
        return group

    def _prune(self) -> None:
        quarter = self._most // 4
        items = sorted(self._groups.items(), key=lambda item: item[1].count, reverse=True)
        kept = dict(items[:quarter])
        rest = sorted(items[quarter:], key=lambda item: item[1].cost, reverse=True)
        kept.update(rest[:quarter])
        for _, group in rest[quarter:]:
            self._fold(group)
        self.folded += len(rest) - quarter
        self._groups = kept


_PER_OCTAVE = 16


class LatencyHistogram(msgspec.Struct, array_like=True, gc=False):
    """Durations in whole microseconds. `max` and `total` are exact; a percentile is a bucket's middle.

    `buckets`: counts by bucket, a sixteenth of an octave; bucket -1 counts durations of 0.
    """

    buckets: dict[int, Count] = {}
    total: int = 0
    max: Count = 0
    count: Count = 0

    def add(self, micros: int, times: int = 1) -> None:
        """Add a duration; `times` -1 removes one, if there is any: `max` does not change."""
        bucket = int(math.log2(micros) * _PER_OCTAVE) if micros > 0 else -1
        count = self.buckets.get(bucket, 0) + times
        if count < 0:
            return
        self.buckets[bucket] = count
        if not count:
            del self.buckets[bucket]
        self.count += times
        self.total += micros * times
        if micros > self.max:
            self.max = micros

    def merge(self, other: LatencyHistogram) -> None:
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count
        self.count += other.count
        self.total += other.total
        self.max = max(self.max, other.max)

    def percentile(self, share: float) -> float:
        """Return the duration in µs that `share` (0–1) of all do not exceed; 0 if nothing was counted."""
        wanted, seen = math.ceil(share * self.count), 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= wanted:
                middle = 2 ** ((bucket + 0.5) / _PER_OCTAVE) if bucket >= 0 else 0.0
                return min(middle, float(self.max))
        return 0.0

    def octaves(self) -> list[tuple[int, int]]:
        """Return (upper bound in µs, count between the previous bound and this one) per octave.

        Fastest first; each bound is twice the previous one, and empty octaves in between are included.
        """
        counts: dict[int, int] = {}
        for bucket, count in self.buckets.items():
            octave = bucket // _PER_OCTAVE + 1 if bucket >= 0 else 0
            counts[octave] = counts.get(octave, 0) + count
        if not counts:
            return []
        return [(2**octave, counts.get(octave, 0)) for octave in range(min(counts), max(counts) + 1)]
