"""What leaves the process when ktui may only read: Range, Watch and Status."""

from __future__ import annotations

import asyncio

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import ReadOnlyError
from ktui.kube.resources import BUILTIN
from ktui.kube.selectors import LabelSelector
from ktui.kube.status import StatusError
from ktui.storage.browser import EtcdBrowser
from ktui.storage.compaction import compact, follow_compactions
from ktui.storage.lister import StoreListRequest
from ktui.storage.objects import SelectionPredicate
from ktui.storage.store import Store
from ktui.telemetry.bus import Bus
from tests.etcd.recording import RecordingProxy

pytestmark = pytest.mark.anyio

HARMLESS = {"/etcdserverpb.KV/Range", "/etcdserverpb.Watch/Watch", "/etcdserverpb.Maintenance/Status"}

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}


async def test_only_range_watch_and_status_pass(
    etcd: EmbeddedEtcd, client: EtcdClient, bus: Bus, prefix: str
) -> None:
    resource = BUILTIN.by_name("configmaps")
    assert resource is not None
    created = await Store(client, resource, prefix).create(CONFIG_MAP)
    lease = await client.grant_lease(600)
    await client.create(f"{prefix}/leased".encode(), b"1", lease)
    async with RecordingProxy(etcd.endpoint) as proxy:
        reader = await EtcdClient.connect(EtcdConfig((proxy.endpoint,)), bus)
        await use_everything(reader, Store(reader, resource, prefix), prefix, created.rv)
        await reader.close()
    assert set(proxy.methods) == HARMLESS
    again, _ = await Store(client, resource, prefix).get("shop", "c")
    assert again is not None and again.rv == created.rv


async def use_everything(client: EtcdClient, store: Store, prefix: str, rv: int) -> None:
    """Every method of client, store and browser that there is."""
    assert (await store.get("shop", "c"))[0] is not None
    assert [page.count async for page in store.pages()] == [1]
    await store.list(StoreListRequest())
    await store.list(
        StoreListRequest("shop", limit=1, selection=SelectionPredicate(LabelSelector.parse("a=b")))
    )
    await store.probe()
    await store.count()
    async with store.watch(rv - 1) as watch:
        assert [event.type for event in await anext(watch)] == ["ADDED"]
        await watch.stream.request_progress()
    for write in (
        store.create(CONFIG_MAP),
        store.create(CONFIG_MAP, ttl=60),
        store.update("shop", "c", lambda obj: {**obj, "data": {"a": "b"}}),
        store.delete("shop", "c"),
    ):
        with pytest.raises(StatusError, match="ktui reads this etcd only"):
            await write
    with pytest.raises(ReadOnlyError):
        await compact(client, rv)
    browser = EtcdBrowser(client, prefix)
    await browser.prefixes(f"{prefix}/")
    await browser.keys(f"{prefix}/")
    await browser.history(f"{prefix}/leased")
    leased = await browser.key(f"{prefix}/leased")
    assert leased is not None and leased.kv.lease and leased.ttl is None
    follower = asyncio.create_task(follow_compactions(client, lambda _: None))
    await asyncio.sleep(0)
    follower.cancel()
    await asyncio.gather(follower, return_exceptions=True)


async def test_the_proxy_would_see_a_write(etcd: EmbeddedEtcd, bus: Bus, prefix: str) -> None:
    async with RecordingProxy(etcd.endpoint) as proxy:
        writer = await EtcdClient.connect(EtcdConfig((proxy.endpoint,), read_only=False), bus)
        await writer.create(prefix.encode(), b"")
        await writer.close()
    assert proxy.methods["/etcdserverpb.KV/Txn"] == 1
