"""How much lies under a prefix: counted exactly, weighed by a sample where that would be dear."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ktui.etcd.client import EtcdClient
from ktui.storage.keys import range_end

EXACT_KEYS = 2000
SAMPLE_KEYS = 500
_FIRST_KEYS = 16
_SAMPLE_BYTES = 4 << 20
_REMEMBERED = 30.0  # seconds for which a weight stands while the number of keys does not change


@dataclass(frozen=True, slots=True)
class Size:
    """`bytes` is keys plus values; not `exact`: as if all weighed what the first ones do."""

    count: int
    bytes: int
    exact: bool


class Sizes:
    """Counts with count-only Ranges; reads the values of at most 2,000 keys or 4 MiB to weigh them."""

    def __init__(self, client: EtcdClient, purpose: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._purpose = purpose
        self._clock = clock
        self._known: dict[bytes, tuple[float, Size]] = {}

    async def of(self, prefix: bytes, is_key: bool = False) -> Size:
        """The size of everything under `prefix`, or of that one key."""
        end = b"" if is_key else range_end(prefix)
        answer = await self._client.range(prefix, end, count_only=True, purpose=self._purpose)
        now = self._clock()
        known_at, known = self._known.get(prefix, (0.0, None))
        if known is not None and known.count == answer.count and now - known_at < _REMEMBERED:
            return known
        size = await self._weigh(prefix, end, answer.count, answer.revision)
        self._known[prefix] = (now, size)
        return size

    async def _weigh(self, prefix: bytes, end: bytes, count: int, revision: int) -> Size:
        most = count if count <= EXACT_KEYS else SAMPLE_KEYS
        start, keys, weight, wanted = prefix, 0, 0, _FIRST_KEYS
        while keys < most and weight < _SAMPLE_BYTES:
            answer = await self._client.range(
                start, end, limit=min(wanted, most - keys), revision=revision, purpose=self._purpose
            )
            if not answer.kvs:
                break
            keys += len(answer.kvs)
            weight += sum(len(kv.key) + len(kv.value) for kv in answer.kvs)
            start = answer.kvs[-1].key + b"\0"
            wanted = max(1, (_SAMPLE_BYTES - weight) * keys // weight)
        if keys >= count:
            return Size(keys, weight, exact=True)
        return Size(count, weight * count // (keys or 1), exact=False)
