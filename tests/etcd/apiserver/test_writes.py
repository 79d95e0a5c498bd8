"""Creates, updates, patches and deletions over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import JSON, Api

pytestmark = pytest.mark.anyio

COLLECTION = "/api/v1/namespaces/a/configmaps"
PODS = "/api/v1/namespaces/a/pods"
POD = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i:1"}]}}


async def test_names_are_generated(api: Api) -> None:
    answer = await api.create(COLLECTION, {"metadata": {"generateName": "web-"}})
    assert answer.status_code == 201
    assert answer.json()["metadata"]["name"].startswith("web-")


async def test_a_name_is_taken_once(api: Api) -> None:
    await api.config_map("one")
    answer = await api.create(COLLECTION, {"metadata": {"name": "one"}})
    assert (answer.status_code, answer.json()["reason"]) == (409, "AlreadyExists")


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/api/v1/namespaces/nowhere/configmaps", {"metadata": {"name": "x"}}, 404),
        (COLLECTION, {"metadata": {"name": "Bad_Name"}}, 422),
        (COLLECTION, {"metadata": {}}, 422),
        (COLLECTION, {"metadata": {"name": "x", "resourceVersion": "5"}}, 500),
        (COLLECTION, {"metadata": {"name": "x", "namespace": "b"}}, 400),
        (COLLECTION, {"kind": "Secret", "metadata": {"name": "x"}}, 400),
        (COLLECTION, {"metadata": {"name": "x"}, "data": {"k": 5}}, 400),
        (PODS, {"metadata": {"name": "x"}, "spec": {}}, 422),
        (COLLECTION, {"metadata": {"name": "x"}, "data": {"k": "x" * 3_200_000}}, 413),
    ],
)
async def test_what_cannot_be_created(api: Api, path: str, body: dict[str, Any], code: int) -> None:
    answer = await api.create(path, body)
    assert (answer.status_code, answer.json()["kind"]) == (code, "Status")


async def test_dry_runs_leave_nothing(api: Api) -> None:
    answer = await api.create(COLLECTION, {"metadata": {"name": "dry"}}, dryRun="All")
    assert answer.status_code == 201
    assert (await api.get(f"{COLLECTION}/dry")).status_code == 404


async def test_unknown_fields_warn_or_fail(api: Api) -> None:
    body = {"metadata": {"name": "x"}, "bogus": 1}
    strict = await api.create(COLLECTION, body, fieldValidation="Strict")
    assert strict.status_code == 400
    assert 'unknown field "bogus"' in strict.json()["message"]
    warned = await api.create(COLLECTION, body)
    assert warned.status_code == 201
    assert warned.headers["warning"] == '299 - "unknown field \\"bogus\\""'


async def test_updates_are_optimistic(api: Api) -> None:
    created = await api.config_map("one")
    created["data"] = {"k": "new"}
    first = await api.http.put(f"{COLLECTION}/one", content=json.dumps(created), headers=JSON)
    assert first.status_code == 200
    assert first.json()["data"] == {"k": "new"}
    again = await api.http.put(f"{COLLECTION}/one", content=json.dumps(created), headers=JSON)
    assert (again.status_code, again.json()["reason"]) == (409, "Conflict")


async def test_writers_at_the_same_time_do_not_lose_each_other(api: Api) -> None:
    await api.config_map("one")
    await asyncio.gather(*(api.merge(f"{COLLECTION}/one", {"data": {f"k{at}": str(at)}}) for at in range(12)))
    data = (await api.get(f"{COLLECTION}/one")).json()["data"]
    assert data == {"k": "one", **{f"k{at}": str(at) for at in range(12)}}


async def test_a_patch_without_effect_keeps_the_version(api: Api) -> None:
    created = await api.config_map("one")
    answer = await api.merge(f"{COLLECTION}/one", {"data": {"k": "one"}})
    assert answer.json()["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


async def test_a_status_is_patched_apart(api: Api) -> None:
    assert (await api.create(PODS, POD)).status_code == 201
    answer = await api.merge(f"{PODS}/p/status", {"status": {"phase": "Running"}, "spec": {"nodeName": "z"}})
    pod = answer.json()
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == ("Running", "n")
    assert pod["metadata"]["generation"] == 1


async def test_a_bound_pod_is_given_time(api: Api) -> None:
    await api.create(PODS, POD)
    marked = (await api.delete(f"{PODS}/p")).json()
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await api.get(f"{PODS}/p")).status_code == 200
    gone = await api.delete(f"{PODS}/p", gracePeriodSeconds="0")
    assert gone.json()["kind"] == "Pod"
    assert (await api.get(f"{PODS}/p")).status_code == 404


async def test_a_pod_is_bound_once(api: Api) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    await api.create(PODS, pod)
    binding = {"kind": "Binding", "target": {"kind": "Node", "name": "n1"}}
    assert (await api.create(f"{PODS}/p/binding", binding)).status_code == 201
    assert (await api.get(f"{PODS}/p")).json()["spec"]["nodeName"] == "n1"
    assert (await api.create(f"{PODS}/p/binding", binding)).status_code == 409


async def test_finalizers_hold_an_object(api: Api) -> None:
    body = {"metadata": {"name": "held", "finalizers": ["example.io/hold"]}}
    await api.create(COLLECTION, body)
    held = (await api.delete(f"{COLLECTION}/held")).json()
    assert held["metadata"]["deletionTimestamp"]
    assert (await api.get(f"{COLLECTION}/held")).status_code == 200
    await api.merge(f"{COLLECTION}/held", {"metadata": {"finalizers": None}})
    assert (await api.get(f"{COLLECTION}/held")).status_code == 404


async def test_a_collection_is_deleted_by_selector(api: Api) -> None:
    await api.config_map("one", drop="1")
    await api.config_map("two", drop="1")
    await api.config_map("kept")
    async with asyncio.timeout(10):
        while (answer := await api.delete(COLLECTION, labelSelector="drop=1")).status_code == 429:
            await asyncio.sleep(0.01)  # the cache is being filled
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["one", "two"]
    left = (await api.get(f"{COLLECTION}?limit=9")).json()
    assert [item["metadata"]["name"] for item in left["items"]] == ["kept"]


async def test_events_go_by_themselves(api: Api) -> None:
    body = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "x", "namespace": "a"}}
    assert (await api.create("/api/v1/namespaces/a/events", body)).status_code == 201
    prefix = api.facts.info().etcd_prefix
    key = (await api.get(f"/ktui/v1/etcd/key?key={prefix}/events/a/e")).json()
    assert key["lease"] != 0


async def test_a_server_that_only_reads_says_so(api: Api) -> None:
    api.facts.writable = False
    answer = await api.create(COLLECTION, {"metadata": {"name": "x"}})
    assert (answer.status_code, answer.json()["reason"]) == (403, "Forbidden")
    assert "--allow-writes" in answer.json()["message"]


async def test_custom_resources_come_and_go(api: Api, widgets: dict[str, Any]) -> None:
    path = "/apis/example.io/v1/namespaces/a/widgets"
    assert (await api.get(path)).status_code == 404
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert (await api.create(definitions, widgets)).status_code == 201
    await until(api, path, served=True)
    made = await api.create(path, {**WIDGET, "spec": {"color": "red", "typo": 1}, "status": {"ready": True}})
    assert made.status_code == 201, made.text
    assert made.json()["spec"] == {"color": "red", "shape": "round"}
    assert "status" not in made.json()
    assert made.headers["warning"] == '299 - "unknown field \\"spec.typo\\""'
    wrong = await api.create(path, {**WIDGET, "metadata": {"name": "w2"}, "spec": {"color": "pink"}})
    assert wrong.status_code == 422
    assert 'spec.color: Unsupported value: "pink"' in wrong.json()["message"]
    listed = (await api.get(f"{path}?limit=5")).json()
    assert listed["metadata"]["continue"] == ""
    assert listed["items"][0]["kind"] == "Widget"
    groups = (await api.get("/apis")).json()["groups"]
    assert "example.io" in [group["name"] for group in groups]
    await api.delete(f"{definitions}/widgets.example.io")
    await until(api, path, served=False)


WIDGET = {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w"}}


async def until(api: Api, path: str, served: bool) -> None:
    async with asyncio.timeout(10):
        while ((await api.get(f"{path}?limit=1")).status_code == 200) is not served:
            await asyncio.sleep(0.01)


async def apply(api: Api, path: str, body: str, **query: str) -> httpx.Response:
    headers = {"Content-Type": "application/apply-patch+yaml"}
    return await api.http.patch(path, content=body, headers=headers, params=query)


async def test_server_side_apply(api: Api) -> None:
    path = "/api/v1/namespaces/a/configmaps/applied"
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n"
    created = await apply(api, path, f"{head}data:\n  a: '1'\n", fieldManager="one")
    assert created.status_code == 201, created.text
    refused = await apply(api, path, f"{head}data:\n  a: '2'\n", fieldManager="two")
    assert refused.status_code == 409
    assert refused.json()["details"]["causes"][0]["field"] == ".data.a"
    forced = await apply(api, path, f"{head}data:\n  a: '2'\n", fieldManager="two", force="true")
    assert forced.status_code == 200
    assert forced.json()["data"] == {"a": "2"}
    managers = [(e["operation"], e["manager"]) for e in forced.json()["metadata"]["managedFields"]]
    assert managers == [("Apply", "two")]
    again = await apply(api, path, f"{head}data:\n  a: '2'\n", fieldManager="two")
    assert again.json() == forced.json()
    bogus = await apply(api, path, f"{head}bogus: 1\n", fieldManager="two")
    assert bogus.status_code == 500
    assert bogus.json()["message"].endswith(": .bogus: field not declared in schema")
    assert (await apply(api, path, "a: [", fieldManager="two")).status_code == 400
