"""Where Kubernetes keeps its keys, in etcds of their own: what is found depends on all that they hold."""

from __future__ import annotations

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.storage.prefix import find_prefix
from ktui.telemetry.bus import Bus

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("keys", "prefix"),
    [
        ((), None),
        (("/app/config", "registry"), None),
        (("/registry/pods/a/p1",), "/registry"),  # filled by a tool: no server has made a namespace
        (("/kubernetes.io/pods/a/p1",), "/kubernetes.io"),
        (("/registry/pods/a/p1", "/kubernetes.io/namespaces/default"), "/kubernetes.io"),
        (("/registry/pods/a/p1", "/k8s/namespaces/default"), "/k8s"),
    ],
)
async def test_the_prefix_that_is_found(bus: Bus, keys: tuple[str, ...], prefix: str | None) -> None:
    etcd = await EmbeddedEtcd.start()
    try:
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), bus)
        for key in keys:
            await client.create(key.encode(), b"x")
        assert await find_prefix(client) == prefix
        await client.close()
    finally:
        await etcd.stop()
