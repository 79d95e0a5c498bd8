"""Watch streams of a real etcd."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from typing import Any

import grpc
import pytest

from ktui.contract.events import EtcdCall
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import CompactedError, ConnectionLostError, EtcdError, UnreachableError
from ktui.etcd.types import WatchEvent
from ktui.etcd.watch import WatchStream
from ktui.storage.compaction import compact, follow_compactions
from ktui.telemetry.bus import Bus

pytestmark = pytest.mark.anyio


async def test_events_come_in_order_with_the_state_before(client: EtcdClient, prefix: str) -> None:
    key, end = f"{prefix}/".encode(), f"{prefix}0".encode()
    made = await client.create(key + b"a", b"1")
    async with client.watch(key, end, made.revision) as watch:
        batch = await anext(watch)
        assert [(e.type, e.kv.value, e.prev_kv) for e in batch.events] == [("PUT", b"1", None)]
        changed = await client.update(key + b"a", b"2", made.revision)
        await client.delete(key + b"a", changed.revision)
        seen: list[WatchEvent] = []
        while len(seen) < 2:  # etcd may report its progress in between
            seen += (await anext(watch)).events
    assert [e.type for e in seen] == ["PUT", "DELETE"]
    assert [e.prev_kv and e.prev_kv.value for e in seen] == [b"1", b"2"]


async def write_elsewhere(config: EtcdConfig, prefix: str) -> None:
    """Move etcd's head: since 3.5.13 it tells no progress before the revision at which a watch starts."""
    other = await EtcdClient.connect(config, Bus())
    await other.create(f"{prefix}-elsewhere".encode(), b"")
    await other.close()


async def test_progress_is_told_after_all_events(client: EtcdClient, prefix: str) -> None:
    key, end = f"{prefix}/".encode(), f"{prefix}0".encode()
    start = client.head + 1
    for i in range(50):
        await client.create(key + b"%d" % i, b"")
    async with client.watch(key, end, start) as watch:
        await watch.request_progress()
        seen = 0
        async for batch in watch:
            seen += len(batch.events)
            if batch.is_progress:
                break
        # An etcd that old may answer before the events: the batch is what is tested, not the order.
        assert batch.revision >= start + 49 or seen < 50


async def test_a_large_batch_is_put_together_from_its_fragments(client: EtcdClient, prefix: str) -> None:
    key, end = f"{prefix}/".encode(), f"{prefix}0".encode()
    start = client.head + 1
    for i in range(8):
        await client.create(key + b"%d" % i, bytes([65 + i]) * 1_000_000)
    async with client.watch(key, end, start) as watch:
        seen: list[bytes] = []
        while len(seen) < 8:
            seen += [event.kv.value[:1] for event in (await anext(watch)).events]
    assert seen == [bytes([65 + i]) for i in range(8)]


async def test_closing_ends_the_iteration_and_leaves_no_task(
    client: EtcdClient, etcd_config: EtcdConfig, prefix: str
) -> None:
    before = asyncio.all_tasks()
    # Without etcd's own reports: the second reader is to find nothing.
    watch = client.watch(prefix.encode(), start_revision=client.head + 1, progress_notify=False)
    await watch.open()
    await write_elsewhere(etcd_config, prefix)
    reader = asyncio.create_task(anext(watch, None))
    await watch.request_progress()
    assert (await reader) is not None
    reader = asyncio.create_task(anext(watch, None))
    await asyncio.sleep(0)
    await watch.close()
    assert await reader is None
    assert [batch async for batch in watch] == []
    async with asyncio.timeout(60):
        while asyncio.all_tasks() - before:
            await asyncio.sleep(0)


def stream_calls() -> list[Any]:
    return [one for one in gc.get_objects() if isinstance(one, grpc.aio.StreamStreamCall)]


async def test_ended_watches_leave_no_garbage(client: EtcdClient, bus: Bus, prefix: str) -> None:
    """Garbage is collected rarely, and the call of each watch holds tens of KB."""
    nowhere = EtcdClient(EtcdConfig(("http://127.0.0.1:1",)), bus)
    ended: list[weakref.ref[WatchStream]] = []
    gc.collect()
    others = stream_calls()  # of other tests; kept, so that no new one gets the id of one of them
    gc.disable()
    try:
        for one in [client, nowhere] * 4:
            watch = one.watch(prefix.encode(), start_revision=client.head + 1)
            ended.append(weakref.ref(watch))
            with contextlib.suppress(UnreachableError):
                await watch.open()
                await watch.request_progress()
                await anext(watch)
            await watch.close()
            del watch
        for _ in range(5):
            await asyncio.sleep(0)  # tasks that were cancelled end
        assert not [watch for watch in ended if watch() is not None]
        known = {id(one) for one in others}
        async with asyncio.timeout(60):  # a connection forgets its last one with the next
            while len([one for one in stream_calls() if one.done() and id(one) not in known]) > 2:
                await asyncio.sleep(0)  # gRPC's own tasks end
    finally:
        gc.enable()
        await nowhere.close()


@pytest.mark.parametrize("how", ["give_up", "move_watches"])
async def test_a_watch_that_is_ended_while_it_is_read_leaves_no_garbage(
    etcd_config: EtcdConfig, bus: Bus, prefix: str, how: str
) -> None:
    one = await EtcdClient.connect(etcd_config, bus)
    gc.collect()
    gc.disable()
    try:
        watch = one.watch(prefix.encode(), start_revision=one.head + 1)
        await watch.open()
        connection = watch._connection
        assert connection is not None
        asyncio.get_running_loop().call_soon(getattr(connection, how))
        with contextlib.suppress(ConnectionLostError):
            while await anext(watch):  # progress, which etcd may report before
                pass
        await watch.close()
        ended = weakref.ref(watch)
        del watch
        for _ in range(5):
            await asyncio.sleep(0)
        assert ended() is None
    finally:
        gc.enable()
        await one.close()


async def test_cancelling_the_reader_is_not_taken_for_an_end(client: EtcdClient, prefix: str) -> None:
    watch = client.watch(prefix.encode(), start_revision=client.head + 1)
    await watch.open()
    reader = asyncio.create_task(anext(watch))
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    await watch.close()


async def test_a_request_under_way_when_the_stream_is_closed_is_an_error_not_a_cancellation(
    client: EtcdClient, prefix: str
) -> None:
    """The requesting task is not cancelled: it requests on behalf of other caches too."""
    refused = 0
    for turns in (number % 7 for number in range(140)):
        watch = client.watch(prefix.encode(), start_revision=client.head + 1)
        await watch.open()
        asking = asyncio.create_task(watch.request_progress())
        for _ in range(turns):
            await asyncio.sleep(0)
        await watch.close()
        await asyncio.wait([asking])
        assert not asking.cancelled()
        refused += isinstance(asking.exception(), UnreachableError)
    assert refused >= 20  # all that had no turn


async def test_creation_and_progress_requests_are_published(
    client: EtcdClient, etcd_config: EtcdConfig, bus: Bus, prefix: str
) -> None:
    subscription = bus.subscribe()
    rpcs = client.usage.rpcs
    async with client.watch(f"{prefix}/".encode(), f"{prefix}0".encode(), client.head + 1) as watch:
        await write_elsewhere(etcd_config, prefix)
        await watch.request_progress()
        await anext(watch)
    subscription.close()
    calls = [
        e for batch in [b async for b in subscription.batches()] for e in batch if isinstance(e, EtcdCall)
    ]
    assert [call.op for call in calls] == ["watch_create", "watch_progress"]
    assert calls[0].request.startswith(
        f'create_request:<key:"{prefix}/" range_end:"{prefix}0" start_revision:'
    )
    assert client.usage.rpcs == rpcs + 1


async def test_compaction_and_the_end_of_etcd(bus: Bus) -> None:
    etcd = await EmbeddedEtcd.start()
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), bus)
    told: asyncio.Queue[int] = asyncio.Queue()
    follower = asyncio.create_task(follow_compactions(client, told.put_nowait))
    try:
        revision = (await client.create(b"/a", b"1")).revision
        for i in range(5):
            revision = (await client.update(b"/a", b"%d" % i, revision)).revision
        async with asyncio.timeout(60):
            await compact(client, revision)
            assert await told.get() == revision
        with pytest.raises(CompactedError):
            await client.range(b"/a", revision=2)
        with pytest.raises(CompactedError) as caught:
            await anext(client.watch(b"/a", start_revision=2))
        assert caught.value.compact_revision == revision == client.ledger.compact
        assert (await client.range(b"/a", revision=revision)).kvs[0].value == b"4"

        watch = client.watch(b"/a", start_revision=revision + 1, progress_notify=False)
        await watch.open()
        await client.create(b"/b", b"1")
        await watch.request_progress()
        await anext(watch)
        await etcd.stop()
        with pytest.raises(EtcdError):
            await anext(watch)
        with pytest.raises(UnreachableError, match=r"127\.0\.0\.1"):
            await client.range(b"/a")
    finally:
        follower.cancel()
        await asyncio.gather(follower, return_exceptions=True)
        await client.close()
        await etcd.stop()


async def test_a_watch_that_is_moved_before_it_is_connected_ends() -> None:
    """grpc.aio leaves the first write of such a call waiting for ever."""
    connected, over = asyncio.Event(), asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await over.wait()
        writer.transport.abort()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    client = EtcdClient(EtcdConfig((f"http://127.0.0.1:{port}",)), Bus())
    opening = asyncio.ensure_future(client.watch(b"a").open())
    await connected.wait()
    client.reroute()
    async with asyncio.timeout(60):
        with pytest.raises(UnreachableError):
            await opening
    over.set()
    await client.close()
    silent.close()
    await silent.wait_closed()
