"""Objects through a Store into a real etcd and back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.errors import FutureRevisionError, UnreachableError
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.storage.lister import StoreListRequest
from ktui.storage.objects import SelectionPredicate
from ktui.storage.store import Store
from ktui.storage.writer import NoWrite
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Meter, metered

pytestmark = pytest.mark.anyio


def resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None
    return found


def pod(name: str, namespace: str = "shop", node: str = "n1", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels}
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Running"},
    }


@pytest.fixture
def pods(client: EtcdClient, prefix: str) -> Store:
    return Store(client, resource("pods"), prefix)


async def fill(store: Store, count: int) -> list[int]:
    """Pods p00…, every fifth labelled app=web; their resourceVersions."""
    objects = [pod(f"p{i:02}", **({"app": "web"} if i % 5 == 0 else {"app": "db"})) for i in range(count)]
    return [(await store.create(obj)).rv for obj in objects]


def names(objects: Any) -> list[str]:
    return [obj.name for obj in objects]


async def test_what_is_created_is_read_back(pods: Store) -> None:
    created = await pods.create(pod("a", app="web"))
    found, revision = await pods.get("shop", "a")
    assert found is not None and revision >= created.rv == found.rv
    assert (found.key, found.namespace, found.name) == (f"{pods.prefix}shop/a", "shop", "a")
    assert (found.uid, found.labels) == ("uid-a", {"app": "web"})
    assert found.fields["spec.nodeName"] == "n1" and found.fields["status.phase"] == "Running"
    whole = json.loads(found.full_json())
    assert whole["kind"] == "Pod" and whole["metadata"]["resourceVersion"] == str(created.rv)
    assert "kind" not in json.loads(b"".join(found.item_pieces()))
    with pytest.raises(StatusError, match='pods "a" already exists'):
        await pods.create(pod("a"))


async def test_pages_are_of_one_revision_and_end(pods: Store) -> None:
    await fill(pods, 5)
    first = await pods.list(StoreListRequest("shop", limit=2))
    assert (names(first.objects), first.next_start, first.remaining) == (["p00", "p01"], "p01\0", 3)
    await pods.create(pod("p99"))
    second = await pods.list(StoreListRequest("shop", limit=3, revision=first.rv, start_key=first.next_start))
    assert names(second.objects) == ["p02", "p03", "p04"] and second.rv == first.rv
    assert (second.next_start, second.remaining) == ("", None)


@pytest.mark.parametrize(("rule", "lists"), [("doubling", 2), ("constant", 3)])
async def test_a_selective_page_reads_on_until_enough_match(pods: Store, rule: Any, lists: int) -> None:
    await fill(pods, 16)
    selection = SelectionPredicate(LabelSelector.parse("app=web"))
    with metered(Meter()) as meter:
        page = await pods.list(StoreListRequest("shop", selection=selection, limit=2, page_rule=rule))
    assert names(page.objects) == ["p00", "p05"]
    assert (page.next_start, page.remaining) == ("p05\0", None)
    assert meter.etcd_lists == lists
    assert (meter.evaluated, meter.matched, meter.returned) == (6, 2, 2)
    with metered(Meter()) as meter:
        rest = await pods.list(
            StoreListRequest("shop", selection=selection, limit=3, start_key=page.next_start, page_rule=rule)
        )
    assert names(rest.objects) == ["p10", "p15"] and rest.next_start == ""
    assert meter.fetched == meter.evaluated == 10


async def test_a_page_that_fills_up_inside_a_fetched_page_goes_on_after_the_last_evaluated(
    pods: Store,
) -> None:
    await fill(pods, 16)
    selection = SelectionPredicate(LabelSelector.parse("app=db"))
    with metered(Meter()) as meter:
        page = await pods.list(StoreListRequest("shop", selection=selection, limit=4))
    assert (meter.fetched, meter.evaluated, meter.returned) == (12, 5, 4)
    assert page.next_start == "p04\0"


async def test_a_list_narrowed_to_one_name_is_a_get(pods: Store) -> None:
    await fill(pods, 3)
    with metered(Meter()) as meter:
        page = await pods.list(StoreListRequest("shop", "p01"))
    assert names(page.objects) == ["p01"] and (meter.etcd_gets, meter.etcd_lists) == (1, 0)
    assert (meter.fetched, meter.evaluated, meter.returned) == (1, 1, 1)


async def test_unlimited_lists_come_whole_and_count_once(pods: Store) -> None:
    await fill(pods, 16)
    await pods.create(pod("other", "zoo"))
    with metered(Meter()) as meter:
        everything = await pods.list(StoreListRequest())
        on_node = SelectionPredicate(fields=FieldSelector.parse("spec.nodeName=n1", pods.resource))
        selected = await pods.list(StoreListRequest(selection=on_node))
    assert len(everything.objects) == len(selected.objects) == 17 and meter.etcd_lists == 2
    assert [len(page.objects) async for page in pods.pages("shop")] == [16]
    small = [page async for page in pods.pages(page=5)]
    assert [len(page.objects) for page in small] == [5, 5, 5, 2]
    assert {page.rv for page in small} == {small[0].rv} and small[0].count == 17
    assert await pods.count() == 17


async def test_a_large_collection_is_read_in_narrow_ranges(pods: Store) -> None:
    await fill(pods, 40)
    await pods.create(pod("other", "zoo"))
    pages = [page async for page in pods.pages(page=2)]
    found = [name for page in pages for name in names(page.objects)]
    assert found == [*(f"p{number:02}" for number in range(40)), "other"]
    assert {(page.rv, page.count) for page in pages} == {(pages[0].rv, 41)}


async def test_etcd_behind_the_asked_version_is_a_timeout(pods: Store) -> None:
    head = await pods.probe()
    with pytest.raises(StatusError, match=f"Too large resource version: {head + 10_000}") as caught:
        await pods.list(StoreListRequest(minimum_rv=head + 10_000))
    assert caught.value.retry_after == 0
    with pytest.raises(StatusError, match="Too large"):
        await pods.get("shop", "x", minimum_rv=head + 10_000)


async def test_probe_is_one_get_without_objects(pods: Store) -> None:
    await fill(pods, 1)
    with metered(Meter()) as meter:
        head = await pods.probe()
    assert (meter.etcd_gets, meter.etcd_keys, meter.fetched) == (1, 0, 0) and head >= 1


async def test_update_retries_over_what_others_wrote(pods: Store) -> None:
    cached = await pods.create(pod("a"))

    def label(key: str) -> Any:
        def change(obj: dict[str, Any]) -> dict[str, Any]:
            obj["metadata"].setdefault("labels", {})[key] = "1"
            return obj

        return change

    await pods.update("shop", "a", label("x"))
    updated = await pods.update("shop", "a", label("y"), cached=cached)
    assert updated.labels == {"x": "1", "y": "1"} and updated.rv > cached.rv
    with metered(Meter()) as meter:
        await pods.update("shop", "a", label("z"), cached=updated)
    assert (meter.etcd_gets, meter.etcd_rpcs) == (0, 1)
    with pytest.raises(StatusError, match='pods "b" not found'):
        await pods.update("shop", "b", label("x"))


async def test_a_change_without_effect_is_not_written(pods: Store) -> None:
    created = await pods.create(pod("a"))
    assert (await pods.update("shop", "a", lambda obj: obj)).rv == created.rv
    assert (await pods.update("shop", "a", lambda obj: obj, cached=created)).rv == created.rv


async def test_concurrent_updates_lose_nothing(pods: Store) -> None:
    await pods.create(pod("a"))

    def add(number: int) -> Any:
        def change(obj: dict[str, Any]) -> dict[str, Any]:
            obj["metadata"].setdefault("labels", {})[f"k{number}"] = "1"
            return obj

        return change

    await asyncio.gather(*(pods.update("shop", "a", add(i)) for i in range(8)))
    found, _ = await pods.get("shop", "a")
    assert found is not None and len(found.labels) == 8


async def test_what_a_change_decides_holds_for_the_object_that_is_deleted(pods: Store) -> None:
    cached = await pods.create(pod("a"))
    held = await pods.update("shop", "a", lambda obj: {**obj, "status": {"phase": "Held"}})
    seen = []

    def delete_unless_held(obj: dict[str, Any]) -> None:
        seen.append(obj["status"]["phase"])
        if obj["status"]["phase"] == "Held":
            raise NoWrite

    left = await pods.update("shop", "a", delete_unless_held, cached=cached)
    assert seen == ["Running", "Held"] and left.rv == held.rv
    await pods.update("shop", "a", lambda obj: {**obj, "status": {"phase": "Failed"}})
    gone = await pods.update("shop", "a", delete_unless_held)
    assert gone.rv > held.rv and gone.name == "a"
    with pytest.raises(StatusError, match="not found"):
        await pods.delete("shop", "a")


async def test_watch_tells_states_before_and_after(pods: Store) -> None:
    first = await pods.create(pod("a", app="web"))
    await pods.update("shop", "a", lambda obj: {**obj, "status": {"phase": "Failed"}})
    gone = await pods.delete("shop", "a")
    async with pods.watch(first.rv - 1) as watch:
        (added,), (modified,), (deleted,) = [await anext(watch) for _ in range(3)]
        await watch.stream.request_progress()
        (bookmark,) = await anext(watch)
    assert (added.type, added.previous, added.rv) == ("ADDED", None, first.rv)
    assert modified.object is not None and modified.previous is not None
    assert modified.object.fields["status.phase"] == "Failed"
    assert modified.previous.fields["status.phase"] == "Running" and modified.previous.rv == first.rv
    assert deleted.object is not None and deleted.previous is not None
    assert (deleted.type, deleted.object.rv, deleted.previous.rv) == ("DELETED", gone.rv, modified.rv)
    assert (bookmark.type, bookmark.object) == ("BOOKMARK", None) and bookmark.rv >= gone.rv


async def test_events_share_a_lease(client: EtcdClient, prefix: str) -> None:
    events = Store(client, resource("events"), prefix)
    meta = {"namespace": "shop"}
    body = {"apiVersion": "v1", "kind": "Event", "involvedObject": {}, "reason": "r"}
    made = [await events.create({**body, "metadata": {**meta, "name": f"e{i}"}}, ttl=3600) for i in range(3)]
    assert len({obj.lease for obj in made}) == 1 and made[0].lease
    assert 3600 < await client.lease_ttl(made[0].lease) <= 3660
    found, _ = await events.get("shop", "e1")
    assert found is not None and found.lease == made[0].lease


async def test_unreadable_values_fail_the_request_with_their_reason(client: EtcdClient, pods: Store) -> None:
    await client.create(f"{pods.prefix}shop/bad".encode(), b"k8s:enc:secretbox:v1:key1:xxxx")
    with pytest.raises(StatusError, match="cannot be read: encrypted") as caught:
        await pods.list(StoreListRequest(selection=SelectionPredicate(LabelSelector.parse("app=web"))))
    assert caught.value.code == 500


async def test_a_read_only_store_answers_forbidden(etcd_config: EtcdConfig, bus: Bus, prefix: str) -> None:
    client = await EtcdClient.connect(EtcdConfig(etcd_config.endpoints), bus)
    store = Store(client, resource("pods"), prefix)
    with pytest.raises(StatusError, match="ktui reads this etcd only") as caught:
        await store.create(pod("a"))
    assert caught.value.code == 403
    await client.close()


async def test_a_value_beyond_etcds_limit_is_a_server_error(pods: Store) -> None:
    big = pod("big")
    big["metadata"]["annotations"] = {"x": "y" * (2 << 20)}
    with pytest.raises(StatusError, match="etcdserver: request is too large") as caught:
        await pods.create(big)
    assert (caught.value.code, caught.value.reason) == (500, "")


async def test_an_etcd_that_is_gone_is_a_server_timeout(bus: Bus) -> None:
    client = EtcdClient(EtcdConfig(("http://127.0.0.1:1",), read_only=False), bus)
    store = Store(client, resource("pods"))
    for verb, request in (
        ("list", store.list(StoreListRequest())),
        ("list", store.probe()),
        ("get", store.get("shop", "a")),
        ("create", store.create(pod("a"))),
        ("update", store.update("shop", "a", lambda obj: obj)),
        ("delete", store.delete("shop", "a")),
    ):
        with pytest.raises(StatusError, match=f"The {verb} operation against pods could not") as caught:
            await request
        assert (caught.value.code, caught.value.reason) == (500, "ServerTimeout")
    with pytest.raises(UnreachableError):
        await anext(store.pages())
    await client.close()


async def test_a_compacted_or_future_revision_is_for_the_caller_to_word(pods: Store) -> None:
    with pytest.raises(FutureRevisionError):
        await pods.list(StoreListRequest(revision=await pods.probe() + 1000))
