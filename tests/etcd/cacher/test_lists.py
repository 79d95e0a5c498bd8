"""LIST and GET over a real etcd: routes, freshness, pages, snapshots."""

from __future__ import annotations

import pytest

from ktui.cacher import watch_cache as revision_waiter
from ktui.kube.status import StatusError
from ktui.telemetry.meter import Meter, metered

from .conftest import Cluster, names

pytestmark = pytest.mark.anyio


async def test_a_consistent_list_has_every_acknowledged_write(cluster: Cluster):
    await cluster.warm()
    for number in range(30):
        rv = await cluster.put(f"c{number:02}")
        answer = await cluster.list()
        assert answer.route == "cache"
        assert answer.plan.reason_id == "c.consistent"
        assert names(answer)[-1] == f"a/c{number:02}"
        assert answer.rv >= rv


async def test_a_quiet_cache_learns_etcds_revision_by_progress_requests(cluster: Cluster):
    await cluster.warm()
    await cluster.warm("pods")
    rv = await cluster.put("c1")
    answer = await cluster.list(resource="pods")
    assert (answer.route, answer.rv >= rv) == ("cache", True)
    assert cluster.cacher("pods").state().progress_requests > 0


async def test_the_same_list_moves_between_etcd_and_cache_with_the_version(cluster: Cluster):
    cacher = await cluster.warm()
    await cluster.put("c1")
    generation = cacher.cache.memory.generation
    routes = []
    for version in ("1.30", "1.36", "1.30", "1.31"):
        cluster.version(version)
        routes.append((await cluster.list("limit=500")).route)
    assert routes == ["etcd", "cache", "etcd", "cache"]
    assert cacher.cache.memory.generation == generation


async def test_a_cold_cache_refuses_then_serves(cluster: Cluster):
    await cluster.put("c1")
    with pytest.raises(StatusError) as refused:
        await cluster.list()
    assert (refused.value.code, refused.value.retry_after) == (429, 1)
    assert refused.value.message == "storage is (re)initializing"
    # A page is cheap enough for etcd.
    assert (await cluster.list("limit=1")).plan.reason_id in ("n.limit_notready", "c.consistent")
    await cluster.warm()
    assert names(await cluster.list()) == ["a/c1"]


async def test_up_to_1_30_a_list_waits_for_a_cold_cache(cluster: Cluster):
    await cluster.put("c1")
    cluster.version("1.30")
    rv = (await cluster.cacher().store.get("a", "c1"))[0].rv
    answer = await cluster.list(f"resourceVersion={rv}")
    assert (answer.route, names(answer)) == ("cache", ["a/c1"])


async def test_pages_go_on_at_the_first_ones_revision(cluster: Cluster):
    await cluster.warm()
    for number in range(5):
        await cluster.put(f"c{number}")
    first = await cluster.list("limit=2")
    assert (names(first), first.remaining) == (["a/c0", "a/c1"], 3)
    await cluster.put("c2b")
    await cluster.delete("c4")
    second = await cluster.list(f"limit=2&continue={first.continue_}")
    assert (second.route, second.rv, names(second)) == ("cache_snapshot", first.rv, ["a/c2", "a/c3"])
    # Another server, or an older one: the same token at etcd.
    cluster.version("1.30")
    third = await cluster.list(f"limit=2&continue={second.continue_}")
    assert (third.route, third.rv, names(third), third.continue_) == ("etcd", first.rv, ["a/c4"], "")


async def test_every_past_revision_is_the_same_from_snapshot_and_etcd(cluster: Cluster):
    await cluster.warm()
    revisions = [await cluster.put(f"c{number % 4}", n=str(number)) for number in range(12)]
    revisions.append(await cluster.delete("c1"))
    revisions.append(await cluster.put("c1", "b"))
    for rv in revisions:
        query = f"resourceVersion={rv}&resourceVersionMatch=Exact"
        cluster.version("1.36")
        ours = await cluster.list(query)
        cluster.version("1.36", ListFromCacheSnapshot=False)
        theirs = await cluster.list(query)
        assert (ours.route, theirs.route) == ("cache_snapshot", "etcd")
        assert ours.rv == theirs.rv == rv
        assert [(o.key, o.rv, o.raw) for o in ours.objects] == [(o.key, o.rv, o.raw) for o in theirs.objects]


async def test_what_a_list_counts(cluster: Cluster):
    await cluster.warm("pods")
    for number in range(6):
        await cluster.put(f"p{number}", "ab"[number % 2], "pods", node=f"n{number % 3}", app="x")
    with metered(Meter()) as meter:
        answer = await cluster.list("fieldSelector=spec.nodeName%3Dn1", resource="pods")
    assert names(answer) == ["a/p4", "b/p1"]
    assert (meter.fetched, meter.returned, meter.etcd_gets, meter.etcd_lists) == (2, 2, 1, 0)
    with metered(Meter()) as meter:
        await cluster.list("resourceVersion=0&labelSelector=app%3Dx", "a", "pods")
    assert (meter.fetched, meter.returned, meter.etcd_gets, meter.etcd_lists) == (3, 3, 0, 0)


async def test_a_future_revision_times_out_in_the_cache_and_at_once_in_etcd(cluster: Cluster, monkeypatch):
    monkeypatch.setattr(revision_waiter.RevisionWaiter.wait, "__defaults__", (0.15,))
    await cluster.warm()
    rv = await cluster.put("c1")
    with pytest.raises(StatusError) as late:
        await cluster.list(f"resourceVersion={rv + 1000}")
    assert (late.value.code, late.value.retry_after) == (504, 1)
    assert f"Too large resource version: {rv + 1000}, current: " in late.value.message
    with pytest.raises(StatusError) as late:
        await cluster.list(f"resourceVersion={rv + 1000}", resource="events")
    assert (late.value.code, late.value.retry_after) == (504, 0)


async def test_a_cache_that_stays_behind_hands_a_consistent_list_to_etcd(cluster: Cluster, monkeypatch):
    cacher = await cluster.warm("pods")
    monkeypatch.setattr(revision_waiter.RevisionWaiter.wait, "__defaults__", (0.05,))

    async def nothing(*_: int) -> None: ...

    monkeypatch.setattr(cacher.cache._reflector, "request_progress", nothing)
    monkeypatch.setattr(cacher.cache._reflector, "_answered", nothing)  # nor does etcd tell by itself
    await cluster.put("c1")
    answer = await cluster.list(resource="pods")
    assert (answer.route, answer.plan.source.value) == ("cache,etcd", "cache")
    cluster.version("1.28", ConsistentListFromCache=True)
    with pytest.raises(StatusError) as late:
        await cluster.list(resource="pods")
    assert late.value.code == 504
    cluster.version("1.37", ConsistentListFromCacheSkipTimeoutFallback=True)
    with pytest.raises(StatusError) as late:
        await cluster.list(resource="pods")
    assert (late.value.code, late.value.retry_after) == (429, 1)
    assert late.value.message.startswith("Timeout: Too large resource version: ")


async def test_1_33_0_reads_a_consistent_page_at_the_probed_revision(cluster: Cluster):
    cluster.version("1.33.0")
    await cluster.warm()
    rv = await cluster.put("c1")
    await cluster.put("c2")
    with metered(Meter()) as meter:
        answer = await cluster.list("limit=1")
    assert (answer.route, answer.plan.reason_id, names(answer)) == ("etcd", "c.bug133", ["a/c1"])
    assert (answer.rv > rv, meter.etcd_gets, meter.etcd_lists) == (True, 1, 1)


async def test_get(cluster: Cluster):
    cacher = await cluster.warm()
    rv = await cluster.put("c1")
    routes = {}
    for asked in ("", str(rv), "0"):  # "0" last: before the cache has seen rv it may know of no c1
        answer = await cacher.get("a", "c1", asked)
        assert answer.object is not None
        assert (answer.object.name, answer.object.rv) == ("c1", rv)
        routes[asked] = answer.route
    assert routes == {"": "etcd", "0": "cache", str(rv): "cache"}
    assert (await cacher.get("a", "nope", "0")).object is None
    with pytest.raises(StatusError) as bad:
        await cacher.get("a", "c1", "abc")
    assert bad.value.code == 500


async def test_up_to_1_30_a_get_waits_until_a_cold_cache_is_ready(cluster: Cluster, monkeypatch):
    rv = await cluster.put("c1")
    cluster.version("1.30")
    monkeypatch.setattr(revision_waiter.RevisionWaiter.wait, "__defaults__", (0.0,))
    answer = await cluster.cacher().get("a", "c1", str(rv))
    assert (answer.route, answer.plan.reasons) == ("cache", ("g.wait", "g.wait3"))
    assert answer.object is not None and answer.object.rv == rv


async def test_events_are_always_read_from_etcd(cluster: Cluster):
    answer = await cluster.list("resourceVersion=0", resource="events")
    assert (answer.route, answer.plan.reason_id) == ("etcd", "d.nocache")
    assert cluster.cacher("events").state().state == "disabled"


async def test_without_watch_cache_everything_is_read_from_etcd(cluster: Cluster):
    cluster.settings.watch_cache = False
    await cluster.put("c1")
    answer = await cluster.list("resourceVersion=0&limit=1")
    assert (answer.route, names(answer)) == ("etcd", ["a/c1"])


async def test_a_bad_token_is_refused_in_upstreams_words(cluster: Cluster):
    await cluster.warm()
    with pytest.raises(StatusError) as bad:
        await cluster.list("continue=garbage")
    assert bad.value.code == 400
    assert bad.value.message.startswith("invalid continue token: continue key is not valid: ")


async def test_the_cache_has_the_digest_of_etcd(cluster: Cluster):
    cacher = await cluster.warm()
    for number in range(20):
        await cluster.put(f"c{number}")
    await cluster.delete("c7")
    await cluster.list()
    result = await cacher.cache.checker.check()
    assert result.consistent
    assert (result.cache.objects, result.etcd.objects, result.etcd.rpcs) == (19, 19, 1)
    cacher.cache.memory.store.remove(f"{cacher.store.prefix}a/c3")
    result = await cacher.cache.checker.check()
    assert (result.consistent, result.cache.objects) == (False, 18)


async def test_a_revision_beyond_int64_is_too_large_not_an_error(cluster: Cluster):
    query = f"resourceVersion={(1 << 64) - 1}&resourceVersionMatch=Exact"
    with pytest.raises(StatusError) as late:
        await cluster.list(query, resource="events")
    assert late.value.code == 504


async def test_get_of_events_reads_etcd_before_it_looks_at_the_resource_version(cluster: Cluster):
    with metered(Meter()) as meter, pytest.raises(StatusError) as bad:
        await cluster.cacher("events").get("a", "nope", "abc")
    assert (bad.value.code, meter.etcd_gets) == (400, 1)


@pytest.mark.parametrize(
    ("version", "route", "reason"),
    [("1.33.1", "etcd", "c.bug133"), ("1.33.3", "cache", "c.consistent"), ("1.34", "cache", "c.consistent")],
)
async def test_the_first_1_33_releases_lose_consistent_pages(cluster: Cluster, version, route, reason):
    cluster.version(version)
    for number in range(3):
        last = await cluster.put(f"c{number}")
    await cluster.warm()
    page = await cluster.list("limit=2")
    assert (page.route, page.plan.reason_id) == (route, reason)
    assert (names(page), page.remaining) == (["a/c0", "a/c1"], 1)
    assert page.rv >= last
    rest = await cluster.list(f"limit=2&continue={page.continue_}")
    assert (names(rest), rest.rv) == (["a/c2"], page.rv)
