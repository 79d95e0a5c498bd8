"""Comparing caches with a real etcd."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import msgspec
import pytest

from ktui.cacher import consistency_check

from .conftest import Cluster, names

pytestmark = pytest.mark.anyio


async def test_a_cache_that_holds_what_etcd_holds(cluster: Cluster):
    for number in range(3):
        await cluster.put(f"c{number}")
    cache = (await cluster.warm()).cache
    assert await cache.checker.once() == "success"
    await cluster.delete("c1")
    await cluster.list()
    assert await cache.checker.once() == "success"
    assert cache.checker.counts == {"success": 2}


async def test_a_cache_that_does_not_serves_no_snapshots_until_it_does(cluster: Cluster, caplog):
    rv = await cluster.put("c1")
    cache = (await cluster.warm()).cache
    exact = f"resourceVersion={cache.memory.rv}&resourceVersionMatch=Exact"
    assert (await cluster.list(exact)).route == "cache_snapshot"
    lost = cache.memory.store.remove(f"{cluster.cacher().store.prefix}a/c1")
    assert await cache.checker.once() == "failure"
    assert "Cache consistency check failed" in caplog.text
    assert (cache.state().snapshots, cache.routing_state().oldest_snapshot_rv) == (0, None)
    answer = await cluster.list(exact)
    assert (answer.route, names(answer)) == ("etcd", ["a/c1"])
    cache.memory.store.put(lost)
    assert await cache.checker.once() == "success"
    answer = await cluster.list(exact)
    assert (answer.route, [obj.rv for obj in answer.objects]) == ("cache_snapshot", [rv])


async def test_a_check_that_cannot_be_made_proves_nothing(cluster: Cluster, monkeypatch):
    cache = (await cluster.warm()).cache
    cache.memory.waiter.rv += 1_000_000  # etcd has no such revision
    assert await cache.checker.once() == "error"
    assert cache.state().snapshots == 1


@pytest.mark.parametrize(
    ("version", "allowed", "checks"), [("1.36", True, True), ("1.33", True, False), ("1.36", False, False)]
)
async def test_checks_are_made_where_the_version_does_and_etcd_is_ours(
    cluster: Cluster, monkeypatch, version, allowed, checks
):
    cluster.version(version)
    cluster.settings.check_consistency = allowed
    turns = asyncio.Queue[float]()

    async def pause(seconds: float) -> None:
        await turns.put(seconds)
        await go_on.get()

    go_on = asyncio.Queue[None]()
    # Its own sleep only: whatever else lives in this loop goes on as it did.
    monkeypatch.setattr(consistency_check, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": pause}))
    cache = (await cluster.warm()).cache
    assert 300.0 <= await turns.get() <= 450.0
    go_on.put_nowait(None)
    await turns.get()
    assert cache.checker.counts == ({"success": 1} if checks else {})


async def test_a_lost_object_is_found_named_and_repaired_by_its_next_change(cluster: Cluster):
    for number in range(3):
        await cluster.put(f"c{number}")
    cache = (await cluster.warm()).cache
    assert cache.state().check == ""
    assert cache.lose() == "a/c0"
    assert names(await cluster.list("resourceVersion=0")) == ["a/c1", "a/c2"], "what clients would get"
    assert await cache.checker.once() == "failure"
    state = cache.state()
    assert (state.check, state.check_objects) == ("failure", 3)
    assert state.check_detail.startswith("a/c0 is missing in the cache (RV ")
    assert state.check_bytes > 0 and state.check_ms > 0 and state.checked_at > 0
    await cluster.put("c0", again="yes")
    await cluster.list()
    assert await cache.checker.once() == "success"
    assert (cache.state().check, cache.state().check_detail) == ("success", "")
    assert cache.checker.counts == {"failure": 1, "success": 1}


async def test_each_kind_of_difference_is_named(cluster: Cluster):
    await cluster.put("c1")
    await cluster.put("c2")
    cache = (await cluster.warm()).cache
    store = cache.memory.store
    first, second = store.all()
    store.put(first.with_rv(7))
    assert (await cache.checker.check()).difference == f"a/c1 has RV 7 in the cache and {first.rv} in etcd"
    store.put(first)
    last = msgspec.structs.replace(second, key=second.key.replace("c2", "c3"))
    store.put(last)
    assert "a/c3 is in the cache" in (await cache.checker.check()).difference
    store.remove(last.key)
    store.remove(second.key)
    assert "a/c2 is missing in the cache" in (await cache.checker.check()).difference


async def test_an_empty_cache_has_nothing_to_lose(cluster: Cluster):
    assert (await cluster.warm()).cache.lose() == ""
