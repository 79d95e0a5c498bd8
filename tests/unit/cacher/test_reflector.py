"""Filling, following, losing the watch and filling again."""

from __future__ import annotations

import asyncio
import time
from math import ceil
from types import SimpleNamespace
from typing import Any

import pytest
from cacher_model import obj, selection

from ktui.cacher import errors as patience_module
from ktui.cacher import reflector as reflector_module
from ktui.cacher.dispatcher import Dispatcher
from ktui.cacher.reflector import BURST_EVENTS, FEW_OBJECTS, ProgressConfirmation, Reflector
from ktui.cacher.settings import Settings
from ktui.cacher.watch_cache import WatchCache
from ktui.cacher.watchers import Watcher
from ktui.etcd import connection_liveness
from ktui.etcd.errors import CompactedError, EtcdError, UnreachableError
from ktui.kube.routing.cache_state import Readiness
from ktui.kube.versions import behaviour_of
from ktui.storage.errors import UnreadableError
from ktui.supervision import Supervisor


class FakeWatch:
    """What etcd sends is put into `incoming`; an exception is raised, None ends the stream."""

    created_at = 0.0

    def __init__(self, since: int) -> None:
        self.since = since
        self.closed = False
        self.asked = 0
        self.created_at = self.heard_at = time.monotonic()
        self.incoming: asyncio.Queue[Any] = asyncio.Queue()

    @property
    def stream(self) -> FakeWatch:
        return self

    def __aiter__(self) -> FakeWatch:
        return self

    async def __anext__(self) -> Any:
        event = await self.incoming.get()
        if event is None:
            raise StopAsyncIteration
        if isinstance(event, Exception):
            raise event
        return event

    async def request_progress(self) -> None:
        self.asked += 1

    async def __aenter__(self) -> FakeWatch:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed = True

    def put(self, event_type: str, key: str, rv: int) -> None:
        self.transaction((event_type, key), rv=rv)

    def transaction(self, *events: tuple[str, str], rv: int) -> None:
        self.incoming.put_nowait(
            [SimpleNamespace(type=kind, object=obj(key, rv), previous=None, rv=rv) for kind, key in events]
        )

    def progress(self, rv: int) -> None:
        self.incoming.put_nowait([SimpleNamespace(type="BOOKMARK", object=None, previous=None, rv=rv)])


class FakeStore:
    resource = SimpleNamespace(id="pods")

    def __init__(self) -> None:
        self.history = 0
        self.content = [obj("a/x", 3), obj("b/y", 4)]
        self.rv = 10
        self.watches: list[FakeWatch] = []
        self.down: list[EtcdError] = []  # what is wrong, attempt by attempt, until etcd answers

    async def pages(self, *, stream: bool = False) -> Any:
        for one in self.content:
            yield SimpleNamespace(objects=[one], rv=self.rv, count=len(self.content))

    async def head(self) -> int:
        if self.down:
            raise self.down.pop(0)
        return self.rv

    def watch(self, since: int) -> FakeWatch:
        self.watches.append(FakeWatch(since))
        return self.watches[-1]


class Fixture:
    def __init__(self) -> None:
        self.store = FakeStore()
        self.cache = WatchCache()
        self.dispatcher = Dispatcher()
        self.now = 0.0
        self.ticks: list[int] = []
        self.settings = Settings(confirm_progress=False)
        self.gate = asyncio.Semaphore(1)
        self.reflector = Reflector(
            self.store,  # type: ignore[arg-type]
            self.cache,
            self.dispatcher,
            self.settings,
            self.gate,
            lambda: None,
            self.ticks.append,
        )

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0)


def run(scenario: Any) -> None:
    async def body() -> None:
        fixture = Fixture()
        supervisor = Supervisor(pause=lambda seconds: asyncio.sleep(0))
        task = supervisor.start("the reflector", fixture.reflector.run)
        dispatching = asyncio.create_task(fixture.dispatcher.run())
        await fixture.reflector.ready.wait()
        await fixture.until(lambda: fixture.store.watches)
        await scenario(fixture)
        task.cancel()
        dispatching.cancel()
        await asyncio.gather(task, dispatching, return_exceptions=True)

    asyncio.run(body())


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    monkeypatch.setattr(reflector_module, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(patience_module, "SHORTEST_PAUSE", 0.0)


def test_it_lists_in_pages_and_watches_from_there():
    async def scenario(f: Fixture) -> None:
        assert [one.key for one in f.cache.store.all()] == ["a/x", "b/y"]
        assert f.cache.rv == 10
        assert f.store.watches[0].since == 10
        assert (f.reflector.readiness, f.reflector.loaded, f.reflector.expected) == (Readiness.READY, 2, 2)

    run(scenario)


def test_events_and_progress_move_the_cache():
    async def scenario(f: Fixture) -> None:
        f.store.watches[0].put("ADDED", "a/z", 11)
        f.store.watches[0].put("DELETED", "a/x", 12)
        f.store.watches[0].progress(12)
        f.store.watches[0].progress(20)
        await f.until(lambda: f.cache.rv == 20)
        assert [one.key for one in f.cache.store.all()] == ["a/z", "b/y"]
        # Progress that tells nothing new is no tick.
        assert f.ticks == [20]
        await f.until(lambda: f.dispatcher.rv == 20)

    run(scenario)


def test_a_cache_that_is_filled_again_has_sent_all_of_a_transaction_or_nothing():
    async def scenario(f: Fixture) -> None:
        watcher = Watcher(selection(), 10, 10)
        f.dispatcher.watchers.add(watcher)
        for rv in range(11, 31):
            f.store.watches[0].transaction(("ADDED", f"a/{rv}"), ("ADDED", f"b/{rv}"), rv=rv)
        f.store.watches[0].incoming.put_nowait(None)
        await f.until(lambda: watcher.closed)
        seen = [out.rv async for batch in watcher.batches() for out in batch]
        assert seen == [rv for rv in range(11, 11 + len(seen) // 2) for _ in range(2)]

    run(scenario)


@pytest.mark.parametrize("fault", [CompactedError("compacted", "", 50), None, ZeroDivisionError("a bug")])
def test_a_broken_watch_makes_it_list_again(fault):
    async def scenario(f: Fixture) -> None:
        first = f.store.watches[0]
        generation = f.cache.generation
        f.store.content, f.store.rv = [obj("b/y", 60)], 70
        first.incoming.put_nowait(fault)
        await f.until(lambda: len(f.store.watches) == 2)
        assert first.closed
        assert f.cache.generation == generation + 1
        assert (f.cache.rv, f.store.watches[1].since) == (70, 70)
        assert [one.key for one in f.cache.store.all()] == ["b/y"]
        assert f.reflector.ready.is_set()
        assert f.reflector.downtime == 0

    run(scenario)


@pytest.mark.parametrize(("count", "waits"), [(FEW_OBJECTS, False), (FEW_OBJECTS + 1, True)])
def test_only_a_large_cache_waits_for_others_to_be_filled_again(count: int, waits: bool) -> None:
    async def scenario(f: Fixture) -> None:
        for number in range(count):
            f.store.watches[0].put("ADDED", f"a/{number}", 11 + number)
        f.store.watches[0].put("DELETED", "a/x", 11 + count)
        f.store.watches[0].put("DELETED", "b/y", 12 + count)
        await f.until(lambda: len(f.cache.store) == count)
        async with f.gate:  # a cache is being filled, and etcd does not answer
            f.store.watches[0].incoming.put_nowait(None)
            await f.until(lambda: len(f.store.watches) == 2 or f.gate._waiters)
            assert len(f.store.watches) == (1 if waits else 2)
        await f.until(lambda: len(f.store.watches) == 2)

    run(scenario)


BROKEN = UnreachableError("the connection broke", "Connection reset by peer")
NO_LEADER = UnreachableError("etcd cannot serve now", "etcdserver: no leader")


@pytest.mark.parametrize("faults", [[BROKEN], [BROKEN] * 5, [NO_LEADER, BROKEN]])
def test_a_broken_connection_is_resumed_where_it_stopped(faults):
    async def scenario(f: Fixture) -> None:
        first = f.store.watches[0]
        first.put("ADDED", "a/z", 11)
        await f.until(lambda: f.cache.rv == 11)
        f.store.rv, f.store.down = 15, faults[1:]
        first.incoming.put_nowait(faults[0])
        await f.until(lambda: len(f.store.watches) == 2)
        assert first.closed
        # What was seen last comes once more, and is dropped.
        assert f.store.watches[1].since == 10
        f.store.watches[1].put("ADDED", "a/z", 11)
        # Nothing was listed, no watcher was cut off, and nothing is wrong any more.
        assert (f.cache.generation, f.reflector.ready.is_set(), f.reflector.error) == (1, True, "")
        f.store.watches[1].put("ADDED", "b/z", 15)
        await f.until(lambda: f.cache.rv == 15)
        assert f.cache.events_received == 2

    run(scenario)


def test_up_to_1_24_the_loss_of_the_leader_lists_again():
    async def scenario(f: Fixture) -> None:
        f.settings.behaviour = behaviour_of("1.24")
        f.store.watches[0].incoming.put_nowait(NO_LEADER)
        await f.until(lambda: f.cache.generation == 2)

    run(scenario)


def test_an_etcd_that_has_gone_back_is_listed_again():
    async def scenario(f: Fixture) -> None:
        f.store.rv = 5
        f.store.watches[0].incoming.put_nowait(BROKEN)
        await f.until(lambda: f.cache.generation == 2)
        assert f.cache.rv == 5

    run(scenario)


def test_an_etcd_that_is_another_cluster_is_listed_again():
    async def scenario(f: Fixture) -> None:
        f.store.rv, f.store.history = 5_000, 1
        f.store.watches[0].progress(5_000)
        await f.until(lambda: f.cache.generation == 2)
        assert f.cache.rv == 5_000

    run(scenario)


def test_an_unreadable_value_is_tried_ever_more_rarely(monkeypatch):
    pauses = []

    async def scenario(f: Fixture) -> None:
        async def unreadable(*, stream: bool = False) -> Any:
            if len(pauses) < 7:
                raise UnreadableError("/registry/secrets/a/x", "it is encrypted (aescbc, key1)")
            yield SimpleNamespace(objects=f.store.content, rv=80, count=2)

        async def pause(seconds: float) -> None:
            if seconds:
                pauses.append(seconds)
            await sleep(0)

        sleep = asyncio.sleep
        monkeypatch.setattr(reflector_module.asyncio, "sleep", pause)
        monkeypatch.setattr(f.reflector, "_retry", 1.0)
        f.store.pages = unreadable  # type: ignore[method-assign]
        f.store.watches[0].incoming.put_nowait(None)
        await f.until(lambda: f.cache.generation == 2)
        assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]

    run(scenario)


def test_while_it_cannot_list_it_is_reinitializing():
    async def scenario(f: Fixture) -> None:
        async def refused(*, stream: bool = False) -> Any:
            raise CompactedError("etcd says no")
            yield

        f.store.pages = refused  # type: ignore[method-assign]
        f.store.watches[0].incoming.put_nowait(None)
        await f.until(lambda: f.reflector.error == "etcd says no")
        assert f.reflector.readiness is Readiness.REINITIALIZING
        assert not f.reflector.ready.is_set()
        # What was there before is kept, for reads that allow it.
        assert len(f.cache.store) == 2

    run(scenario)


def test_progress_requests_go_to_the_present_watch():
    async def scenario(f: Fixture) -> None:
        await f.reflector.request_progress()
        assert f.store.watches[0].asked == 1
        assert f.reflector.progress_requests == 1

    run(scenario)


def test_an_old_etcds_answer_counts_when_a_later_one_has_come():
    async def scenario(f: Fixture) -> None:
        f.settings.confirm_progress = True
        f.reflector._confirmation = ProgressConfirmation(lambda: 0.0, lambda: f.now)
        f.now += 1
        watch = f.store.watches[0]
        reader = asyncio.create_task(f.cache.waiter.wait(20))
        await f.until(lambda: f.cache.waiter.waiting)
        watch.progress(20)
        await f.until(lambda: watch.asked == 1)
        assert f.cache.rv == 10
        # The event that the first answer had overtaken.
        watch.put("ADDED", "a/z", 15)
        await f.until(lambda: f.cache.rv == 15)
        assert not reader.done()
        watch.progress(20)
        assert await reader
        # No reader waits for more: etcd is not asked again.
        watch.progress(30)
        watch.put("ADDED", "a/zz", 31)
        await f.until(lambda: f.cache.rv == 31)
        assert watch.asked == 1

    run(scenario)


def test_answers_soon_after_the_start_or_a_burst_prove_nothing():
    now = [0.0]
    confirmation = ProgressConfirmation(lambda: 0.0, lambda: now[0])
    assert [confirmation.answered(rv) for rv in (5, 6)] == [0, 0]
    now[0] = 1.0
    assert [confirmation.answered(rv) for rv in (7, 8)] == [0, 7]
    for _ in range(BURST_EVENTS):
        confirmation.event()
    assert [confirmation.answered(rv) for rv in (9, 10)] == [0, 0]
    now[0] = 2.0
    assert [confirmation.answered(rv) for rv in (11, 12)] == [0, 11]


def test_a_cache_that_does_not_hear_from_etcd_is_stale(monkeypatch):
    async def scenario(f: Fixture) -> None:
        watch, now = f.store.watches[0], [float(ceil(time.monotonic()))]  # sums of whole numbers are exact
        monkeypatch.setattr(reflector_module.time, "monotonic", lambda: now[0])
        watch.heard_at = now[0]
        now[0] += connection_liveness.HEARD_SECONDS
        assert f.reflector.stale_seconds == 0
        now[0] += 1
        assert f.reflector.stale_seconds == pytest.approx(connection_liveness.HEARD_SECONDS + 1)
        watch.heard_at = now[0]
        assert f.reflector.stale_seconds == 0
        # A watch that breaks is resumed at once; one that cannot be makes the cache stale soon.
        f.store.down = [BROKEN] * 1000
        watch.incoming.put_nowait(BROKEN)
        await f.until(lambda: watch.closed)
        assert f.reflector.stale_seconds == 0
        now[0] += reflector_module.BROKEN_SECONDS + 1
        assert f.reflector.ready.is_set()
        assert f.reflector.stale_seconds == pytest.approx(reflector_module.BROKEN_SECONDS + 1)
        # A cache that is not ready answers nothing by itself.
        f.reflector.ready.clear()
        assert f.reflector.stale_seconds == 0

    run(scenario)


def test_a_fresh_cache_is_not_stale_while_its_first_watch_is_being_opened(monkeypatch):
    async def never(watch: FakeWatch) -> FakeWatch:
        return await asyncio.Future()

    async def scenario(f: Fixture) -> None:
        now = [float(ceil(time.monotonic()))]
        monkeypatch.setattr(reflector_module.time, "monotonic", lambda: now[0])
        now[0] += reflector_module.BROKEN_SECONDS + 1
        assert f.reflector.stale_seconds == 0
        now[0] += connection_liveness.HEARD_SECONDS
        assert f.reflector.stale_seconds > 0

    monkeypatch.setattr(FakeWatch, "__aenter__", never)
    run(scenario)


def test_the_answers_of_a_watch_that_resumes_are_believed_later():
    now = [reflector_module.SETTLE_SECONDS + 0.01]
    first, resumed = (
        ProgressConfirmation(lambda: 0.0, lambda: now[0], resumed=again) for again in (False, True)
    )
    for rv in (10, 11):
        assert resumed.answered(rv) == 0
    first.answered(10)
    assert first.answered(11) == 10
    now[0] = reflector_module.RESUMED_SECONDS + 0.01
    resumed.answered(12)
    assert resumed.answered(13) == 12
