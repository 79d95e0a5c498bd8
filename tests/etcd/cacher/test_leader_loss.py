"""Caches over a member of an etcd cluster that loses its leader."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.telemetry.bus import Bus
from tests.etcd.waiting import until

from ..members import Member, cluster_of
from .conftest import Cluster, names

pytestmark = pytest.mark.anyio


class Minority:
    """Caches that know the first of three members only."""

    def __init__(self, cluster: Cluster, others: list[Member]) -> None:
        self.cluster = cluster
        self._others = others

    def lose_leader(self) -> None:
        self._signal(signal.SIGSTOP)

    def regain_leader(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for member in self._others:
            assert member._process is not None
            member._process.send_signal(number)


@pytest.fixture
async def minority(tmp_path: Path, prefix: str) -> AsyncIterator[Minority]:
    async with cluster_of(3, tmp_path) as members:
        client = await EtcdClient.connect(EtcdConfig((members[0].endpoint,), read_only=False), Bus())
        cluster = Cluster(client, prefix, Bus())
        yield Minority(cluster, members[1:])
        await cluster.registry.close()
        await client.close()


@pytest.mark.parametrize(
    ("version", "meanwhile", "fillings"), [("1.36", "ready", 1), ("1.24", "reinitializing", 2)]
)
async def test_since_1_25_a_cache_bears_it_for_half_a_minute(
    minority: Minority, version, meanwhile, fillings
):
    cluster = minority.cluster
    cluster.version(version)
    await cluster.put("c1")
    cacher = await cluster.warm()
    minority.lose_leader()
    await until(lambda: "no leader" in cacher.state().error)
    assert cacher.state().state == meanwhile
    minority.regain_leader()
    await until(lambda: cacher.state().state == "ready" and not cacher.state().error)
    await cluster.put("c2")
    assert names(await cluster.list()) == ["a/c1", "a/c2"]
    assert cacher.cache.memory.generation == fillings
