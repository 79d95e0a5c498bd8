"""Measure the bytes under a prefix: count keys exactly, sample values if reading all is too expensive."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ktui.etcd.client import EtcdClient
from ktui.storage.keys import range_end

SECRETS = b"/secrets/"


@dataclass(frozen=True, slots=True)
class StoredSize:
    """The size of a prefix. `bytes` is keys plus values: extrapolated unless `exact`, 0 if none was read."""

    count: int
    bytes: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits for measuring one prefix, and the seconds for which a result stays valid."""

    exact_keys: int  # if there are at most this many keys, all values are read
    sample_keys: int  # otherwise this many
    first_keys: int  # this many in the first read, before their size is known
    most_bytes: int
    valid_seconds: float
    reads_secrets: bool


THOROUGH = Effort(2000, 500, first_keys=16, most_bytes=4 << 20, valid_seconds=30.0, reads_secrets=True)
# For an etcd that others depend on. Values of Secrets are not read until a user opens one.
GENTLE = Effort(8, 8, first_keys=1, most_bytes=32 << 10, valid_seconds=3600.0, reads_secrets=False)


class Sizes:
    """Counts with count-only Ranges; reads values only as often and as many as `effort` allows."""

    def __init__(
        self,
        client: EtcdClient,
        purpose: str,
        effort: Effort = THOROUGH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._purpose = purpose
        self._effort = effort
        self._clock = clock
        self._known: dict[bytes, tuple[float, StoredSize]] = {}

    async def of(self, prefix: bytes, is_key: bool = False) -> StoredSize:
        """Return the size of all keys under `prefix`, or of the key `prefix` if `is_key`."""
        end = b"" if is_key else range_end(prefix)
        answer = await self._client.range(prefix, end, count_only=True, purpose=self._purpose)
        now = self._clock()
        known_at, known = self._known.get(prefix, (0.0, None))
        if known is not None and known.count and now - known_at < self._effort.valid_seconds:
            if known.count == answer.count:
                return known
            return StoredSize(answer.count, known.bytes * answer.count // known.count, exact=False)
        if SECRETS in prefix + b"/" and not self._effort.reads_secrets:
            return StoredSize(answer.count, 0, exact=not answer.count)
        size = await self._weigh(prefix, end, answer.count, answer.revision)
        self._known[prefix] = (now, size)
        return size

    async def _weigh(self, prefix: bytes, end: bytes, count: int, revision: int) -> StoredSize:
        effort = self._effort
        most = count if count <= effort.exact_keys else effort.sample_keys
        start, keys, weight, wanted = prefix, 0, 0, effort.first_keys
        while keys < most and weight < effort.most_bytes:
            answer = await self._client.range(
                start, end, limit=min(wanted, most - keys), revision=revision, purpose=self._purpose
            )
            if not answer.kvs:
                break
            keys += len(answer.kvs)
            weight += sum(len(kv.key) + len(kv.value) for kv in answer.kvs)
            start = answer.kvs[-1].key + b"\0"
            wanted = max(1, (effort.most_bytes - weight) * keys // weight)
        if keys >= count:
            return StoredSize(keys, weight, exact=True)
        return StoredSize(count, weight * count // (keys or 1), exact=False)
