"""What becomes of caches and their clients when etcd hangs, dies, forgets, or the way there breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ktui.cacher import cachers, errors, reflector, watch_cache
from ktui.etcd import connection_liveness
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.kube.status import StatusError
from ktui.telemetry.bus import Bus
from tests.etcd.waiting import until

from .conftest import Cluster, names
from .link import Link
from .shot_etcd import ShotEtcd
from .watched import Watched

pytestmark = pytest.mark.anyio


@pytest.fixture
async def etcd_of_ours(tmp_path: Path, monkeypatch) -> AsyncIterator[ShotEtcd]:
    monkeypatch.setattr(errors, "SHORTEST_PAUSE", 0.01)
    monkeypatch.setattr(reflector, "RETRY_SECONDS", 0.01)
    etcd = await ShotEtcd.start(tmp_path / "data")
    yield etcd
    await etcd.close()


@pytest.fixture
async def link(etcd_of_ours: ShotEtcd) -> AsyncIterator[Link]:
    link = await Link.to(etcd_of_ours.endpoint)
    yield link
    await link.close()


@pytest.fixture
async def cut_off(link: Link, prefix: str) -> AsyncIterator[Cluster]:
    """Caches behind the link."""
    client = await EtcdClient.connect(EtcdConfig((link.endpoint,)), Bus())
    cluster = Cluster(client, prefix, Bus())
    yield cluster
    link.restore()
    await cluster.registry.close()
    await client.close()


async def test_a_paused_etcd(etcd_of_ours: ShotEtcd, cut_off: Cluster):
    rv = await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    await cut_off.list()
    etcd_of_ours.pause()
    # Any version is accepted: answered at once.
    assert names(await cut_off.list("resourceVersion=0")) == ["a/c1"]
    assert names(await cut_off.list(f"resourceVersion={rv}")) == ["a/c1"]
    # The newest is wanted: etcd has to be asked which that is, and everybody can see who waits.
    consistent = asyncio.create_task(cut_off.list())
    await until(lambda: cacher.state().waiting == 1)
    # Newer than the cache: 3 seconds, then 504.
    loop = asyncio.get_running_loop()
    started = loop.time()
    late = asyncio.create_task(cut_off.list(f"resourceVersion={cacher.state().rv + 1}"))
    await until(lambda: cacher.state().waiting == 2)
    await asyncio.sleep(watch_cache.BLOCK_TIMEOUT)  # the limit itself is what is tested
    for _ in range(1000):  # turns of the loop: a clock would also measure what else the machine does
        if late.done():
            break
        await asyncio.sleep(0)
    assert late.done() and loop.time() - started > 2.9 and watch_cache.BLOCK_TIMEOUT == 3.0
    with pytest.raises(StatusError) as refused:
        await late
    assert (refused.value.code, refused.value.retry_after) == (504, 1)
    assert not consistent.done()
    etcd_of_ours.resume()
    assert names(await consistent) == ["a/c1"]
    # Healed without a relist.
    rv = await etcd_of_ours.put(cut_off.prefix, "c2", "red")
    assert (await cut_off.list()).rv >= rv
    assert (cacher.state().waiting, cacher.cache.memory.generation) == (0, 1)


async def test_an_etcd_that_is_killed_and_comes_back(etcd_of_ours: ShotEtcd, cut_off: Cluster):
    since = await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    watched = Watched(since, "", await cut_off.watch(f"resourceVersion={since}"))
    await until(lambda: watched.answer.stream.live)
    await etcd_of_ours.kill()
    await until(lambda: bool(cacher.state().error))
    assert cacher.state().state == "ready"
    assert names(await cut_off.list("resourceVersion=0")) == ["a/c1"]
    with pytest.raises(StatusError) as unreachable:
        await cut_off.list()
    assert (unreachable.value.code, unreachable.value.reason) == (500, "ServerTimeout")
    await etcd_of_ours.start_again()
    rv = await etcd_of_ours.put(cut_off.prefix, "c2", "red")
    await until(lambda: watched.seen == [("ADDED", "c2", rv)])
    assert (cacher.state().error, cacher.cache.memory.generation) == ("", 1)
    watched.answer.stream.close("client gone")
    await watched.task


async def test_a_watch_straight_from_etcd_goes_on_after_the_connection_broke(
    etcd_of_ours: ShotEtcd, link: Link, cut_off: Cluster
):
    async def happens(name: str) -> int:
        key = f"{cut_off.prefix}/events/a/{name}".encode()
        document = f'{{"kind":"Event","apiVersion":"v1","metadata":{{"namespace":"a","name":"{name}"}}}}'
        return (await etcd_of_ours.client.create(key, document.encode())).revision

    since = await happens("e0")
    watched = Watched(since, "", await cut_off.watch(f"resourceVersion={since}", resource="events"))
    first = await happens("e1")
    await until(lambda: watched.seen == [("ADDED", "e1", first)])
    link.cut()
    second = await happens("e2")
    link.restore()
    third = await happens("e3")
    await until(lambda: len(watched.seen) == 3 or watched.ended)
    assert watched.seen == [("ADDED", "e1", first), ("ADDED", "e2", second), ("ADDED", "e3", third)]
    watched.answer.stream.close("client gone")
    await watched.task


async def test_a_connection_that_died_without_a_word(
    etcd_of_ours: ShotEtcd, link: Link, cut_off: Cluster, monkeypatch: pytest.MonkeyPatch
):
    """The caches go on where they were over another connection: nothing is listed again or seen twice."""
    monkeypatch.setattr(connection_liveness, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(connection_liveness, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(connection_liveness, "ANSWER_SECONDS", 0.2)
    since = await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    watched = Watched(since, "", await cut_off.watch(f"resourceVersion={since}"))
    first = await etcd_of_ours.put(cut_off.prefix, "c2", "red")
    await until(lambda: watched.seen == [("ADDED", "c2", first)])
    link.die()
    second = await etcd_of_ours.put(cut_off.prefix, "c3", "red")
    assert (await cut_off.list()).rv >= second
    third = await etcd_of_ours.put(cut_off.prefix, "c4", "red")
    await until(lambda: watched.seen[1:] == [("ADDED", "c3", second), ("ADDED", "c4", third)])
    assert (cacher.state().error, cacher.cache.memory.generation) == ("", 1)
    watched.answer.stream.close("client gone")
    await watched.task


async def test_a_cache_that_does_not_hear_from_etcd_says_so(
    etcd_of_ours: ShotEtcd, cut_off: Cluster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection_liveness, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(connection_liveness, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(cachers, "LOOK_SECONDS", 0.01)
    await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    etcd_of_ours.pause()
    monkeypatch.setattr(connection_liveness, "HEARD_SECONDS", 0.5)
    await until(lambda: cacher.state().stale_since > 0)
    assert cut_off.registry.stale()["configmaps"] > 0.5
    assert names(await cut_off.list("resourceVersion=0")) == ["a/c1"]
    monkeypatch.setattr(connection_liveness, "HEARD_SECONDS", 60.0)
    etcd_of_ours.resume()
    await until(lambda: cacher.state().stale_since == 0)
    assert cut_off.registry.stale() == {}
    # The same for a watch that is broken, and not only silent.
    await etcd_of_ours.kill()
    await until(lambda: cacher.state().stale_since > 0)
    await etcd_of_ours.start_again()
    await until(lambda: cacher.state().stale_since == 0)
    assert (cacher.state().state, cacher.cache.memory.generation) == ("ready", 1)


async def test_another_cluster_that_is_further_is_listed_again(
    etcd_of_ours: ShotEtcd, link: Link, cut_off: Cluster
):
    """Its revision is higher than the one known: a watch from there would go on as if nothing had been."""
    for colour in ("red", "blue"):
        rv = await etcd_of_ours.put(cut_off.prefix, "old", colour)
    cacher = await cut_off.warm()
    watched = Watched(rv, "", await cut_off.watch(f"resourceVersion={rv}"))
    await until(lambda: watched.answer.stream.live)
    link.cut()
    await etcd_of_ours.kill()
    await etcd_of_ours.start_another()
    for number in range(10):
        head = await etcd_of_ours.put(cut_off.prefix, f"new-{number % 2}", "red")
    assert head > cut_off.client.head
    link.restore()
    await watched.task
    assert watched.answer.stream.cause == "cache reinitializing"
    await until(lambda: cacher.cache.memory.generation == 2)
    assert names(await cut_off.list("resourceVersion=0")) == ["a/new-0", "a/new-1"]
    assert (cut_off.client.head, cut_off.client.ledger.histories) == (head, 1)


@pytest.mark.parametrize("version", ["1.30", "1.36"])
async def test_what_etcd_has_forgotten_meanwhile_is_listed_again(
    etcd_of_ours: ShotEtcd, link: Link, cut_off: Cluster, version: str
):
    cut_off.version(version)
    since = await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    watched = Watched(since, "", await cut_off.watch(f"resourceVersion={since}"))
    seen = await etcd_of_ours.put(cut_off.prefix, "c1", "blue")
    await until(lambda: watched.seen == [("MODIFIED", "c1", seen)])
    link.cut()
    await etcd_of_ours.delete(cut_off.prefix, "c1")
    rv = await etcd_of_ours.put(cut_off.prefix, "c2", "red")
    await etcd_of_ours.client.compact(rv)
    link.restore()
    # The client's stream ends where it was; going on from there is refused: it lists again, as we do.
    await watched.task
    assert watched.answer.stream.cause == "cache reinitializing"
    assert watched.seen == [("MODIFIED", "c1", seen)]
    await until(lambda: cacher.cache.memory.generation == 2)
    again = Watched(seen, "", await cut_off.watch(f"resourceVersion={seen}"))
    await again.task
    assert again.told_410
    assert names(await cut_off.list()) == ["a/c2"]


async def test_a_deletion_at_the_compacted_revision_is_not_lost(
    etcd_of_ours: ShotEtcd, link: Link, cut_off: Cluster
):
    since = await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    watched = Watched(since, "", await cut_off.watch(f"resourceVersion={since}"))
    await until(lambda: watched.answer.stream.live)
    link.cut()
    deleted = await etcd_of_ours.delete(cut_off.prefix, "c1")
    await etcd_of_ours.client.compact(deleted)
    rv = await etcd_of_ours.put(cut_off.prefix, "c1", "blue")
    link.restore()
    await until(lambda: cacher.state().rv >= rv)
    await until(lambda: watched.ended or bool(watched.seen))
    assert watched.seen in ([], [("DELETED", "c1", deleted)])
    assert watched.ended or watched.seen
    watched.answer.stream.close("client gone")
    await watched.task
    assert names(await cut_off.list()) == ["a/c1"]


async def test_a_client_that_does_not_read_is_cut_off_and_delays_no_other(
    etcd_of_ours: ShotEtcd, cut_off: Cluster
):
    since = await etcd_of_ours.put(cut_off.prefix, "c1", "red")
    cacher = await cut_off.warm()
    slow, quick = [Watched(since, "", await cut_off.watch(f"resourceVersion={since}")) for _ in range(2)]
    await until(lambda: slow.answer.stream.live and quick.answer.stream.live)
    slow.reading.clear()
    written = [await etcd_of_ours.put(cut_off.prefix, "c1", f"n{number}") for number in range(100)]
    await until(lambda: len(quick.seen) == len(written))
    assert slow.answer.stream.cause == "too slow"
    assert cacher.cache.dispatcher.terminated == 1
    assert [rv for _, _, rv in quick.seen] == written
    # What was queued is still delivered; the client can go on from there.
    slow.reading.set()
    await slow.task
    assert [rv for _, _, rv in slow.seen] == written[: len(slow.seen)]
    again = Watched(since, "", await cut_off.watch(f"resourceVersion={slow.seen[-1][2]}"))
    await until(lambda: len(again.seen) == len(written) - len(slow.seen))
    for watched in (quick, again):
        watched.answer.stream.close("client gone")
        await watched.task


async def test_what_cannot_be_read_is_told(etcd_of_ours: ShotEtcd, cut_off: Cluster):
    key = f"{cut_off.prefix}/configmaps/a/secret".encode()
    await etcd_of_ours.client.create(key, b"k8s:enc:aescbc:v1:key1:\x00\x01\x02")
    cacher = cut_off.cacher()
    cacher.warm()
    await until(lambda: bool(cacher.state().error))
    assert key.decode() in cacher.state().error
    assert cacher.state().state == "initializing"
    with pytest.raises(StatusError) as refused:
        await cut_off.list("resourceVersion=0")
    assert refused.value.code == 429
    assert key.decode() in refused.value.message
    # It is repaired (or its key deleted): the next try finds it so.
    await etcd_of_ours.delete(cut_off.prefix, "secret")
    assert await cacher.ready(60)
