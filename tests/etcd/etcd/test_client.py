"""Reads, transactions and what they cost, against a real etcd."""

from __future__ import annotations

import pytest

from ktui.contract.events import EtcdCall, EtcdProgress, EtcdUsage
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.errors import (
    FutureRevisionError,
    ReadOnlyError,
    RequestTooLargeError,
    UnreachableError,
)
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Meter, metered

pytestmark = pytest.mark.anyio


def end_of(prefix: str) -> bytes:
    return f"{prefix}0".encode()


async def test_create_update_delete_follow_mod_revision(client: EtcdClient, prefix: str) -> None:
    key = f"{prefix}/a".encode()
    created = await client.create(key, b"1")
    assert created.succeeded and client.head == created.revision
    assert not (await client.create(key, b"2")).succeeded

    stale = await client.update(key, b"2", created.revision - 1)
    assert not stale.succeeded and stale.kv is not None and stale.kv.value == b"1"
    updated = await client.update(key, b"2", created.revision)
    assert updated.succeeded

    assert not (await client.delete(key, created.revision)).succeeded
    assert (await client.delete(key, updated.revision)).succeeded
    gone = await client.delete(key, updated.revision)
    assert not gone.succeeded and gone.kv is None


async def test_range_pages_counts_and_history(client: EtcdClient, prefix: str) -> None:
    revisions = [(await client.create(f"{prefix}/{i}".encode(), b"x" * i)).revision for i in range(5)]
    key, end = f"{prefix}/".encode(), end_of(prefix)
    page = await client.range(key, end, limit=2)
    assert [kv.key[-1:] for kv in page.kvs] == [b"0", b"1"] and page.more and page.count == 5
    old = await client.range(key, end, revision=revisions[2])
    assert old.count == 3 and old.revision >= revisions[4]
    assert [kv.value for kv in (await client.range(key, end, keys_only=True)).kvs] == [b""] * 5
    counted = await client.range(key, end, count_only=True)
    assert counted.count == 5 and not counted.kvs


async def test_a_large_answer_is_decoded_key_by_key_to_the_same(client: EtcdClient, prefix: str) -> None:
    values = [bytes([i]) * 150_000 for i in range(12)]
    for i, value in enumerate(values):
        await client.create(f"{prefix}/{i:02}".encode(), value, lease=0)
    whole = await client.range(f"{prefix}/".encode(), end_of(prefix), limit=11)
    single = [(await client.range(f"{prefix}/{i:02}".encode())).kvs[0] for i in range(11)]
    assert list(whole.kvs) == single and whole.more and whole.count == 12 and whole.revision == client.head


async def test_history_has_two_ends(client: EtcdClient, prefix: str) -> None:
    with pytest.raises(FutureRevisionError):
        await client.range(prefix.encode(), revision=client.head + 1_000_000)
    with pytest.raises(RequestTooLargeError, match=r"1\.5 MiB"):
        await client.create(prefix.encode(), b"x" * (2 << 20))


async def test_what_a_call_costs_is_metered_and_published(client: EtcdClient, bus: Bus, prefix: str) -> None:
    subscription = bus.subscribe()
    meter = Meter(request_id=42)
    with metered(meter):
        await client.create(f"{prefix}/\x01".encode(), b"secret")
        await client.range(f"{prefix}/".encode(), end_of(prefix), limit=5, purpose="list")
    subscription.close()
    calls = [
        e for batch in [b async for b in subscription.batches()] for e in batch if isinstance(e, EtcdCall)
    ]
    txn, listed = calls
    assert meter.etcd_rpcs == 2 and meter.etcd_keys == 1 and meter.phases["etcd"] > 0
    assert meter.etcd_bytes == txn.received_bytes + listed.received_bytes
    assert txn.request == (
        f'compare:<target:MOD key:"{prefix}/\\001" mod_revision:0 > '
        f'success:<request_put:<key:"{prefix}/\\001" value_size:6 >> failure:<>'
    )
    assert (listed.op, listed.purpose, listed.count, listed.request_id) == ("range", "list", 1, 42)
    assert listed.request == f'key:"{prefix}/" range_end:"{prefix}0" limit:5'


async def test_a_new_subscriber_learns_toll_and_head(client: EtcdClient, bus: Bus, prefix: str) -> None:
    await client.create(prefix.encode(), b"")
    subscription = bus.subscribe()
    subscription.close()
    first = [event for batch in [b async for b in subscription.batches()] for event in batch]
    usage = next(e for e in first if isinstance(e, EtcdUsage))
    progress = next(e for e in first if isinstance(e, EtcdProgress))
    assert usage.rpcs == 2 and usage.received_bytes == client.usage.received_bytes > 0
    assert progress.head == client.head > 0 and progress.db_bytes > 0


async def test_read_only_refuses_before_anything_is_sent(
    etcd_config: EtcdConfig, bus: Bus, prefix: str
) -> None:
    config = EtcdConfig(etcd_config.endpoints)
    client = await EtcdClient.connect(config, bus)
    rpcs = client.usage.rpcs
    for write in (
        client.create(prefix.encode(), b""),
        client.update(prefix.encode(), b"", 1),
        client.delete(prefix.encode(), 1),
        client.grant_lease(60),
        client.lease_ttl(1),
        client.compact(1),
    ):
        with pytest.raises(ReadOnlyError):
            await write
    assert client.usage.rpcs == rpcs
    await client.close()


async def test_one_dead_endpoint_of_two_is_survived(etcd_config: EtcdConfig, bus: Bus, prefix: str) -> None:
    config = EtcdConfig(("http://127.0.0.1:1", *etcd_config.endpoints), read_only=False)
    client = await EtcdClient.connect(config, bus)
    assert (await client.create(prefix.encode(), b"")).succeeded
    await client.close()


@pytest.mark.parametrize(
    ("endpoint", "step", "says"),
    [
        ("http://127.0.0.1:1", "TCP", "connection refused"),
        ("http://no-such-host.invalid:2379", "DNS", "cannot be resolved"),
    ],
)
async def test_errors_name_endpoint_and_step(bus: Bus, endpoint: str, step: str, says: str) -> None:
    with pytest.raises(UnreachableError, match=says) as caught:
        await EtcdClient.connect(EtcdConfig((endpoint,)), bus)
    assert caught.value.step == step and endpoint in str(caught.value)


async def test_tls_to_a_plain_port_is_told_apart(etcd_config: EtcdConfig, bus: Bus) -> None:
    endpoint = etcd_config.endpoints[0].replace("http://", "https://")
    with pytest.raises(UnreachableError, match="TLS") as caught:
        await EtcdClient.connect(EtcdConfig((endpoint,)), bus)
    assert caught.value.step == "TLS"
