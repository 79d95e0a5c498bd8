"""Comparing caches with a real etcd."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ktui.cacher import consistency

from .conftest import Cluster, names

pytestmark = pytest.mark.anyio


async def test_a_cache_that_holds_what_etcd_holds(cluster: Cluster):
    for number in range(3):
        await cluster.put(f"c{number}")
    fed = (await cluster.warm()).fed
    assert await fed.checker.once() == "success"
    await cluster.delete("c1")
    await cluster.list()
    assert await fed.checker.once() == "success"
    assert fed.checker.counts == {"success": 2}


async def test_a_cache_that_does_not_serves_no_snapshots_until_it_does(cluster: Cluster, caplog):
    rv = await cluster.put("c1")
    fed = (await cluster.warm()).fed
    exact = f"resourceVersion={fed.memory.rv}&resourceVersionMatch=Exact"
    assert (await cluster.list(exact)).route == "cache_snapshot"
    lost = fed.memory.store.remove(f"{cluster.cacher().store.prefix}a/c1")
    assert await fed.checker.once() == "failure"
    assert "Cache consistency check failed" in caplog.text
    assert (fed.state().snapshots, fed.routing_state().oldest_snapshot_rv) == (0, None)
    answer = await cluster.list(exact)
    assert (answer.route, names(answer)) == ("etcd", ["a/c1"])
    fed.memory.store.put(lost)
    assert await fed.checker.once() == "success"
    answer = await cluster.list(exact)
    assert (answer.route, [obj.rv for obj in answer.objects]) == ("cache_snapshot", [rv])


async def test_a_check_that_cannot_be_made_proves_nothing(cluster: Cluster, monkeypatch):
    fed = (await cluster.warm()).fed
    fed.memory.freshness.rv += 1_000_000  # etcd has no such revision
    assert await fed.checker.once() == "error"
    assert fed.state().snapshots == 1


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
    monkeypatch.setattr(consistency, "asyncio", SimpleNamespace(sleep=pause))
    fed = (await cluster.warm()).fed
    assert 300.0 <= await turns.get() <= 450.0
    go_on.put_nowait(None)
    await turns.get()
    assert fed.checker.counts == ({"success": 1} if checks else {})
