"""Random schedules of writes, reads, watches, cuts and compactions, each reproducible by its seed.

After every step: a consistent LIST is exactly what was written, an exact one
what was there then; and each watcher saw the events after its RV, in order, once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from ktui.cacher import reflector
from ktui.cacher.requests import WatchAnswer
from ktui.etcd.client import EtcdClient
from ktui.etcd.config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.kube.status import StatusError
from ktui.storage.compaction import compact
from ktui.telemetry.bus import Bus

from .conftest import Cluster

pytestmark = pytest.mark.anyio

SEEDS = range(12)
STEPS = 60
NAMES = [f"c{number}" for number in range(6)]


@pytest.fixture(scope="module")
async def own_client(anyio_backend: str) -> AsyncIterator[EtcdClient]:
    """A client of an etcd that may be compacted."""
    etcd = await EmbeddedEtcd.start()
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
    yield client
    await client.close()
    await etcd.stop()


class Watched:
    """A client's watch, read by a task of its own."""

    def __init__(self, since: int, answer: WatchAnswer) -> None:
        self.since = since
        self.answer = answer
        self.seen: list[tuple[str, str, int]] = []
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for event in self.answer.events:
            assert event.type != "ERROR", event.line()
            self.seen.append((event.type, event.object.name, event.rv))


class Schedule:
    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.random = random.Random(seed)
        self.state: dict[str, int] = {}
        self.history: dict[int, dict[str, int]] = {}
        self.events: list[tuple[str, str, int]] = []
        self.watches: list[Watched] = []
        self.compacted = 0

    async def write(self) -> None:
        name = self.random.choice(NAMES)
        rv = await self.cluster.put(name, n=str(self.random.random()))
        self._record("MODIFIED" if name in self.state else "ADDED", name, rv)

    async def delete(self) -> None:
        if self.state:
            name = self.random.choice(sorted(self.state))
            self._record("DELETED", name, await self.cluster.delete(name))

    def _record(self, event_type: str, name: str, rv: int) -> None:
        self.events.append((event_type, name, rv))
        if event_type == "DELETED":
            del self.state[name]
        else:
            self.state[name] = rv
        self.history[rv] = dict(self.state)

    async def burst(self) -> None:
        for _ in range(self.random.randrange(5, 40)):
            await self.write()

    async def list_then(self) -> None:
        known = [rv for rv in self.history if rv >= self.compacted]
        if known:
            rv = self.random.choice(known)
            answer = await self._list(f"resourceVersion={rv}&resourceVersionMatch=Exact")
            assert {obj.name: obj.rv for obj in answer.objects} == self.history[rv]
            assert answer.rv == rv

    async def page_through(self) -> None:
        answer = await self._list("limit=2")
        found = {obj.name: obj.rv for obj in answer.objects}
        expected = dict(self.state)
        while answer.continue_:
            await self.write()
            answer = await self._list(f"limit=2&continue={answer.continue_}")
            found |= {obj.name: obj.rv for obj in answer.objects}
        assert found == expected

    async def watch(self) -> None:
        await self._ready()
        state = self.cluster.cacher().state()
        if state.state != "ready":
            return
        since = self.random.choice([rv for rv in (*self.history, state.rv) if rv >= state.oldest_rv])
        answer = await self.cluster.watch(f"resourceVersion={since}")
        self.watches.append(Watched(since, answer))

    async def cut(self) -> None:
        stream = self.cluster.cacher().fed._reflector._watch
        if stream is not None:
            await stream.close()
        await self._ready()

    async def compact(self) -> None:
        if self.events:
            self.compacted = self.random.choice(self.events)[2]
            if self.compacted > self.cluster.client.ledger.compact:
                await compact(self.cluster.client, self.compacted)
            self.compacted = max(self.compacted, self.cluster.client.ledger.compact)
            self.cluster.registry.compacted(self.compacted)

    async def check(self) -> None:
        await self._ready()
        answer = await self._list("")
        assert {obj.name: obj.rv for obj in answer.objects} == self.state
        assert [obj.name for obj in answer.objects] == sorted(self.state)

    async def _list(self, query: str):
        """As a client does that is told to come back."""
        for _ in range(50):
            try:
                return await self.cluster.list(query)
            except StatusError as error:
                if error.code != 429:
                    raise
                await self._ready()
        raise AssertionError("refused again and again")

    async def _ready(self) -> None:
        assert await self.cluster.cacher().ready(10)

    async def settle(self) -> None:
        """Every watcher has seen all that it was owed, or was cut off in the middle of it."""
        for watched in self.watches:
            owed = [event for event in self.events if event[2] > watched.since]
            async with asyncio.timeout(10):
                while len(watched.seen) < len(owed) and not watched.task.done():
                    await asyncio.sleep(0.001)
            if watched.task.done():
                watched.task.result()
                assert watched.answer.stream.cause in ("cache reinitializing", "cache reinitialized")
            else:
                assert len(watched.seen) == len(owed)
            assert watched.seen == owed[: len(watched.seen)]
            watched.answer.close()
            await watched.task


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_ever_stale_lost_or_repeated(seed, own_client, prefix, bus, monkeypatch):
    monkeypatch.setattr(reflector, "RETRY_SECONDS", 0.0)
    cluster = Cluster(own_client, f"{prefix}-fire", bus)
    schedule = Schedule(cluster, seed)
    steps = [schedule.write] * 6 + [schedule.delete] * 3 + [schedule.list_then] * 3
    steps += [schedule.watch] * 2 + [schedule.page_through, schedule.cut, schedule.compact, schedule.burst]
    await cluster.warm()
    for _ in range(STEPS):
        await schedule.random.choice(steps)()
        await schedule.check()
    await schedule.settle()
    await cluster.registry.close()
