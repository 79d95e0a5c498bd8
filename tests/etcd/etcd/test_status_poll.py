"""What an etcd reports by itself: alarms raised by other clients, its size, its silence."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ktui.contract.events import EtcdHealth, EtcdProgress
from ktui.etcd import connection_liveness
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.connection_liveness import poll_status
from ktui.etcd.errors import NoSpaceError, UnreachableError
from ktui.telemetry.bus import Bus
from tests.etcd.members import cluster_of

pytestmark = pytest.mark.anyio

QUOTA = 256 * 1024


@contextlib.asynccontextmanager
async def following(client: EtcdClient) -> AsyncIterator[None]:
    task = asyncio.create_task(poll_status(client.status))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def alarm_told(bus: Bus) -> EtcdHealth:
    """The first one that is told with an alarm."""
    subscription = bus.subscribe()
    async for batch in subscription.batches():
        for event in batch:
            if isinstance(event, EtcdHealth) and event.alarm:
                subscription.close()
                return event
    raise AssertionError("the bus was closed")


async def test_an_alarm_raised_by_another_client_is_reported(
    tmp_path: Path, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_liveness, "POLL_SECONDS", 0.05)
    async with cluster_of(1, tmp_path, flags=[f"--quota-backend-bytes={QUOTA}"]) as (member,):
        watcher = await EtcdClient.connect(EtcdConfig([member.endpoint]), bus)
        other = await EtcdClient.connect(EtcdConfig([member.endpoint], read_only=False), Bus())
        told = asyncio.create_task(alarm_told(bus))
        async with following(watcher):
            # etcd counts its size at each commit, ten times a second: how many writes fit is by its disk.
            async with asyncio.timeout(60):
                with pytest.raises(NoSpaceError):
                    for number in itertools.count():
                        await other.create(f"/k{number}".encode(), b"x" * 100_000)
                health = await told
        assert health.ok and health.alarm.startswith("its database has reached the quota (alarm NOSPACE)")
        assert watcher.ledger.db_bytes >= QUOTA / 2
        late = await EtcdClient.connect(EtcdConfig([member.endpoint]), Bus())
        assert any(isinstance(event, EtcdHealth) and event.alarm for event in late.ledger.describe())
        for client in (watcher, other, late):
            await client.close()


async def test_an_etcd_that_was_emptied_has_another_history(tmp_path: Path, bus: Bus) -> None:
    async with cluster_of(1, tmp_path) as (member,):
        client = await EtcdClient.connect(EtcdConfig([member.endpoint], read_only=False), bus)
        for number in range(5):
            await client.create(f"/k{number}".encode(), b"x")
        before = client.head
        await member.kill()
        shutil.rmtree(tmp_path / member.name)
        await member.start(f"{member.name}={member.peer}")
        async with asyncio.timeout(60):
            while client.ledger.histories == 0:
                with contextlib.suppress(UnreachableError):
                    await client.range(b"/k0")
        assert client.head == 1 < before
        await client.create(b"/k", b"x")
        assert (client.head, client.ledger.histories) == (2, 1)
        assert [event.histories for event in client.ledger.describe() if isinstance(event, EtcdProgress)] == [
            1
        ]
        await client.close()
