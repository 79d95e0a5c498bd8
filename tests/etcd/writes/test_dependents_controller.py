"""`kubectl delete --cascade=orphan` and `--cascade=foreground` come to an end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from ktui.writes.deletion_controllers import DependentsController
from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

SETS, PODS = "/apis/apps/v1/namespaces/a/replicasets", "/api/v1/namespaces/a/pods"
LABELS = {"app": "x"}
SPEC = {"containers": [{"name": "c", "image": "i"}]}
SET = {
    "metadata": {"name": "s"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": SPEC},
    },
}


@pytest.fixture
async def owner(api: Api) -> AsyncIterator[dict[str, Any]]:
    """The metadata of a ReplicaSet with the pods `own` (also owned by another) and `other` (not owned)."""
    controller = DependentsController(api.app.server)
    controller.start()
    made = (await api.create(SETS, SET)).json()["metadata"]
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "s", "uid": made["uid"]}
    another = {"apiVersion": "v1", "kind": "ConfigMap", "name": "k", "uid": "another"}
    owned = {"metadata": {"name": "own", "ownerReferences": [reference, another]}, "spec": SPEC}
    for pod in (owned, {"metadata": {"name": "other"}, "spec": SPEC}):
        assert (await api.create(PODS, pod)).status_code == 201
    yield made
    await controller.stop()


async def until_gone(api: Api, path: str) -> None:
    """Wait until GET answers 404; each try is an answer of the server."""
    async with asyncio.timeout(60):
        while (await api.get(path)).status_code != 404:
            pass


async def test_orphans_lose_the_owner_and_stay(api: Api, owner: dict[str, Any]) -> None:
    marked = (await api.delete(f"{SETS}/s", propagationPolicy="Orphan")).json()
    assert marked["metadata"]["finalizers"] == ["orphan"]
    await until_gone(api, f"{SETS}/s")
    left = (await api.get(f"{PODS}/own")).json()["metadata"]["ownerReferences"]
    assert [reference["uid"] for reference in left] == ["another"]


async def test_in_the_foreground_dependents_go_first(api: Api, owner: dict[str, Any]) -> None:
    marked = (await api.delete(f"{SETS}/s", propagationPolicy="Foreground")).json()
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    await until_gone(api, f"{SETS}/s")
    assert (await api.get(f"{PODS}/own")).status_code == 404
    assert (await api.get(f"{PODS}/other")).status_code == 200


async def test_a_dependent_with_a_finalizer_holds_its_owner(api: Api, owner: dict[str, Any]) -> None:
    await api.merge(f"{PODS}/own", {"metadata": {"finalizers": ["example.io/hold"]}})
    await api.delete(f"{SETS}/s", propagationPolicy="Foreground")
    async with asyncio.timeout(60):
        while "deletionTimestamp" not in (await api.get(f"{PODS}/own")).json()["metadata"]:
            pass
    assert (await api.get(f"{SETS}/s")).status_code == 200
    await api.merge(f"{PODS}/own", {"metadata": {"finalizers": None}})
    await until_gone(api, f"{SETS}/s")


async def test_only_what_may_be_a_dependent_is_decoded(
    api: Api, owner: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A namespace may hold 100,000 pods."""
    decoded: list[bytes] = []

    def loads(text: bytes) -> Any:
        decoded.append(text)
        return json.loads(text)

    monkeypatch.setattr("ktui.writes.server_controller.json", SimpleNamespace(loads=loads))
    await api.delete(f"{SETS}/s", propagationPolicy="Orphan")
    await until_gone(api, f"{SETS}/s")
    assert decoded
    assert all(owner["uid"].encode() in text for text in decoded)
