"""Deletions: of collections, of owners, with finalizers."""

from __future__ import annotations

import pytest

from ktui.writes import delete
from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio


COLLECTION = "/api/v1/namespaces/a/configmaps"


PODS = "/api/v1/namespaces/a/pods"


POD = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i:1"}]}}


async def test_finalizers_hold_an_object(api: Api) -> None:
    body = {"metadata": {"name": "held", "finalizers": ["example.io/hold"]}}
    await api.create(COLLECTION, body)
    held = (await api.delete(f"{COLLECTION}/held")).json()
    assert held["metadata"]["deletionTimestamp"]
    assert (await api.get(f"{COLLECTION}/held")).status_code == 200
    await api.merge(f"{COLLECTION}/held", {"metadata": {"finalizers": None}})
    assert (await api.get(f"{COLLECTION}/held")).status_code == 404


async def test_jobs_are_orphaned_by_default_with_a_warning(api: Api) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    jobs = "/apis/batch/v1/namespaces/a/jobs"
    for name in ("one", "two"):
        created = await api.create(jobs, {"metadata": {"name": name}, "spec": {"template": template}})
        assert created.status_code == 201, created.text
    answer = await api.delete(f"{jobs}/one")
    assert answer.json()["metadata"]["finalizers"] == ["orphan"]
    assert "child pods are preserved by default when jobs are deleted" in answer.headers["warning"]
    silent = await api.delete(f"{jobs}/two", propagationPolicy="Background")
    assert silent.json()["status"] == "Success" and "warning" not in silent.headers


async def test_a_collection_is_deleted_as_it_was_at_a_resource_version(api: Api) -> None:
    await api.warm()
    before = await api.config_map("c1")
    await api.config_map("c2")
    since = before["metadata"]["resourceVersion"]
    old = await api.delete(COLLECTION, resourceVersion=str(int(since) - 1), labelSelector="!x")
    assert (old.status_code, old.json()["items"]) == (200, [])
    future = await api.delete(COLLECTION, resourceVersion=str(int(since) + 10_000))
    assert future.status_code == 504
    first = await api.delete(COLLECTION, resourceVersion=since)
    assert [item["metadata"]["name"] for item in first.json()["items"]] == ["c1"]
    assert [item["metadata"]["name"] for item in (await api.get(COLLECTION)).json()["items"]] == ["c2"]


async def test_a_collection_is_deleted_page_by_page(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await api.warm()
    monkeypatch.setattr(delete, "PAGE", 2)
    for number in range(5):
        await api.config_map(f"c{number}")
    answer = await api.delete(COLLECTION)
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == [f"c{n}" for n in range(5)]
    assert (await api.get(COLLECTION)).json()["items"] == []


async def test_a_collection_is_deleted_by_selector(api: Api) -> None:
    await api.config_map("one", drop="1")
    await api.config_map("two", drop="1")
    await api.config_map("kept")
    await api.warm()
    answer = await api.delete(COLLECTION, labelSelector="drop=1")
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["one", "two"]
    left = (await api.get(f"{COLLECTION}?limit=9")).json()
    assert [item["metadata"]["name"] for item in left["items"]] == ["kept"]


async def test_events_go_by_themselves(api: Api) -> None:
    body = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "x", "namespace": "a"}}
    assert (await api.create("/api/v1/namespaces/a/events", body)).status_code == 201
    prefix = api.facts.info().etcd_prefix
    key = (await api.get(f"/ktui/v1/etcd/key?key={prefix}/events/a/e")).json()
    assert key["lease"] != 0


async def test_a_deletion_is_told_once_what_becomes_of_dependents(api: Api) -> None:
    await api.config_map("one")
    body = {"orphanDependents": True, "propagationPolicy": "Orphan"}
    answer = await api.http.request("DELETE", f"{COLLECTION}/one", json=body)
    assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, "propagationPolicy")


async def test_what_is_being_deleted_gets_no_new_finalizers(api: Api) -> None:
    await api.create(COLLECTION, {"metadata": {"name": "x", "finalizers": ["a/b"]}})
    await api.delete(f"{COLLECTION}/x")
    answer = await api.merge(f"{COLLECTION}/x", {"metadata": {"finalizers": ["a/b", "c/d"]}})
    assert answer.status_code == 422
    assert answer.json()["message"] == (
        'ConfigMap "x" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the '
        'object is being deleted, found new finalizers []string{"c/d"}'
    )
    assert (await api.merge(f"{COLLECTION}/x", {"metadata": {"finalizers": None}})).status_code == 200
