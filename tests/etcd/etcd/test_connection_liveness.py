"""Connections that are dead without a word are replaced; an etcd that is only stopped is waited for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ktui.contract.events import EtcdHealth
from ktui.etcd import connection_liveness, endpoints
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.errors import ConnectionLostError
from ktui.telemetry.bus import Bus
from tests.etcd.cacher.link import Link
from tests.etcd.cacher.shot_etcd import ShotEtcd
from tests.etcd.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def watchful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only liveness finds out: gRPC itself never asks whether etcd is still there."""
    kept = [option for option in endpoints._OPTIONS if "keepalive" not in option[0]]
    monkeypatch.setattr(endpoints, "_OPTIONS", kept)
    monkeypatch.setattr(connection_liveness, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(connection_liveness, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(connection_liveness, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(connection_liveness, "GRACE_SECONDS", 0.0)


@pytest.fixture
async def etcd_of_ours(tmp_path: Path) -> AsyncIterator[ShotEtcd]:
    etcd = await ShotEtcd.start(tmp_path / "data")
    yield etcd
    await etcd.close()


@contextlib.asynccontextmanager
async def linked(etcd: ShotEtcd, ways: int, bus: Bus) -> AsyncIterator[tuple[EtcdClient, list[Link]]]:
    """A client with this many connections to the same etcd, as if each were a member."""
    links = [await Link.to(etcd.endpoint) for _ in range(ways)]
    config = EtcdConfig(tuple(link.endpoint for link in links), read_only=False)
    client = await EtcdClient.connect(config, bus)
    try:
        yield client, links
    finally:
        await client.close()
        for link in links:
            await link.close()


@pytest.mark.parametrize("ways", [1, 3])
async def test_a_read_in_flight_is_answered_over_another_connection(
    etcd_of_ours: ShotEtcd, ways: int
) -> None:
    async with linked(etcd_of_ours, ways, Bus()) as (client, links):
        made = await client.create(b"/k", b"1")
        for link in links:
            link.die()
        async with asyncio.timeout(60):
            found = await client.range(b"/k")
        assert [kv.value for kv in found.kvs] == [b"1"] and found.revision >= made.revision
        assert client.endpoints[0] == links[0].endpoint


async def test_a_watch_ends_and_another_one_goes_on_from_there(etcd_of_ours: ShotEtcd) -> None:
    async with linked(etcd_of_ours, 1, Bus()) as (client, (link,)):
        first = await etcd_of_ours.client.create(b"/w/1", b"")
        watch = client.watch(b"/w/", b"/w0", start_revision=first.revision)
        assert [event.kv.key for event in (await anext(watch)).events] == [b"/w/1"]
        link.die()
        second = await etcd_of_ours.client.create(b"/w/2", b"")
        async with asyncio.timeout(60):
            with pytest.raises(ConnectionLostError):
                await anext(watch)
        again = client.watch(b"/w/", b"/w0", start_revision=first.revision + 1)
        events = (await anext(again)).events
        assert [(event.kv.key, event.kv.mod_revision) for event in events] == [(b"/w/2", second.revision)]
        await again.close()


async def test_a_connection_that_broke_and_is_dead_when_it_is_back(etcd_of_ours: ShotEtcd) -> None:
    """A watch over it has never been answered, and no other call uses this connection."""
    async with linked(etcd_of_ours, 2, Bus()) as (client, (link, _)):
        first = await etcd_of_ours.client.create(b"/w/1", b"")
        before = client._transport.endpoints.connection()
        before._failed_at = time.monotonic()  # it broke, and its endpoint is in use again
        link.die()
        watch = client.watch(b"/w/", b"/w0", start_revision=first.revision)
        async with asyncio.timeout(60):
            with pytest.raises(ConnectionLostError):
                await anext(watch)
        again = client.watch(b"/w/", b"/w0", start_revision=first.revision)
        assert [event.kv.key for event in (await anext(again)).events] == [b"/w/1"]
        await again.close()


@pytest.mark.parametrize(("ways", "made"), [(("up", "down"), 0), (("down",), 1)])
async def test_a_write_in_flight_is_not_repeated(
    etcd_of_ours: ShotEtcd, ways: tuple[str, ...], made: int
) -> None:
    """Whether it was made is not known: here once it was not, once it was and the answer is lost."""
    async with linked(etcd_of_ours, 3, Bus()) as (client, links):
        for link in links:
            link.die(*ways)
        async with asyncio.timeout(60):
            with pytest.raises(ConnectionLostError):
                await client.update(b"/k", b"1", 0)
        found = await client.range(b"/k")
        assert [kv.version for kv in found.kvs] == [1] * made


async def test_a_stopped_etcd_is_waited_for(etcd_of_ours: ShotEtcd, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other connection answers either: none is given up, and nothing that waits is disturbed."""
    monkeypatch.setattr(connection_liveness, "REPLACE_SECONDS", 0.1)
    monkeypatch.setattr(connection_liveness, "GRACE_SECONDS", 60.0)
    quick = connection_liveness.QUIET_SECONDS
    monkeypatch.setattr(connection_liveness, "QUIET_SECONDS", 3_600.0)  # a slow machine is no silent etcd
    bus = Bus()
    subscription = bus.subscribe()
    async with linked(etcd_of_ours, 1, bus) as (client, _):
        first = await client.create(b"/w/1", b"")
        watch = client.watch(b"/w/", b"/w0", start_revision=first.revision)
        assert (await anext(watch)).events
        before = client._transport.endpoints.connection()
        fresh, opened = client._transport.endpoints.fresh, []
        monkeypatch.setattr(
            client._transport.endpoints,
            "fresh",
            lambda: opened.append(1) or fresh(),  # type: ignore[func-returns-value]
        )
        etcd_of_ours.pause()
        monkeypatch.setattr(connection_liveness, "QUIET_SECONDS", quick)
        read = asyncio.create_task(client.range(b"/w/1"))
        await until(lambda: len(opened) >= 3)
        monkeypatch.setattr(connection_liveness, "QUIET_SECONDS", 3_600.0)
        assert client.ledger.problem.startswith(f"etcd {before.endpoint} has not answered for ")
        assert not read.done()
        etcd_of_ours.resume()
        assert (await read).kvs
        second = await client.create(b"/w/2", b"")
        assert [event.kv.mod_revision for event in (await anext(watch)).events] == [second.revision]
        assert client._transport.endpoints.connection() is before and not before.lost
        await until(lambda: not client.ledger.problem)
        await watch.close()
    subscription.close()
    batches = [batch async for batch in subscription.batches()]
    told = [event for batch in batches for event in batch if isinstance(event, EtcdHealth)]
    assert [event.ok for event in told] == [False, True]


async def test_connections_that_were_left_are_closed_once_they_are_idle(etcd_of_ours: ShotEtcd) -> None:
    async with linked(etcd_of_ours, 2, Bus()) as (client, links):
        before = client._transport.endpoints.connection()
        for link in links:
            link.die()
        await client.range(b"/k")
        found = client._transport.endpoints
        assert before.lost and found.connection() is not before
        await until(lambda: not found._leaving)
        assert found.open() == [found.connection()]
