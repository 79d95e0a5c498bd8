"""WATCH over a real etcd: replay, initial events, selectors, errors in the stream."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from ktui.kube.status import StatusError

from .conftest import Cluster, events_of, read

pytestmark = pytest.mark.anyio


async def test_a_watch_replays_what_came_after_its_revision_and_goes_on_live(cluster: Cluster):
    await cluster.warm()
    revisions = [await cluster.put(f"c{number}") for number in range(3)]
    await cluster.list()
    answer = await cluster.watch(f"resourceVersion={revisions[0]}")
    assert (answer.route, answer.plan.reason_id) == ("cache", "w.since")
    reading = asyncio.create_task(read(answer, lambda event: event.type == "DELETED"))
    gone = await cluster.delete("c1")
    assert await reading == [
        ("ADDED", "c1", revisions[1]),
        ("ADDED", "c2", revisions[2]),
        ("DELETED", "c1", gone),
    ]


async def test_every_watcher_sees_each_later_event_once_and_in_order(cluster: Cluster):
    await cluster.warm()
    revisions = [await cluster.put("c0", n="0")]
    starts, watches = [], []
    for number in range(1, 60):
        if number % 6 == 0:
            starts.append(revisions[-1])
            watches.append(await cluster.watch(f"resourceVersion={revisions[-1]}"))
        revisions.append(await cluster.put(f"c{number % 5}", n=str(number)))
    last = revisions[-1]
    seen = await asyncio.gather(*(read(each, lambda event: event.rv == last) for each in watches))
    for start, events in zip(starts, seen, strict=True):
        assert [rv for _, _, rv in events] == [rv for rv in revisions if rv > start]


async def test_initial_events_end_with_a_bookmark(cluster: Cluster):
    await cluster.warm()
    first, second = await cluster.put("c1"), await cluster.put("c2")
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    answer = await cluster.watch(query)
    assert answer.plan.reasons == ("w.initial_fresh", "w.bookmark_end")
    events = [event async for event in _until_bookmark(answer)]
    assert [(e.type, e.rv) for e in events[:2]] == [("ADDED", first), ("ADDED", second)]
    end = msgspec.json.decode(events[2].line())
    assert end["type"] == "BOOKMARK"
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(end["object"]["metadata"]["resourceVersion"]) >= second
    assert (answer.stream.delivered, answer.stream.bookmarks) == (3, 1)


async def _until_bookmark(answer):
    async for event in events_of(answer):
        yield event
        if event.type == "BOOKMARK":
            answer.stream.close("client gone")


async def test_an_object_that_leaves_the_selector_is_deleted_at_the_updates_revision(cluster: Cluster):
    await cluster.warm()
    start = await cluster.put("c1", colour="red")
    await cluster.list()
    answer = await cluster.watch(f"resourceVersion={start}&labelSelector=colour%3Dred")
    left, back = await cluster.put("c1", colour="blue"), await cluster.put("c1", colour="red")
    seen = []
    async for event in events_of(answer):
        seen.append((event.type, event.rv, event.object.rv, event.object.labels))
        if event.rv == back:
            answer.stream.close("client gone")
    assert seen == [
        ("DELETED", left, left, {"colour": "red"}),
        ("ADDED", back, back, {"colour": "red"}),
    ]


async def test_a_namespaced_watch_replays_only_its_namespace(cluster: Cluster):
    await cluster.warm()
    start = await cluster.put("c1", "a")
    await cluster.put("c1", "b")
    mine = await cluster.put("c2", "a")
    await cluster.list()
    answer = await cluster.watch(f"resourceVersion={start}", "a")
    assert await read(answer, lambda event: event.rv == mine) == [("ADDED", "c2", mine)]


async def test_too_old_is_an_error_in_the_stream(cluster: Cluster):
    old = await cluster.put("c1")
    await cluster.put("c2")
    cacher = await cluster.warm()
    answer = await cluster.watch(f"resourceVersion={old}")
    (event,) = [event async for event in events_of(answer)]
    status = msgspec.json.decode(event.line())["object"]
    oldest = cacher.cache.memory.event_buffer.oldest_watch_rv
    assert (status["code"], status["reason"]) == (410, "Expired")
    assert status["message"] == f"too old resource version: {old} ({oldest})"


async def test_a_future_watch_waits_silently_for_later_events(cluster: Cluster):
    await cluster.warm()
    rv = await cluster.put("c1")
    answer = await cluster.watch(f"resourceVersion={rv + 1}")
    assert answer.plan.reason_id == "w.future"
    reading = asyncio.create_task(read(answer, lambda event: True))
    await cluster.put("c2")
    third = await cluster.put("c3")
    assert await reading == [("ADDED", "c3", third)]


async def test_a_cold_cache_refuses_a_watch(cluster: Cluster):
    with pytest.raises(StatusError) as refused:
        await cluster.watch("resourceVersion=0")
    assert refused.value.code == 429


async def test_closing_leaves_no_watcher_behind(cluster: Cluster):
    cacher = await cluster.warm()
    answer = await cluster.watch("resourceVersion=0&timeoutSeconds=1")
    reading = asyncio.create_task(read(answer, lambda event: False))
    async with asyncio.timeout(60):
        while not len(cacher.cache.dispatcher.watchers):
            await asyncio.sleep(0)
    assert cacher.state().watchers == 1
    answer.stream.close("timeout")
    assert await reading == []
    assert (cacher.state().watchers, len(cacher.cache.dispatcher.watchers)) == (0, 0)
    assert answer.stream.cause == "timeout"


async def test_a_refilled_cache_ends_its_watches(cluster: Cluster):
    cacher = await cluster.warm()
    answer = await cluster.watch("resourceVersion=0")
    reading = asyncio.create_task(read(answer, lambda event: False))
    async with asyncio.timeout(60):
        while not (len(cacher.cache.dispatcher.watchers) and cacher.cache._reflector._watch):
            await asyncio.sleep(0)
    await cacher.cache._reflector._watch.close()
    assert await reading == []
    assert answer.stream.cause == "cache reinitializing"
    assert await cacher.ready(60)
    assert cacher.cache.memory.generation == 2


async def test_events_are_watched_in_etcd_itself(cluster: Cluster):
    store = cluster.cacher("events").store

    async def happened(name: str) -> int:
        involved = {"kind": "Pod", "name": "p", "namespace": "a"}
        metadata = {"namespace": "a", "name": name}
        event = {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": involved}
        return (await store.create(event, ttl=3600)).rv

    first = await happened("e1")
    answer = await cluster.watch("", resource="events")
    assert (answer.route, answer.plan.reasons[0]) == ("etcd", "w.nocache")
    reading = asyncio.create_task(read(answer, lambda event: event.object is not None and event.rv > first))
    second = await happened("e2")
    assert await reading == [("ADDED", "e1", first), ("ADDED", "e2", second)]

    answer = await cluster.watch(f"resourceVersion={first}", resource="events")
    assert await read(answer, lambda event: True) == [("ADDED", "e2", second)]

    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    answer = await cluster.watch(query, resource="events")
    seen = await read(answer, lambda event: event.type == "BOOKMARK")
    assert [each[0] for each in seen] == ["ADDED", "ADDED", "BOOKMARK"]

    answer = await cluster.watch(f"{query}&resourceVersion={second + 1000}", resource="events")
    (error,) = [event async for event in events_of(answer)]
    assert msgspec.json.decode(error.line())["object"]["code"] == 504
