"""Writes that another one overtakes before their Txn decide again, on the object that is there then."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from ktui.etcd.client import EtcdClient
from tests.etcd.apiserver.conftest import JSON, Api

pytestmark = pytest.mark.anyio

MAPS = "/api/v1/namespaces/a/configmaps"
PODS = "/api/v1/namespaces/a/pods"
HELD = {"metadata": {"finalizers": ["example.com/hold"]}}
Other = Callable[[], Awaitable[httpx.Response]]


def overtake(monkeypatch: pytest.MonkeyPatch, method: str, other: Other) -> list[httpx.Response]:
    """Let `other` happen right before the next Txn of that kind ("delete", "update"); its answer."""
    answers: list[httpx.Response] = []
    commit = getattr(EtcdClient, method)

    async def overtaken(self: EtcdClient, *args: Any) -> Any:
        if not answers:
            monkeypatch.setattr(EtcdClient, method, commit)
            answers.append(await other())
            assert answers[0].is_success, answers[0].text
        return await commit(self, *args)

    monkeypatch.setattr(EtcdClient, method, overtaken)
    return answers


async def deleted(api: Api, path: str, **options: Any) -> httpx.Response:
    return await api.http.request("DELETE", path, content=json.dumps(options), headers=JSON)


async def test_a_deletion_keeps_its_resource_version(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    revision = (await api.config_map("c"))["metadata"]["resourceVersion"]
    put = overtake(monkeypatch, "delete", lambda: api.merge(f"{MAPS}/c", {"data": {"k": "2"}}))
    answer = await deleted(api, f"{MAPS}/c", preconditions={"resourceVersion": revision})
    found = put[0].json()["metadata"]["resourceVersion"]
    assert answer.status_code == 409
    assert f"precondition ({revision}) does not match the ResourceVersion in record ({found})" in answer.text
    assert (await api.get(f"{MAPS}/c")).json()["data"] == {"k": "2"}


async def test_a_deletion_keeps_its_uid(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = (await api.config_map("c"))["metadata"]["uid"]

    async def replaced() -> httpx.Response:
        assert (await api.delete(f"{MAPS}/c")).status_code == 200
        return await api.create(MAPS, {"metadata": {"name": "c"}})

    overtake(monkeypatch, "delete", replaced)
    answer = await deleted(api, f"{MAPS}/c", preconditions={"uid": uid})
    assert (answer.status_code, answer.json()["reason"]) == (409, "Conflict")
    assert (await api.get(f"{MAPS}/c")).status_code == 200


@pytest.mark.parametrize("collection", [False, True])
async def test_a_new_finalizer_keeps_a_deleted_object(
    api: Api, monkeypatch: pytest.MonkeyPatch, collection: bool
) -> None:
    await api.config_map("c", app="web")
    await api.warm()
    overtake(monkeypatch, "delete", lambda: api.merge(f"{MAPS}/c", HELD))
    path = f"{MAPS}?labelSelector=app%3Dweb" if collection else f"{MAPS}/c"
    assert (await deleted(api, path)).status_code == 200
    left = (await api.get(f"{MAPS}/c")).json()["metadata"]
    assert left["finalizers"] == ["example.com/hold"] and left["deletionTimestamp"]


async def test_what_is_marked_meanwhile_is_deleted_by_the_update_of_its_last_finalizer(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.create(MAPS, {**HELD, "metadata": {**HELD["metadata"], "name": "c"}})
    overtake(monkeypatch, "update", lambda: deleted(api, f"{MAPS}/c"))
    freed = await api.merge(f"{MAPS}/c", {"metadata": {"finalizers": None}})
    assert freed.status_code == 200 and freed.json()["metadata"]["deletionTimestamp"]
    assert (await api.get(f"{MAPS}/c")).status_code == 404


async def test_an_update_of_the_last_finalizer_is_repeated(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await api.create(MAPS, {**HELD, "metadata": {**HELD["metadata"], "name": "c"}})
    assert (await deleted(api, f"{MAPS}/c")).status_code == 200
    overtake(monkeypatch, "delete", lambda: api.merge(f"{MAPS}/c", {"data": {"k": "2"}}))
    freed = await api.merge(f"{MAPS}/c", {"metadata": {"finalizers": None}})
    assert freed.status_code == 200 and freed.json()["data"] == {"k": "2"}
    assert (await api.get(f"{MAPS}/c")).status_code == 404


async def test_a_pod_that_is_scheduled_meanwhile_keeps_its_grace(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    assert (await api.create(PODS, {"metadata": {"name": "p"}, "spec": spec})).status_code == 201
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}
    overtake(monkeypatch, "update", lambda: api.create(f"{PODS}/p/binding", binding))
    answer = await deleted(api, f"{PODS}/p")
    assert answer.status_code == 200 and answer.json()["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await api.get(f"{PODS}/p")).json()["spec"]["nodeName"] == "n1"


async def test_a_put_that_creates_yields_to_another_creation(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/a/leases"
    mine = {"kind": "Lease", "metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}
    other = {**mine, "spec": {"holderIdentity": "other"}}
    overtake(monkeypatch, "create", lambda: api.create(leases, other))
    answer = await api.http.put(f"{leases}/l", content=json.dumps(mine), headers=JSON)
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid"), answer.text
    assert (await api.get(f"{leases}/l")).json()["spec"] == other["spec"]
