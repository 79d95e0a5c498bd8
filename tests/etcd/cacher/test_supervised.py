"""A bug in a cache's work: everyone is told, the cache is filled again, and no event is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ktui.cacher.cachers import Registry
from ktui.cacher.dispatcher import Dispatcher
from ktui.supervision import Supervisor
from tests.etcd.waiting import until

from .conftest import Cluster, names
from .watched import Watched

pytestmark = pytest.mark.anyio


@pytest.fixture
async def supervised(cluster: Cluster) -> AsyncIterator[Cluster]:
    """Caches whose failed tasks start again at once."""
    await cluster.registry.close()
    supervisor = Supervisor(pause=lambda seconds: asyncio.sleep(0))
    cluster.registry = Registry(cluster._store, cluster.settings, cluster.bus, supervisor=supervisor)
    yield cluster


async def test_a_failing_dispatcher_begins_again_with_a_list(
    supervised: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatch, failures = Dispatcher._dispatch, [ZeroDivisionError("a bug")]

    async def fails_once(self: Dispatcher, event: Any) -> None:
        if failures:
            raise failures.pop()
        await dispatch(self, event)

    since = await supervised.put("c1")
    cacher = await supervised.warm()
    watched = Watched(since, "", await supervised.watch(f"resourceVersion={since}"))
    await until(lambda: watched.answer.stream.live)
    monkeypatch.setattr(Dispatcher, "_dispatch", fails_once)
    second = await supervised.put("c2")
    # The stream ends rather than leave the event out; who goes on from where it was misses nothing.
    await watched.task
    assert (watched.answer.stream.cause, watched.seen) == ("cache reinitializing", [])
    await until(lambda: cacher.cache.memory.generation == 2)
    assert names(await supervised.list()) == ["a/c1", "a/c2"]
    third = await supervised.put("c3")
    again = Watched(second, "", await supervised.watch(f"resourceVersion={second}"))
    await until(lambda: again.seen == [("ADDED", "c3", third)])
    again.answer.stream.close("client gone")
    await again.task
    assert [str(failure) for failure in supervised.registry.supervisor.failures] == [
        "the watch cache of configmaps failed, trying again every 1 s: ZeroDivisionError: a bug"
    ]


async def test_a_watch_of_etcd_that_meets_a_bug_ends_with_an_error(
    supervised: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await supervised.watch("", resource="events")
    await until(lambda: answer.stream.live)

    def fails(event: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(answer.stream, "_convert", fails)
    store = supervised.cacher("events").store
    await store.create(
        {"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "a", "name": "e"},
         "involvedObject": {"namespace": "a"}}
    )  # fmt: skip
    async with asyncio.timeout(60):
        told = [event.line() async for batch in answer.stream.batches() for event in batch]
    assert len(told) == 1 and b'"code":500' in told[0] and b"a bug" in told[0]
