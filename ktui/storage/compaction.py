"""Compactions: kube-apiserver announces them in a key that all apiservers watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import CompactedError, EtcdError
from ktui.etcd.types import KV

KEY = b"compact_rev_key"  # not under --etcd-prefix
RETRY_SECONDS = 1.0


async def follow_compactions(client: EtcdClient, announce: Callable[[int], None]) -> None:
    """Call `announce` with each announced compaction revision, the current one first, until cancelled.

    kube-apiserver 1.34+ watches this key too, and drops older snapshots from its caches.
    """
    while True:
        try:
            await _follow(client, announce)
        except CompactedError:
            continue  # the key's own history is compacted: start again from its current value
        except EtcdError:
            await asyncio.sleep(RETRY_SECONDS)


async def compact(client: EtcdClient, revision: int) -> None:
    """Announce a compaction at `revision`, then compact. ktui does this only on request."""
    present = await client.range(KEY, purpose="compact")
    value = str(revision).encode()
    if present.kvs:
        await client.update(KEY, value, present.kvs[0].mod_revision, purpose="compact")
    else:
        await client.create(KEY, value, purpose="compact")
    await client.compact(revision)


async def _follow(client: EtcdClient, announce: Callable[[int], None]) -> None:
    present = await client.range(KEY, purpose="compaction")
    for kv in present.kvs:
        _announce(client, announce, kv)
    async with client.watch(
        KEY, start_revision=present.revision + 1, prev_kv=False, purpose="compaction"
    ) as watch:
        async for batch in watch:
            for event in batch.events:
                if event.type == "PUT":
                    _announce(client, announce, event.kv)


def _announce(client: EtcdClient, announce: Callable[[int], None], kv: KV) -> None:
    if kv.value.isdigit():
        client.ledger.saw_compaction(int(kv.value))
        announce(int(kv.value))
