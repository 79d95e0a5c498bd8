"""Measure the bytes under a prefix: count keys exactly, sample values if reading all is too expensive."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from statistics import fmean, median

from ktui.etcd.client import EtcdClient
from ktui.etcd.types import KV
from ktui.storage.keys import range_end

LARGEST = 1 << 20
"""Bytes of one object that may hide between the places: kube-apiserver accepts little more."""
_LAST_BYTE = ord("z")  # names have lower case letters, digits and punctuation before these
_DEVIATIONS, _FEW = 2.3, 14.0  # standard errors on each side, more of them if there are few places
_UNUSUAL = 20  # an object this many times larger than the median stands for itself, not for others


@dataclass(frozen=True, slots=True)
class StoredSize:
    """A prefix's keys plus values: `exact`, or estimated: between `low` and `high` in 95 of 100 clusters."""

    count: int
    bytes: int
    exact: bool
    low: int = 0
    high: int = 0


@dataclass(slots=True)
class _Place:
    """Consecutive keys that were read."""

    first: bytes
    last: bytes
    sizes: Sequence[int]
    after: int  # keys between them and the next place
    passing: int = 0  # skipping what shares up to this many bytes with the last key passes all of these

    @property
    def mean(self) -> float:
        return fmean(self.sizes)


class RangeSample:
    """Estimates the bytes of the `count` keys that begin with `prefix` from a few places; the caller reads.

    The next place is searched in the longest stretch between two places: from the last key before it,
    everything is skipped that shares the first N bytes, with N found by trying. So places spread over the
    whole range whatever its keys look like, without listing them.
    """

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
        possible = range(max(shared, place.passing), len(place.last))
        depths = [depth for depth in possible if place.last[depth] < _LAST_BYTE]
        if not depths:
            return None
        # The less is shared, the farther it skips.
        depth = self._rng.choice(depths[: max(1, len(depths) // 2)])
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

    def estimate(self) -> StoredSize:
        """Return the bytes of all keys, with an interval.

        Keys between two places are taken to be as large as those of both. The error of that is judged by how
        much neighbouring places differ; an object of LARGEST may hide in what was not read.
        """
        known, sizes = self.sampled_bytes, [size for place in self._places for size in place.sizes]
        unread = max(0, self.count - len(sizes))
        if not sizes or not unread:
            return StoredSize(self.count, known, exact=True, low=known, high=known)
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
        low, high = max(known, round(total / factor)), round(total * factor + rare) + LARGEST
        return StoredSize(self.count, round(total), exact=low == high, low=low, high=high)

    def _variance(self, means: Sequence[float], usual: float) -> float:
        """Return the variance of the mean of a place: by neighbours, or by its own keys if that is more."""
        steps = [(two - one) ** 2 / 2 for one, two in pairwise(means)]
        found = ((place.sizes, mean) for place, mean in zip(self._places, means, strict=True))
        inside = [
            sum((min(size, usual) - mean) ** 2 for size in sizes) / (len(sizes) - 1) / len(sizes)
            for sizes, mean in found
            if len(sizes) > 1
        ]
        return max(fmean(steps) if steps else 0.0, fmean(inside) if inside else 0.0)


def _shared(one: bytes, two: bytes) -> int:
    """Return how many bytes two keys begin with alike."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )


SECRETS = b"/secrets/"


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits for measuring one prefix.

    Values of up to `exact_keys` are all read. Of more, up to `keys_each` are read at each of several places:
    `first_places` at once, and `more_places` each time the size is asked again, up to `most_places`. Reading
    stops at `most_bytes`. After `valid_seconds` it begins again.
    """

    exact_keys: int
    keys_each: int
    first_places: int
    more_places: int
    most_places: int
    most_bytes: int
    valid_seconds: float
    reads_secrets: bool


THOROUGH = Effort(2000, 16, 32, 0, 32, most_bytes=4 << 20, valid_seconds=30.0, reads_secrets=True)
# For an etcd that others depend on. Values of Secrets are not read until a user opens one.
GENTLE = Effort(8, 3, 8, 2, 32, most_bytes=512 << 10, valid_seconds=3600.0, reads_secrets=False)
_TRIES = 2  # per place: a place may turn out to be one that is known
_LARGE_READ = 8  # one read may take this part of the bytes


@dataclass(slots=True)
class _Known:
    """A measured prefix: since when, and the sample, None if every value was read."""

    at: float
    size: StoredSize
    sample: RangeSample | None


class Sizes:
    """Counts with count-only Ranges; reads values only as often and as many as `effort` allows."""

    def __init__(self, client: EtcdClient, purpose: str, effort: Effort) -> None:
        self._client = client
        self._purpose = purpose
        self._effort = effort
        self._rng = Random()
        self._known: dict[bytes, _Known] = {}

    async def of(self, prefix: bytes, is_key: bool = False) -> StoredSize:
        """Return the size of all keys under `prefix`, or of the key `prefix` if `is_key`."""
        end = b"" if is_key else range_end(prefix)
        count = (await self._client.range(prefix, end, count_only=True, purpose=self._purpose)).count
        now = time.monotonic()
        known = self._known.get(prefix)
        if known is not None and known.size.count and now - known.at < self._effort.valid_seconds:
            if known.sample is not None and await self._visit(prefix, end, known.sample):
                known.size = known.sample.estimate()
            return _for_count(known.size, count)
        if SECRETS in prefix + b"/" and not self._effort.reads_secrets:
            return StoredSize(count, 0, exact=not count)
        size, sample = await self._measure(prefix, end, count)
        self._known[prefix] = _Known(now, size, sample)
        return size

    async def _measure(self, prefix: bytes, end: bytes, count: int) -> tuple[StoredSize, RangeSample | None]:
        """Read every value, or sample those of a large prefix."""
        effort = self._effort
        whole = count <= effort.exact_keys
        first = await self._first_keys(prefix, end, count if whole else effort.keys_each)
        weight = sum(map(_weight, first))
        if len(first) >= count or not first:
            return StoredSize(len(first), weight, exact=True, low=weight, high=weight), None
        sample = RangeSample(prefix, count, self._rng)
        sample.add([(kv.key, _weight(kv)) for kv in first], 0)
        await self._visit(prefix, end, sample, effort.first_places - 1, weight + effort.most_bytes)
        return sample.estimate(), sample

    async def _first_keys(self, start: bytes, end: bytes, most: int) -> list[KV]:
        """Read up to `most` keys from the start of the range, as far as the limit of bytes allows."""
        found: list[KV] = []
        weight, wanted = 0, 1
        while len(found) < most and weight < self._effort.most_bytes // _LARGE_READ:
            answer = await self._client.range(
                start, end, limit=min(wanted, most - len(found)), purpose=self._purpose
            )
            if not answer.kvs:
                break
            found += answer.kvs
            weight = sum(map(_weight, found))
            start = answer.kvs[-1].key + b"\0"
            wanted = max(1, (self._effort.most_bytes // _LARGE_READ - weight) * len(found) // weight)
        return found

    async def _visit(
        self, prefix: bytes, end: bytes, sample: RangeSample, places: int | None = None, most_bytes: int = 0
    ) -> bool:
        """Read at more places; True if any was read."""
        effort = self._effort
        wanted = min(effort.most_places, sample.places + (effort.more_places if places is None else places))
        most_bytes = most_bytes or effort.most_bytes
        before = sample.places
        for _ in range(_TRIES * max(0, wanted - before)):
            enough = sample.places >= wanted or sample.sampled_bytes >= most_bytes
            if enough or (read := sample.next_read()) is None:
                break
            skipped_from, start, stop = read
            skipped = await self._client.range(skipped_from, start, count_only=True, purpose=self._purpose)
            each = sample.sampled_bytes // sample.sampled or 1
            limit = max(1, min(effort.keys_each, most_bytes // _LARGE_READ // each))
            answer = await self._client.range(start, stop or end, limit=limit, purpose=self._purpose)
            sample.add([(kv.key, _weight(kv)) for kv in answer.kvs], skipped.count)
        return sample.places > before


def _weight(kv: KV) -> int:
    return len(kv.key) + len(kv.value)


def _for_count(size: StoredSize, count: int) -> StoredSize:
    """Return a size that was measured for another number of keys, extrapolated to `count`."""
    if size.count == count:
        return size
    share = count / size.count
    return StoredSize(
        count, round(size.bytes * share), exact=False, low=round(size.low * share),
        high=round(size.high * share),
    )  # fmt: skip
