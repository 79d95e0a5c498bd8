"""Estimate the bytes of a sorted range of keys from a few places in it. Pure: the caller reads.

A place is a few consecutive keys with their sizes. The next place is searched in the longest stretch between
two places: from the last key before it, everything is skipped that shares the first N bytes, with N found by
trying. So places spread over the whole range whatever its keys look like, without listing them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import fmean, median

LARGEST = 1 << 20
"""Bytes of one object that may hide between the places: kube-apiserver accepts little more."""
_LAST_BYTE = ord("z")  # names have lower case letters, digits and punctuation before these
_DEVIATIONS, _FEW = 2.3, 14.0  # standard errors on each side, more of them if there are few places
_UNUSUAL = 20  # an object this many times larger than the median stands for itself, not for others


@dataclass(frozen=True, slots=True)
class SizeEstimate:
    """Bytes of a range; the true number is between `low` and `high` in 95 of 100 clusters."""

    bytes: int
    low: int
    high: int


@dataclass(slots=True)
class _Place:
    """Consecutive keys that were read, and `after`: the number of keys between them and the next place.

    Skipping what shares up to `passing` bytes with the last key is known to pass all of these.
    """

    first: bytes
    last: bytes
    sizes: Sequence[int]
    after: int
    passing: int = 0

    @property
    def mean(self) -> float:
        return fmean(self.sizes)


class RangeSample:
    """Places in the range of keys that begin with `prefix`, of which there are `count`."""

    def __init__(self, prefix: bytes, count: int, rng: Random) -> None:
        self.count = count
        self._prefix, self._rng = prefix, rng
        self._places: list[_Place] = []
        self._tried: tuple[int, int, bool] | None = None  # place, bytes shared, as little as possible skipped

    @property
    def places(self) -> int:
        return len(self._places)

    @property
    def sampled(self) -> int:
        """How many keys were read."""
        return sum(len(place.sizes) for place in self._places)

    @property
    def sampled_bytes(self) -> int:
        return sum(sum(place.sizes) for place in self._places)

    def next_read(self) -> tuple[bytes, bytes, bytes] | None:
        """Return the start of the keys that are skipped, the key to read from, and where to end (b"": the end
        of the range). None if no stretch can be divided any more.
        """
        if not self._places:
            return self._prefix, self._prefix, b""
        stretches = sorted(range(len(self._places)), key=lambda at: self._places[at].after, reverse=True)
        for at in stretches:
            if self._places[at].after and (start := self._start_after(at)) is not None:
                return self._places[at].last + b"\0", start, self._end(at)
        return None

    def _end(self, at: int) -> bytes:
        return self._places[at + 1].first if at + 1 < len(self._places) else b""

    def _start_after(self, at: int) -> bytes | None:
        place, end = self._places[at], self._end(at)
        shared = _shared(place.last, end) if end else len(self._prefix)
        depths = [
            depth
            for depth in range(max(shared, place.passing), len(place.last))
            if place.last[depth] < _LAST_BYTE
        ]
        if not depths:
            return None
        depth = self._rng.choice(
            depths[: max(1, len(depths) // 2)]
        )  # the less is shared, the farther it skips
        byte = place.last[depth]
        most = end[depth] if end and depth == shared else _LAST_BYTE
        least = self._rng.random() < 0.5 or most <= byte + 1
        self._tried = at, depth, least
        return place.last[:depth] + bytes([byte + 1 if least else self._rng.randint(byte + 1, most)])

    def add(self, found: Sequence[tuple[bytes, int]], skipped: int) -> None:
        """Add the keys read for `next_read()` with their sizes, and how many keys were skipped before."""
        if self._tried is None:
            self._insert(0, found, max(0, self.count - len(found)))
            return
        at, depth, least = self._tried
        before = self._places[at]
        if not found:
            before.passing = max(before.passing, depth + 1) if least else before.passing
            return
        self._insert(at + 1, found, max(0, before.after - skipped - len(found)))
        before.after = skipped

    def _insert(self, at: int, found: Sequence[tuple[bytes, int]], after: int) -> None:
        if found:
            sizes = [size for _, size in found]
            self._places.insert(at, _Place(found[0][0], found[-1][0], sizes, after))

    def estimate(self) -> SizeEstimate:
        """Return the bytes of all keys, with an interval.

        Keys between two places are taken to be as large as those of both. The error of that is judged by how
        much neighbouring places differ; an object of LARGEST may hide in what was not read.
        """
        known, sizes = self.sampled_bytes, [size for place in self._places for size in place.sizes]
        unread = max(0, self.count - len(sizes))
        if not sizes or not unread:
            return SizeEstimate(known, known, known)
        usual = _UNUSUAL * median(sizes)
        means = [fmean(min(size, usual) for size in place.sizes) for place in self._places]
        variance = self._variance(means, usual)
        total, rare, squares = float(known), 0.0, 0.0
        for at, place in enumerate(self._places):
            around = (at, at + 1) if at + 1 < len(means) else (at,)
            total += place.after * fmean(means[each] for each in around)
            rare += place.after * fmean(self._places[each].mean - means[each] for each in around)
            squares += place.after**2 * variance
        factor = math.exp((_DEVIATIONS + _FEW / len(means)) * math.sqrt(squares) / total) if total else 1.0
        return SizeEstimate(
            round(total), max(known, round(total / factor)), round(total * factor + rare) + LARGEST
        )

    def _variance(self, means: Sequence[float], usual: float) -> float:
        """Return the variance of the mean of a place: by neighbours, or by its own keys if that is more."""
        steps = [(two - one) ** 2 / 2 for one, two in pairwise(means)]
        inside = [
            sum((min(size, usual) - mean) ** 2 for size in place.sizes)
            / (len(place.sizes) - 1)
            / len(place.sizes)
            for place, mean in zip(self._places, means, strict=True)
            if len(place.sizes) > 1
        ]
        return max(fmean(steps) if steps else 0.0, fmean(inside) if inside else 0.0)


def _shared(one: bytes, two: bytes) -> int:
    """Return how many bytes two keys begin with alike."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
