"""A cacher under fire: what clients, etcd and the network do, and what must hold all the time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from ktui.cacher.cacher_requests import ListAnswer
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.kube.status import StatusError
from ktui.storage.compaction import compact, follow_compactions
from ktui.telemetry.bus import Bus

from .conftest import Cluster
from .link import Link
from .shot_etcd import ShotEtcd
from .truth import Truth
from .watched import Watched

# While etcd cannot be reached, or right after: not ready, storage unreachable, waited in vain.
TRANSIENT = (429, 500, 503, 504)
WRITES = ("put", "delete", "burst", "put_leased", "put_and_revoke", "compact")
WATCHES = ("watch", "watch_list")
WATCH_LIST = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
PATIENCE = 60.0  # seconds in which everything must have healed


class Fire:
    """One schedule: each coroutine is a step, and `check` goes after each of them."""

    def __init__(self, etcd: ShotEtcd, prefix: str) -> None:
        self.paused = False
        self.linked = True
        self._etcd = etcd
        self._prefix = prefix
        self._truth = Truth(etcd.client, prefix)
        self._acknowledged = 0
        self._compacted = 0
        self._newest_any = 0
        self._watches: list[Watched] = []
        self._watch_lists: list[tuple[Watched, int]] = []
        self._reads: set[asyncio.Task[None]] = set()
        self._answers: list[tuple[str, int, str, dict[str, int]]] = []

    async def start(self, version: str) -> None:
        self._link = await Link.to(self._etcd.endpoint)
        self._client = await EtcdClient.connect(EtcdConfig((self._link.endpoint,)), Bus())
        self._cluster = Cluster(self._client, self._prefix, Bus())
        self.switch(version)
        await self._truth.open()
        self._acknowledged = self._truth.start
        told = self._cluster.registry.compacted
        self._compactions = asyncio.create_task(follow_compactions(self._client, told))
        self._cache = (await self._cluster.warm()).cache

    @property
    def up(self) -> bool:
        return self.linked and not self.paused

    async def do(self, step: str, *arguments: Any) -> None:
        """One step by its name; an outage that does not let it happen is over."""
        if step in (
            "put",
            "delete",
            "burst",
            "put_leased",
            "put_and_revoke",
            "compact",
            "watch",
            "watch_list",
        ):
            self.resume()
        if step in ("watch", "watch_list"):
            self.restore()
        done = getattr(self, step)(*arguments)
        if done is not None:
            await done

    # What others do. Writers reach etcd as long as it runs, whatever happens to our own connection.

    async def put(self, name: str, colour: str) -> None:
        self._acknowledge(await self._etcd.put(self._prefix, name, colour))

    async def burst(self, count: int, colour: str) -> None:
        for number in range(count):
            await self.put(f"b{number % 7}", colour)

    async def delete(self, name: str) -> None:
        self._acknowledge(await self._etcd.delete(self._prefix, name))

    async def put_leased(self, names: list[str], colour: str) -> None:
        self._acknowledge(await self._etcd.put_leased(self._prefix, names, colour))

    async def put_and_revoke(self, names: list[str], colour: str) -> None:
        self._acknowledge(await self._etcd.put_and_revoke(self._prefix, names, colour))

    def _acknowledge(self, rv: int) -> None:
        self._acknowledged = max(self._acknowledged, rv)

    async def compact(self, fraction: float, announced: bool) -> None:
        """Forget that part of this schedule's history; as kube-apiserver does, or unannounced."""
        revision = self._past(fraction)
        if revision > max(self._etcd.client.ledger.compact, self._truth.start):
            self._compacted = revision
            await (compact(self._etcd.client, revision) if announced else self._etcd.client.compact(revision))

    # What happens to etcd and the way there.

    def pause(self) -> None:
        self._etcd.pause()
        self.paused = True

    def resume(self) -> None:
        self._etcd.resume()
        self.paused = False

    def cut(self) -> None:
        self._link.cut()
        self.linked = False

    def stall(self) -> None:
        self._link.stall()
        self.linked = False

    def delay(self, seconds: float) -> None:
        self._link.delay = seconds

    def restore(self) -> None:
        self._link.restore()
        self.linked = True

    def switch(self, version: str) -> None:
        self._cluster.version(version)

    # What clients do.

    async def read(self, query: str) -> None:
        """A LIST that is judged when it is answered: at once, or when etcd can be reached again."""
        reading = asyncio.create_task(self._read(query))
        self._reads.add(reading)
        if self.up:
            async with asyncio.timeout(PATIENCE):
                await reading
        else:
            await asyncio.wait([reading], timeout=0.01)

    async def read_exactly(self, fraction: float) -> None:
        rv = self._past(fraction)
        await self.read(f"resourceVersion={rv}&resourceVersionMatch=Exact")

    async def read_at_least(self, fraction: float) -> None:
        await self.read(f"resourceVersion={self._past(fraction)}")

    async def _read(self, query: str) -> None:
        acknowledged, disturbed = self._acknowledged, not self.up
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            try:
                answer = await self._cluster.list(query)
                found = {obj.name: obj.rv for obj in answer.objects}
                rv = answer.rv
                while answer.continue_:
                    answer = await self._cluster.list(f"{query}&continue={answer.continue_}")
                    assert answer.rv == rv
                    found |= {obj.name: obj.rv for obj in answer.objects}
                break
            except StatusError as error:
                if error.code == 410:
                    assert self._compacted, error
                    return
                assert error.code in TRANSIENT, error
                if disturbed or not self.up or self._never_asks(error):
                    return
                # Not long after a disturbance: as a client that is told to come back.
                assert asyncio.get_running_loop().time() < deadline, error
                await asyncio.sleep(0.01)  # before the retry, as a client
        self._judge(query, answer, rv, found, acknowledged)

    def _never_asks(self, error: StatusError) -> bool:
        """Up to 1.30 etcd is not asked for progress: a revision without an event here may come too late."""
        return error.code == 504 and not self._cluster.settings.behaviour.enabled("ConsistentListFromCache")

    def _judge(
        self, query: str, answer: ListAnswer, rv: int, found: dict[str, int], acknowledged: int
    ) -> None:
        if "resourceVersion" not in query:
            assert rv >= acknowledged, (query, answer.route, rv, acknowledged)
        if "Exact" in query:
            assert f"resourceVersion={rv}&" in query
        elif "resourceVersion=" in query:
            assert rv >= int(query.partition("resourceVersion=")[2].partition("&")[0])
        self._answers.append((f"{query} from {answer.route}", rv, query, found))

    async def watch(self, fraction: float, colour: str) -> None:
        since = self._past(fraction)
        await self._watch(since, f"resourceVersion={since}", colour)

    async def watch_list(self, colour: str) -> None:
        """A WATCH that begins with everything that there is, not older than the last acknowledged write."""
        if self._cluster.settings.behaviour.enabled("WatchList"):
            acknowledged = self._acknowledged
            watched = await self._watch(None, WATCH_LIST, colour)
            if watched is not None:
                self._watch_lists.append((watched, acknowledged))

    async def _watch(self, since: int | None, query: str, colour: str) -> Watched | None:
        selector = f"&labelSelector=colour%3D{colour}" if colour else ""
        try:
            async with asyncio.timeout(PATIENCE):
                await self._cache.ready()
                answer = await self._cluster.watch(f"{query}{selector}")
        except StatusError as error:
            assert error.code in TRANSIENT, error
            return None
        self._watches.append(Watched(since, colour, answer))
        return self._watches[-1]

    def stop_reading(self, index: int) -> None:
        if self._watches:
            self._watches[index % len(self._watches)].reading.clear()

    def go_on_reading(self) -> None:
        for watched in self._watches:
            watched.reading.set()

    # What must hold.

    async def check(self) -> None:
        """After each step."""
        self._check_any()
        if self.paused:
            return
        if self.up:
            await self._wait_for_reads()
            await self.read("")
        await self._truth.sync(max([self._acknowledged, *self._seen_anywhere()]))
        self._check_answers()
        for watched in self._watches:
            watched.check(self._truth)
        self._check_watch_lists()

    def _seen_anywhere(self) -> Iterator[int]:
        """Revisions that a client has got to see: leases expire whenever they like."""
        yield from (rv for _, rv, _, _ in self._answers)
        yield from (watched.seen[-1][2] for watched in self._watches if watched.seen)
        yield from (watched.since or 0 for watched in self._watches)

    def _check_any(self) -> None:
        """What LISTs with resourceVersion 0 are given: at once, whatever is wrong with etcd."""
        state, memory = self._cache.routing_state(), self._cache.memory
        if state.readiness.value != "ready":
            return
        assert memory.rv >= self._newest_any
        self._newest_any = memory.rv
        found = {obj.name: obj.rv for obj in memory.store.all()}
        self._answers.append(("the cache", memory.rv, "", found))

    def _check_answers(self) -> None:
        for origin, rv, query, found in self._answers:
            colour = query.partition("colour%3D")[2].partition("&")[0]
            assert found == self._truth.coloured(rv, colour), (origin, rv)
        self._answers.clear()

    def _check_watch_lists(self) -> None:
        for watched, acknowledged in self._watch_lists:
            if watched.since is not None:
                assert watched.since >= acknowledged
                assert watched.initial == self._truth.coloured(watched.since, watched.colour)
        self._watch_lists = [each for each in self._watch_lists if each[0].since is None]

    async def _wait_for_reads(self) -> None:
        if self._reads:
            done, pending = await asyncio.wait(self._reads, timeout=PATIENCE)
            assert not pending
            self._reads.clear()
            for reading in done:
                reading.result()

    async def settle(self) -> None:
        """Undo everything; then every watcher sees all that it is owed, or was cut off in the middle."""
        self.resume()
        self.restore()
        self.go_on_reading()
        assert await self._cache.ready(PATIENCE)
        await self.check()
        deadline = asyncio.get_running_loop().time() + PATIENCE
        for watched in self._watches:
            while watched.behind(self._truth):
                assert asyncio.get_running_loop().time() < deadline, self._describe(watched)
                await asyncio.sleep(0.001)  # its watch sends no signal
            if watched.ended:
                await watched.task
        await self.check()
        if not self._compacted:
            # Whatever happened to the connection: nothing was lost, so nothing was listed again.
            assert self._cache.memory.generation == 1, self._cache.state()

    def _describe(self, watched: Watched) -> str:
        """All that there is to say about a watcher that is owed something and does not get it."""
        following = next(task for task in self._cache._tasks if task.get_name().startswith("reflector"))
        stack = [f"{frame.f_code.co_qualname}:{frame.f_lineno}" for frame in _frames(following)]
        return (
            f"since {watched.since} {watched.colour!r}: initial {watched.initial}, seen {watched.seen},"
            f" of {self._truth.changes}; {vars(watched.answer.stream)}; {self._cache.state()}; {stack}"
        )

    async def close(self) -> None:
        self.resume()
        self._link.restore()
        for reading in self._reads:
            reading.cancel()
        self._compactions.cancel()
        await asyncio.gather(self._compactions, *self._reads, return_exceptions=True)
        await self._cluster.registry.close()
        for watched in self._watches:
            watched.reading.set()
            watched.task.cancel()
        await asyncio.gather(*(watched.task for watched in self._watches), return_exceptions=True)
        await self._truth.close()
        await self._client.close()
        await self._link.close()

    def _past(self, fraction: float) -> int:
        """One of this schedule's revisions, the oldest at 0, the newest at 1."""
        return self._truth.start + round(fraction * (self._acknowledged - self._truth.start))


def _frames(task: asyncio.Task[Any]) -> Iterator[Any]:
    awaited: Any = task.get_coro()
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "ag_frame", None)
        if frame is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "ag_await", None)
