"""shardSelector on LIST, WATCH and DELETECOLLECTION over HTTP, with the gate and without."""

from __future__ import annotations

import itertools
from urllib.parse import quote

import pytest

from ktui.contract.events import WatcherClosed
from ktui.kube.selectors.shards import NAMESPACE, UID, shard
from ktui.kube.versions import behaviour_of
from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.told import Told

from .test_metrics import scrape, value
from .test_watches import COLLECTION, watching

pytestmark = pytest.mark.anyio

GATE = {"ShardedListAndWatch": True}
COUNT = 3


def param(index: int, count: int = COUNT, field: str = UID) -> str:
    return f"shardSelector={quote(str(shard(index, count, field)))}"


async def filled(api: Api, version: str = "1.37", **gates: bool) -> dict[str, str]:
    """Twenty ConfigMaps in a warm cache: uid by name."""
    api.services.settings.use(behaviour_of(version, gates or GATE))
    await api.warm()
    made = [await api.config_map(f"c{number:02}") for number in range(20)]
    await api.seen(made[-1])
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in made}


async def listed(api: Api, query: str) -> tuple[list[str], dict[str, object]]:
    body = (await api.get(f"{COLLECTION}?{query}")).json()
    assert body["kind"] == "ConfigMapList", body
    return [item["metadata"]["name"] for item in body["items"]], body["metadata"]


@pytest.mark.parametrize("source", ["resourceVersion=0&", "", "etcd"])
async def test_shards_are_the_collection(api: Api, source: str) -> None:
    """From the cache, after a probe, and from etcd: each object is in one shard, the one of its hash."""
    uids = await filled(api)
    if source == "etcd":
        api.services.settings.watch_cache, source = False, ""
    parts = []
    for index in range(COUNT):
        names, metadata = await listed(api, f"{source}{param(index)}")
        assert metadata["shardInfo"] == {"selector": str(shard(index, COUNT))}
        assert names == [name for name, uid in uids.items() if shard(index, COUNT).matches(uid, "a")]
        parts.append(names)
    assert sorted(itertools.chain(*parts)) == sorted(uids) and all(parts)
    both, metadata = await listed(api, f"shardSelector={quote(f'{shard(0, COUNT)} || {shard(2, COUNT)}')}")
    assert both == sorted(parts[0] + parts[2])


async def test_pages_and_other_selectors(api: Api) -> None:
    uids = await filled(api)
    wanted = [name for name, uid in uids.items() if shard(0, 2).matches(uid, "a")]
    names, metadata = await listed(api, f"{param(0, 2)}&limit=3")
    assert names == wanted[:3] and "remainingItemCount" not in metadata
    rest, _ = await listed(api, f"{param(0, 2)}&continue={metadata['continue']}")
    assert names + rest == wanted
    one, _ = await listed(api, f"{param(0, 2)}&fieldSelector=metadata.name%3D{wanted[0]}")
    none, _ = await listed(api, f"{param(1, 2)}&fieldSelector=metadata.name%3D{wanted[0]}")
    assert (one, none) == ([wanted[0]], [])


async def test_a_namespace_is_in_one_shard(api: Api) -> None:
    uids = await filled(api)
    sizes = [len((await listed(api, param(index, 4, NAMESPACE)))[0]) for index in range(4)]
    assert sorted(sizes) == [0, 0, 0, len(uids)]


async def test_tables_have_the_shard_too(api: Api) -> None:
    await filled(api)
    table = (await api.http.get(f"{COLLECTION}?{param(0)}", headers=TABLE)).json()
    assert table["kind"] == "Table" and table["metadata"]["shardInfo"]["selector"] == str(shard(0, COUNT))


async def test_without_the_gate_it_is_ignored(api: Api) -> None:
    uids = await filled(api, "1.36", ShardedListAndWatch=False)
    names, metadata = await listed(api, param(0))
    assert names == sorted(uids) and "shardInfo" not in metadata
    assert len((await listed(api, "shardSelector=abc"))[0]) == len(uids)
    assert "apiserver_watch_shards_total" not in await scrape(api)


@pytest.mark.parametrize("watch", ["", "watch=1&"])
async def test_refused_in_upstreams_words(api: Api, watch: str) -> None:
    await filled(api)
    answer = await api.get(f"{COLLECTION}?{watch}shardSelector={quote('shardRange(object.metadata.uid)')}")
    body = answer.json()
    assert (answer.status_code, body["kind"], body["code"]) == (500, "Status", 500)
    assert body["message"] == ("invalid shard selector: shardRange() requires exactly 3 arguments, got 1")
    wrong = await api.get(f"{COLLECTION}?{watch}shardSelector=abc&labelSelector=a%20b")
    assert wrong.status_code == 400, "the other selectors come first"
    empty = await api.get(f"{COLLECTION}?shardSelector=")
    assert len(empty.json()["items"]) == 20


async def test_a_watch_of_a_shard(api: Api) -> None:
    """Initial events, changes and deletions of its own objects only, and the metrics of it."""
    uids = await filled(api)
    mine = [name for name, uid in uids.items() if shard(1, COUNT).matches(uid, "a")]
    other = next(name for name in uids if name not in mine)
    query = f"{param(1)}&resourceVersion=0"
    named = {"group": "", "resource": "configmaps"}
    told = Told(api.services.bus.subscribe())
    async with watching(api, query) as events:
        seen = [(await events.next())["object"]["metadata"]["name"] for _ in mine]
        assert seen == mine
        samples = await scrape(api)
        assert value(samples, "apiserver_watch_shards_total", **named) == 1
        before = value(samples, "apiserver_watch_filtered_events_total", **named)
        await api.merge(f"{COLLECTION}/{other}", {"data": {"k": "1"}})
        await api.merge(f"{COLLECTION}/{mine[0]}", {"data": {"k": "2"}})
        changed = await events.next()
        assert changed["object"]["metadata"]["name"] == mine[0] and changed["type"] == "MODIFIED"
        await api.delete(f"{COLLECTION}/{mine[0]}")
        assert (await events.next())["type"] == "DELETED"
        after = value(await scrape(api), "apiserver_watch_filtered_events_total", **named)
        assert after > before
    await told.next(WatcherClosed)
    assert value(await scrape(api), "apiserver_watch_shards_total", **named) == 0
    assert value(await scrape(api), "apiserver_watch_filtered_events_total", **named) == after


async def test_deletecollection_of_a_shard(api: Api) -> None:
    uids = await filled(api)
    await api.delete(COLLECTION, shardSelector=str(shard(0, COUNT)))
    left, _ = await listed(api, "")
    assert left == [name for name, uid in uids.items() if not shard(0, COUNT).matches(uid, "a")]


@pytest.mark.parametrize("source", ["cache", "etcd"])
async def test_1_36_counts_the_objects_of_other_shards(api: Api, source: str) -> None:
    """Its Predicate.Empty() knows no shards (v0.36.3, storage/continue.go:114): the count is too high."""
    uids = await filled(api, "1.36")
    if source == "etcd":
        api.services.settings.watch_cache = False
    names, metadata = await listed(api, f"{param(0, 2)}&limit=3")
    assert names == [name for name, uid in uids.items() if shard(0, 2).matches(uid, "a")][:3]
    assert isinstance(metadata["remainingItemCount"], int)
    _, labelled = await listed(api, f"{param(0, 2)}&limit=3&labelSelector=!nope")
    assert "remainingItemCount" not in labelled


@pytest.mark.parametrize(("version", "filtered"), [("1.36", False), ("1.37", True)])
async def test_a_watch_that_etcd_serves(api: Api, version: str, filtered: bool) -> None:
    """1.36 sends the objects of all shards (v0.36.3, etcd3/watcher.go:142), unless a selector is set."""
    uids = await filled(api, version)
    api.services.settings.watch_cache = False
    mine = [name for name, uid in uids.items() if shard(1, COUNT).matches(uid, "a")]
    async with watching(api, f"{param(1)}&resourceVersion=0") as events:
        wanted = mine if filtered else sorted(uids)
        assert [(await events.next())["object"]["metadata"]["name"] for _ in wanted] == wanted
    async with watching(api, f"{param(1)}&resourceVersion=0&labelSelector=!nope") as events:
        assert [(await events.next())["object"]["metadata"]["name"] for _ in mine] == mine
