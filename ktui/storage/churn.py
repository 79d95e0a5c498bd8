"""Changes in etcd, from one watch: which resources and keys change, and who writes them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

import msgspec

from ktui.contract.etcd_documents import Churn, KeyChurn, LeaseChurn, ResourceChurn
from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import EtcdError
from ktui.etcd.types import WatchBatch, WatchEvent
from ktui.storage.keys import key_text, range_end, read_value
from ktui.telemetry.off_loop import Slices
from ktui.wire.codec import Codec

EVERY = 1.0  # seconds between two reports
MOST_KEYS = 20_000  # keys to count; beyond that, the half that changed least is dropped
HOTTEST = 50  # keys of a report
MOST_LEASES = 20  # of a report
TTL_SECONDS = 60.0  # seconds after which a lease's TTL is read again; until then it is counted down
MOST_DECODED = 20  # values per second whose managedFields are read, one for each key


class _KeyCount(msgspec.Struct):
    """The last fields of KeyChurn."""

    changes: int = 0
    bytes: int = 0
    lease: int = 0
    manager: str = ""


class ChurnMeter:
    """Counts watch events. `resource_of` returns the resource of a key, "" for none."""

    def __init__(self, resource_of: Callable[[str], str], codec: Codec) -> None:
        self._resource_of = resource_of
        self._codec = codec
        self._resources: dict[str, list[int]] = {}
        self._keys: dict[bytes, _KeyCount] = {}
        self._leases: set[int] = set()
        self._left = MOST_DECODED
        self._forgotten = False

    def add(self, event: WatchEvent) -> None:
        kv = event.kv
        size = len(kv.key) + len(kv.value)
        key = key_text(kv.key)
        counts = self._resources.setdefault(self._resource_of(key), [0, 0, 0])
        deleted = event.type == "DELETE"
        counts[deleted] += 1
        counts[2] += size
        count = self._keys.get(kv.key)
        if count is None:
            count = self._keys[kv.key] = _KeyCount()
        count.changes, count.bytes = count.changes + 1, count.bytes + size
        if kv.lease and kv.lease not in self._leases and len(self._leases) < MOST_KEYS:
            self._leases.add(kv.lease)
        count.lease = kv.lease or count.lease
        if not deleted and self._left and not count.manager:
            self._left -= 1
            written = read_value(kv.value, kv.mod_revision, self._codec)
            count.manager = last_manager(written.json)
        if len(self._keys) > MOST_KEYS:
            kept = sorted(self._keys.items(), key=lambda item: -item[1].changes)[: MOST_KEYS // 2]
            self._keys, self._forgotten = dict(kept), True

    def report(self, seconds: float, revision: int) -> Churn:
        """Return the counts since the watch began."""
        self._left = MOST_DECODED
        hottest = sorted(self._keys.items(), key=lambda item: (-item[1].changes, -item[1].bytes, item[0]))
        resources = [ResourceChurn(name, *counts) for name, counts in self._resources.items()]
        named = [(key_text(key), msgspec.structs.astuple(one)) for key, one in hottest[:HOTTEST]]
        leased: dict[int, list[bytes]] = {}
        for key, one in self._keys.items():
            if one.lease:
                leased.setdefault(one.lease, []).append(key)
        most = sorted(leased.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_LEASES]
        first = ((lease, len(keys), key_text(keys[0])) for lease, keys in most)
        return Churn(
            seconds,
            revision,
            sorted(resources, key=lambda item: (-item.bytes, item.resource)),
            [KeyChurn(name, self._resource_of(name), *counts) for name, counts in named],
            len(self._leases),
            sum(map(len, leased.values())),
            complete=not self._forgotten,
            lease_list=[LeaseChurn(lease, keys, self._resource_of(key)) for lease, keys, key in first],
        )


def last_manager(document: dict[str, object] | None) -> str:
    """Return the manager that wrote an object last by its managedFields, "" if that is not known."""
    metadata = (document or {}).get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    if not isinstance(entries, list):
        return ""
    known = [entry for entry in entries if isinstance(entry, dict)]
    newest = max(known, key=lambda entry: str(entry.get("time", "")), default={})
    subresource = f" ({newest['subresource']})" if newest.get("subresource") else ""
    return f"{newest.get('manager', '')}{subresource}"


class LeaseTtls:
    """Seconds until leases expire: read once a minute, counted down in between."""

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self._known: dict[int, tuple[float, int]] = {}  # (time of the read, TTL then)

    async def add_to(self, churn: Churn) -> Churn:
        """The report with TTLs; unchanged for a read-only client, which must not send LeaseTimeToLive."""
        if self._client.read_only:
            return churn
        found = [msgspec.structs.replace(one, ttl=await self._ttl(one.lease)) for one in churn.lease_list]
        self._known = {one.lease: self._known[one.lease] for one in found}
        return msgspec.structs.replace(churn, lease_list=found)

    async def _ttl(self, lease: int) -> int:
        now = time.monotonic()
        read_at, ttl = self._known.get(lease, (-TTL_SECONDS, 0))
        if now - read_at >= TTL_SECONDS or 0 <= ttl <= now - read_at:
            try:
                read_at, ttl = now, await self._client.lease_ttl(lease)
            except EtcdError:  # the lease has expired
                read_at, ttl = now, -1
            self._known[lease] = (read_at, ttl)
        return max(0, ttl - int(now - read_at)) if ttl >= 0 else -1


async def follow(
    client: EtcdClient, prefix: bytes, meter: ChurnMeter, purpose: str
) -> AsyncGenerator[Churn, None]:
    """Yield a report each second from one watch of `prefix`, until closed. Raises EtcdError."""
    start, slices, ttls = time.monotonic(), Slices(), LeaseTtls(client)
    revision = client.head
    watch = client.watch(
        prefix or b"\0", range_end(prefix), prev_kv=False, progress_notify=False, purpose=purpose
    )
    async with watch:
        reading: asyncio.Future[WatchBatch] | None = None
        due = start
        try:
            while True:
                reading = reading or asyncio.ensure_future(anext(watch))
                done, _ = await asyncio.wait({reading}, timeout=max(0.0, due - time.monotonic()))
                if done:
                    batch = reading.result()
                    reading = None
                    revision = max(revision, batch.revision)
                    for event in batch.events:
                        meter.add(event)
                        await slices.yield_if_due()
                if time.monotonic() >= due:
                    due = time.monotonic() + EVERY
                    yield await ttls.add_to(meter.report(time.monotonic() - start, revision))
        finally:
            if reading is not None:
                reading.cancel()
