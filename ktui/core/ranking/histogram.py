"""Durations counted in logarithmic buckets: percentiles in bounded memory, within 2.2 %."""

from __future__ import annotations

import math

_PER_OCTAVE = 16


class LatencyHistogram:
    """Whole microseconds. `max` and `total` are exact; percentiles are a bucket's middle."""

    __slots__ = ("_buckets", "count", "max", "total")

    def __init__(self) -> None:
        self._buckets: dict[int, int] = {}
        self.count = self.total = self.max = 0

    def add(self, micros: int) -> None:
        bucket = int(math.log2(micros) * _PER_OCTAVE) if micros > 0 else -1
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self.count += 1
        self.total += micros
        if micros > self.max:
            self.max = micros

    def remove(self, micros: int) -> None:
        """Take back one that was added, if there is such a one; `max` stays."""
        bucket = int(math.log2(micros) * _PER_OCTAVE) if micros > 0 else -1
        left = self._buckets.get(bucket, 0) - 1
        if left < 0:
            return
        if left:
            self._buckets[bucket] = left
        else:
            del self._buckets[bucket]
        self.count -= 1
        self.total -= micros

    @property
    def buckets(self) -> dict[int, int]:
        """Counts by sixteenth of an octave, -1 for no time at all."""
        return self._buckets

    @classmethod
    def of(cls, buckets: dict[int, int], total: int, longest: int) -> LatencyHistogram:
        """A histogram from its parts."""
        made = cls()
        made._buckets = dict(buckets)
        made.count, made.total, made.max = sum(buckets.values()), total, longest
        return made

    def merge(self, other: LatencyHistogram) -> None:
        self.extend(other._buckets, other.total, other.max)

    def extend(self, buckets: dict[int, int], total: int, longest: int) -> None:
        """Count what another histogram has, given as its parts."""
        mine = self._buckets
        for bucket, count in buckets.items():
            mine[bucket] = mine.get(bucket, 0) + count
        self.count += sum(buckets.values())
        self.total += total
        self.max = max(self.max, longest)

    def percentile(self, share: float) -> float:
        """The duration that `share` (0 to 1) of all do not exceed; 0 if nothing was counted."""
        wanted, seen = math.ceil(share * self.count), 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                middle = 2 ** ((bucket + 0.5) / _PER_OCTAVE) if bucket >= 0 else 0.0
                return min(middle, float(self.max))
        return 0.0

    def octaves(self) -> list[tuple[int, int]]:
        """(upper bound in microseconds, count between it and the previous bound), each bound twice the last.

        From the fastest to the slowest, empty ones in between included.
        """
        counts: dict[int, int] = {}
        for bucket, count in self._buckets.items():
            octave = bucket // _PER_OCTAVE + 1 if bucket >= 0 else 0
            counts[octave] = counts.get(octave, 0) + count
        if not counts:
            return []
        return [(2**octave, counts.get(octave, 0)) for octave in range(min(counts), max(counts) + 1)]
