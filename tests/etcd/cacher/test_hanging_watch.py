"""A watch of etcd that hangs while its connection works is given up, and resumed by another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from ktui.cacher import errors
from ktui.etcd import watch as watch_liveness
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import UnreachableError
from ktui.etcd.injection import Gateway
from ktui.telemetry.bus import Bus
from tests.etcd.waiting import until

from .conftest import Cluster, names

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gateway(etcd: EmbeddedEtcd, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gateway]:
    monkeypatch.setattr(watch_liveness, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(watch_liveness, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(errors, "SHORTEST_PAUSE", 0.01)
    gateway = await Gateway.to(etcd.endpoint)
    yield gateway
    await gateway.close()


@pytest.fixture
async def behind(gateway: Gateway) -> AsyncIterator[EtcdClient]:
    client = await EtcdClient.connect(EtcdConfig((gateway.endpoint,), read_only=False), Bus())
    yield client
    await client.close()


async def test_a_cache_goes_on_where_it_was(
    gateway: Gateway, behind: EtcdClient, client: EtcdClient, prefix: str
) -> None:
    here, past = Cluster(behind, prefix, Bus()), Cluster(client, prefix, Bus())
    await past.put("c0")
    cacher = await here.warm()
    assert cacher.cache is not None
    await until(lambda: behind._transport.answers_progress)
    gateway.hang()
    rv = await past.put("c1")
    reached = asyncio.create_task(_read_until(behind, lambda: cacher.cache.memory.rv >= rv))
    await reached
    assert gateway.swallowed
    assert names(await here.list("resourceVersion=0")) == ["a/c0", "a/c1"]
    assert cacher.cache.memory.generation == 1  # resumed, not listed again
    await here.registry.close()
    await past.registry.close()


async def _read_until(client: EtcdClient, condition: Callable[[], bool]) -> None:
    """Range works all the time."""
    async with asyncio.timeout(60):
        while not condition():
            await client.range(b"/other")
            await asyncio.sleep(0.005)  # a cache changes without a signal


async def test_its_reader_gets_an_error(gateway: Gateway, behind: EtcdClient, prefix: str) -> None:
    made = await behind.create(f"{prefix}/a".encode(), b"1")
    async with behind.watch(f"{prefix}/a".encode(), start_revision=made.revision) as watch:
        assert (await anext(watch)).events
        reading = asyncio.ensure_future(anext(watch))
        await until(lambda: behind._transport.answers_progress)
        gateway.hang()
        await _read_until(behind, reading.done)
        with pytest.raises(UnreachableError, match="a watch has been silent"):
            await reading


async def test_a_quiet_watch_is_neither_ended_nor_moved(
    gateway: Gateway, behind: EtcdClient, client: EtcdClient, prefix: str
) -> None:
    """Answers to liveness are not passed on: a cache moves as far as its readers ask it to."""
    made = await behind.create(f"{prefix}/a".encode(), b"1")
    async with behind.watch(f"{prefix}/a".encode(), start_revision=made.revision) as watch:
        assert (await anext(watch)).events
        reading = asyncio.ensure_future(anext(watch))
        await until(lambda: behind._transport.answers_progress)
        other = await client.create(f"{prefix}/b".encode(), b"1")
        before = watch._liveness._heard_at
        await until(lambda: watch._liveness._heard_at > before)
        assert not reading.done()
        await watch.request_progress()
        batch = await reading
        assert batch.is_progress and batch.revision >= other.revision


async def test_an_etcd_that_never_answers_progress_keeps_its_watches(
    gateway: Gateway, behind: EtcdClient, prefix: str
) -> None:
    gateway.deaf = True
    made = await behind.create(f"{prefix}/a".encode(), b"1")
    async with behind.watch(f"{prefix}/a".encode(), start_revision=made.revision) as watch:
        assert (await anext(watch)).events
        reading = asyncio.ensure_future(anext(watch))
        await until(lambda: watch._liveness is not None and watch._liveness._asked_at > 0)
        asked = watch._liveness._timer
        await _read_until(behind, lambda: watch._liveness._timer is not asked)
        assert not reading.done()
        reading.cancel()
