"""Every object of a real 1.36 cluster, as its server answered it, from the bytes in its etcd."""

import json
from collections.abc import AsyncIterator

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.telemetry.bus import Bus
from ktui.wire.codec import codec_for
from tests.unit.wire.corpus import identical
from tools.fidelity.recordings import ORACLE, lines


@pytest.fixture
async def restored() -> AsyncIterator[EtcdClient]:
    etcd = await EmbeddedEtcd.start(snapshot=ORACLE / "cluster.snapshot.db.gz")
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=True), Bus())
    try:
        yield client
    finally:
        await client.close()
        await etcd.stop()


@pytest.mark.anyio
async def test_every_object_is_what_its_server_answered(restored: EtcdClient) -> None:
    answer = await restored.range(b"/registry/", b"/registry0")
    stored = {kv.key.decode(): kv for kv in answer.kvs}
    codec = codec_for(36)
    compared, wrong = 0, []
    for row in lines(ORACLE / "objects.jsonl.xz"):
        kv, body = stored[row["key"]], row["body"]
        shown = json.loads(codec.object_json(kv.value, kv.mod_revision, body["apiVersion"]))
        compared += 1
        if not identical(shown, body):
            wrong.append(row["url"])
    assert wrong == []
    assert compared > 1000
