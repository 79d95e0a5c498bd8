"""Measure the values under a prefix by reading each once, in bounded pages."""

from __future__ import annotations

import heapq

from ktui.contract.etcd import LargeKey, SurveyPage
from ktui.etcd.client import EtcdClient
from ktui.etcd.types import KV
from ktui.storage.keytext import key_text
from ktui.storage.sizes import SECRETS
from ktui.storage.slices import Slices
from ktui.wire.errors import CodecError
from ktui.wire.sizes import field_sizes

MANAGED_FIELDS = "metadata.managedFields"
_PAGE_BYTES = 2 << 20  # bytes of values per page
_READ_BYTES = 512 << 10  # bytes of values per RPC
_FIRST_KEYS = 2
_LARGEST = 20


async def survey_page(
    client: EtcdClient, start: bytes, end: bytes, purpose: str, *, gentle: bool
) -> SurveyPage:
    """Measure about two megabytes of the keys from `start` on; `next` is the next start, "" at the end.

    `gentle`: for an etcd that others depend on, the values of Secrets are not read.
    """
    slices, largest = Slices(), list[tuple[int, str]]()
    keys = size = managed = skipped = 0
    cursor, wanted, more, revision = start, _FIRST_KEYS, True, 0
    while more and size < _PAGE_BYTES:
        secret = gentle and SECRETS in cursor
        answer = await client.range(cursor, end, limit=wanted, keys_only=secret, purpose=purpose)
        revision, more = answer.revision, answer.more and bool(answer.kvs)
        for kv in answer.kvs:
            if gentle and SECRETS in kv.key:
                skipped += 1
                continue
            weight = len(kv.key) + len(kv.value)
            keys, size = keys + 1, size + weight
            managed += _managed(kv)
            heapq.heappush(largest, (weight, key_text(kv.key)))
            if len(largest) > _LARGEST:
                heapq.heappop(largest)
            await slices.yield_if_due()
        if answer.kvs:
            cursor = answer.kvs[-1].key + b"\0"
        wanted = 500 if secret else max(1, min(500, _READ_BYTES * keys // max(1, size)))
    found = [LargeKey(key, weight) for weight, key in sorted(largest, reverse=True)]
    return SurveyPage(revision, keys, size, managed, skipped, found, key_text(cursor) if more else "")


def _managed(kv: KV) -> int:
    """Return the bytes of metadata.managedFields; 0 for a value that is not an object."""
    try:
        return sum(field.size for field in field_sizes(kv.value) if field.path == MANAGED_FIELDS)
    except CodecError:
        return 0
