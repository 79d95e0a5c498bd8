"""Browse raw etcd for the etcd screen: prefixes, keys, a key and its history. One read at a time."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ktui.contract.etcd_documents import (
    Churn,
    KeyPage,
    LargeKey,
    PrefixChild,
    PrefixPage,
    StoredKey,
    SurveyPage,
)
from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import CompactedError, EtcdError
from ktui.etcd.types import KV
from ktui.storage.churn import MOST_KEYS, ChurnMeter, follow
from ktui.storage.keys import DecodedValue, key_bytes, key_text, range_end, read_value
from ktui.storage.prefix import find_children
from ktui.storage.prefix_sizes import GENTLE, SECRETS, THOROUGH, Sizes
from ktui.telemetry.off_loop import Slices
from ktui.wire.codec import Codec, codec_for
from ktui.wire.field_sizes import field_sizes
from ktui.wire.pb import CodecError

MANAGED_FIELDS = "metadata.managedFields"
_SURVEY_BYTES = 2 << 20  # bytes of values per page
_READ_BYTES = 512 << 10  # bytes of values per RPC
_SURVEY_FIRST_KEYS = 2
_LARGEST = 20


async def survey_page(
    client: EtcdClient, start: bytes, end: bytes, purpose: str, *, gentle: bool
) -> SurveyPage:
    """Measure about two megabytes of the keys from `start` on by reading each once.

    The page's `next` is the next start, "" at the end. `gentle`: for an etcd that others depend on, the
    values of Secrets are not read.
    """
    slices, largest = Slices(), list[tuple[int, str]]()
    keys = size = managed = skipped = 0
    cursor, wanted, more, revision = start, _SURVEY_FIRST_KEYS, True, 0
    while more and size < _SURVEY_BYTES:
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


PURPOSE = "browse"
_PAGE_BYTES = 8 << 20  # bytes of values to read for one page of keys
_FIRST_KEYS = 16
_KEYS_AT_ONCE = 10_000

# Sort orders of keys; a size that was not read comes last.
KEY_SORTS: Mapping[str, Callable[[StoredKey], Any]] = {
    "key": lambda row: row.key,
    "rev": lambda row: row.mod_revision,
    "version": lambda row: row.version,
    "lease": lambda row: row.lease,
    "bytes": lambda row: row.bytes or 0,
}


class KeyValue(NamedTuple):
    """One key at one revision. `ttl` is in seconds; -1: no lease, or expired; None: unknown (read-only)."""

    kv: KV
    ttl: int | None
    decoded: DecodedValue


class EtcdBrowser:
    """Reads raw etcd. `resource_of` returns the resource of a prefix under `etcd_prefix` (`pods/`), "" for
    none.

    `gentle`, for an etcd that others depend on: sizes come from small, rare samples, and keys are listed
    without reading their values. Prefixes and keys are text as from `key_text`.
    """

    def __init__(
        self,
        client: EtcdClient,
        etcd_prefix: str = "/registry",
        resource_of: Callable[[str], str] = lambda _: "",
        *,
        gentle: bool = False,
    ) -> None:
        self._client = client
        self._root = f"{etcd_prefix.rstrip('/')}/"
        self._resource_of = resource_of
        self._codec: Codec = codec_for()
        self.gentle = gentle
        self._sizes = Sizes(client, PURPOSE, GENTLE if gentle else THOROUGH)
        self._turn = asyncio.Lock()

    @property
    def histories(self) -> int:
        """How often etcd's revision has decreased."""
        return self._client.ledger.histories

    async def prefixes(self, prefix: str) -> PrefixPage:
        """Return the children of `prefix` ("" for all of etcd), each with its number of keys and bytes."""
        async with self._turn:
            found, complete = await find_children(self._client, key_bytes(prefix), PURPOSE)
            children = []
            for child in found:
                size = await self._sizes.of(child.prefix, child.is_key)
                name = key_text(child.prefix)
                resource = self._resource_of(name.removeprefix(self._root))
                children.append(
                    PrefixChild(
                        name, resource, size.count, size.bytes, size.exact, child.leaf, size.low, size.high
                    )
                )
            return PrefixPage(self._client.head, children, complete)

    async def keys(self, prefix: str, limit: int = 500, after: str = "") -> KeyPage:
        """Return up to `limit` keys under `prefix` after the key `after`; fewer if values are large."""
        start, end = key_bytes(prefix) or b"\0", range_end(key_bytes(prefix))
        async with self._turn:
            total = await self._client.range(start, end, count_only=True, purpose=PURPOSE)
            revision, begin = total.revision, (key_bytes(after) + b"\0") if after else start
            found: list[StoredKey] = []
            spent, more, wanted = 0, True, limit if self.gentle else _FIRST_KEYS
            while more and len(found) < limit and spent < _PAGE_BYTES:
                most = min(wanted, limit - len(found))
                answer = await self._client.range(
                    begin, end, limit=most, revision=revision, keys_only=self.gentle, purpose=PURPOSE
                )
                found += (_row(kv, valued=not self.gentle) for kv in answer.kvs)
                spent += sum(len(kv.value) for kv in answer.kvs)
                more = answer.more
                if answer.kvs:
                    begin = answer.kvs[-1].key + b"\0"
                    wanted = max(1, (_PAGE_BYTES - spent) * len(found) // spent) if spent else limit
            return KeyPage(revision, total.count, found, found[-1].key if found and more else "")

    async def top_keys(self, prefix: str, limit: int, by: str, *, descending: bool) -> KeyPage:
        """Return the first `limit` of all keys under `prefix`, sorted by one of KEY_SORTS.

        Reads all keys, a page at a time, each page at its own revision; holds at most two pages in memory.
        """
        first = heapq.nlargest if descending else heapq.nsmallest
        top: list[StoredKey] = []
        after, page = "", KeyPage(0, 0, [])
        while after or not page.revision:
            page = await self.keys(prefix, _KEYS_AT_ONCE, after)
            top = first(limit, [*top, *page.keys], key=KEY_SORTS[by])
            after = page.next
        return KeyPage(page.revision, page.count, top)

    async def key(self, key: str, revision: int = 0) -> KeyValue | None:
        """Return one key at `revision` (0: now), None if it did not exist. Raises CompactedError."""
        async with self._turn:
            kv = await self._at(key_bytes(key), revision)
            if kv is None:
                return None
            return KeyValue(kv, await self._ttl(kv), read_value(kv.value, kv.mod_revision, self._codec))

    async def history(self, key: str, limit: int = 100) -> Sequence[StoredKey]:
        """Return the revisions of a key since its creation, newest first, as far back as etcd has them."""
        rows: list[StoredKey] = []
        async with self._turn:
            kv = await self._at(key_bytes(key), 0)
            while kv is not None and len(rows) < limit:
                rows.append(_row(kv))
                if kv.mod_revision == kv.create_revision:
                    break
                try:
                    kv = await self._at(kv.key, kv.mod_revision - 1)
                except CompactedError:
                    break
        return rows

    async def survey(self, prefix: str, after: str = "") -> SurveyPage:
        """Return the sizes of a few megabytes of values under `prefix`, after the key `after`."""
        start = key_bytes(after) or key_bytes(prefix) or b"\0"
        async with self._turn:
            return await survey_page(
                self._client, start, range_end(key_bytes(prefix)), PURPOSE, gentle=self.gentle
            )

    def churn(self, prefix: str) -> AsyncGenerator[Churn, None]:
        """Yield a report each second on the changes under `prefix`, from one watch; close it at the end."""
        known: dict[str, str] = {}

        def resource_of(key: str) -> str:
            """Resource of `pods/shop/web`, `services/specs/shop/web` or `cilium.io/ciliumnodes/n1`."""
            first, _, rest = key.removeprefix(self._root).partition("/")
            below = f"{first}/{rest.partition('/')[0]}/"
            if below not in known and len(known) < MOST_KEYS:
                known[below] = self._resource_of(f"{first}/") or self._resource_of(below)
            return known.get(below, "")

        return follow(self._client, key_bytes(prefix), ChurnMeter(resource_of, self._codec), PURPOSE)

    async def _at(self, key: bytes, revision: int) -> KV | None:
        """Read a key. A compaction keeps its current value, but etcd refuses reads at that revision."""
        try:
            kvs = (await self._client.range(key, revision=revision, purpose=PURPOSE)).kvs
        except CompactedError:
            kvs = (await self._client.range(key, purpose=PURPOSE)).kvs
            if not kvs or kvs[0].mod_revision > revision:
                raise
        return kvs[0] if kvs else None

    async def _ttl(self, kv: KV) -> int | None:
        if not kv.lease:
            return -1
        # read-only clients may send Range, Watch and Status, but not LeaseTimeToLive
        if self._client.read_only:
            return None
        try:
            return await self._client.lease_ttl(kv.lease)
        except EtcdError:  # the lease has just expired
            return -1


def _row(kv: KV, valued: bool = True) -> StoredKey:
    size = len(kv.value) if valued else None
    return StoredKey(key_text(kv.key), kv.mod_revision, kv.create_revision, kv.version, kv.lease, size)
