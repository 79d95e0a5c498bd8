"""Measure the bytes under a prefix: count keys exactly, sample values if reading all is too expensive."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from ktui.etcd.client import EtcdClient
from ktui.etcd.types import KV
from ktui.storage.keys import range_end
from ktui.storage.range_sample import RangeSample

SECRETS = b"/secrets/"


@dataclass(frozen=True, slots=True)
class StoredSize:
    """The size of a prefix. `bytes` is keys plus values: estimated unless `exact`, 0 if none was read.

    The true bytes are most probably between `low` and `high`.
    """

    count: int
    bytes: int
    exact: bool
    low: int = 0
    high: int = 0


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

    def __init__(
        self,
        client: EtcdClient,
        purpose: str,
        effort: Effort = THOROUGH,
        clock: Callable[[], float] = time.monotonic,
        rng: Random | None = None,
    ) -> None:
        self._client = client
        self._purpose = purpose
        self._effort = effort
        self._clock = clock
        self._rng = rng or Random()
        self._known: dict[bytes, _Known] = {}

    async def of(self, prefix: bytes, is_key: bool = False) -> StoredSize:
        """Return the size of all keys under `prefix`, or of the key `prefix` if `is_key`."""
        end = b"" if is_key else range_end(prefix)
        count = (await self._client.range(prefix, end, count_only=True, purpose=self._purpose)).count
        now = self._clock()
        known = self._known.get(prefix)
        if known is not None and known.size.count and now - known.at < self._effort.valid_seconds:
            if known.sample is not None and await self._visit(prefix, end, known.sample):
                known.size = _estimated(known.sample)
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
        return _estimated(sample), sample

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
            read = (
                sample.next_read() if sample.places < wanted and sample.sampled_bytes < most_bytes else None
            )
            if read is None:
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


def _estimated(sample: RangeSample) -> StoredSize:
    found = sample.estimate()
    return StoredSize(sample.count, found.bytes, found.low == found.high, found.low, found.high)


def _for_count(size: StoredSize, count: int) -> StoredSize:
    """Return a size that was measured for another number of keys, extrapolated to `count`."""
    if size.count == count:
        return size
    share = count / size.count
    return StoredSize(
        count, round(size.bytes * share), exact=False, low=round(size.low * share),
        high=round(size.high * share),
    )  # fmt: skip
