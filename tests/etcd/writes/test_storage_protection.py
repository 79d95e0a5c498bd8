"""Claims and volumes that are deleted: they go once they are not in use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from ktui.writes.deletion_controllers import StorageProtection
from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

CLAIMS, PODS = "/api/v1/namespaces/a/persistentvolumeclaims", "/api/v1/namespaces/a/pods"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/volumeattributesclasses"
SIZE = {"storage": "1Gi"}
CLAIM: dict[str, Any] = {
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": SIZE}},
}
VOLUME = {
    "metadata": {"name": "v"},
    "spec": {"capacity": SIZE, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"}},
}
USER: dict[str, Any] = {
    "metadata": {"name": "user"},
    "spec": {
        "nodeName": "n",
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}],
    },
}


@pytest.fixture
async def protected(api: Api) -> AsyncIterator[Api]:
    protection = StorageProtection(api.services.registry)
    protection.start()
    yield api
    await protection.stop()


async def made(api: Api, collection: str, obj: dict[str, Any]) -> None:
    answer = await api.create(collection, obj)
    assert answer.status_code == 201, answer.text


async def gone(api: Api, path: str) -> None:
    """Wait until GET answers 404; each try is an answer of the server."""
    async with asyncio.timeout(60):
        while (await api.get(path)).status_code != 404:
            pass


async def test_a_claim_that_no_pod_uses_goes(protected: Api, caplog: pytest.LogCaptureFixture) -> None:
    await made(protected, CLAIMS, CLAIM)
    marked = (await protected.delete(f"{CLAIMS}/c")).json()["metadata"]
    assert marked["finalizers"] == ["kubernetes.io/pvc-protection"]
    await gone(protected, f"{CLAIMS}/c")
    assert not [line for line in caplog.messages if "failed" in line]  # pods were not in the cache


async def test_a_claim_stays_while_a_pod_uses_it(protected: Api) -> None:
    await made(protected, PODS, USER)
    await made(protected, CLAIMS, CLAIM)
    await made(protected, CLAIMS, {**CLAIM, "metadata": {"name": "other"}})
    await protected.delete(f"{CLAIMS}/c")
    await protected.delete(f"{CLAIMS}/other")
    await gone(protected, f"{CLAIMS}/other")  # by then the one before it was looked at
    assert (await protected.get(f"{CLAIMS}/c")).status_code == 200
    await protected.delete(f"{PODS}/user", gracePeriodSeconds="0")
    await gone(protected, f"{CLAIMS}/c")


async def test_a_bound_volume_stays_and_a_free_one_goes(protected: Api) -> None:
    await made(protected, VOLUMES, VOLUME)
    await protected.merge(f"{VOLUMES}/v/status", {"status": {"phase": "Bound"}})
    await made(protected, VOLUMES, {**VOLUME, "metadata": {"name": "free"}})
    await protected.delete(f"{VOLUMES}/v")
    await protected.delete(f"{VOLUMES}/free")
    await gone(protected, f"{VOLUMES}/free")
    assert (await protected.get(f"{VOLUMES}/v")).status_code == 200
    await protected.merge(f"{VOLUMES}/v/status", {"status": {"phase": "Released"}})
    await gone(protected, f"{VOLUMES}/v")


async def test_a_class_of_attributes_stays_while_a_claim_has_it(protected: Api) -> None:
    fast = {"metadata": {"name": "fast"}, "driverName": "a.b", "parameters": {"iops": "9"}}
    await made(protected, CLASSES, fast)
    await made(protected, CLASSES, {**fast, "metadata": {"name": "free"}})
    await made(protected, CLAIMS, {**CLAIM, "spec": {**CLAIM["spec"], "volumeAttributesClassName": "fast"}})
    marked = (await protected.delete(f"{CLASSES}/fast")).json()["metadata"]
    assert marked["finalizers"] == ["kubernetes.io/vac-protection"]
    await protected.delete(f"{CLASSES}/free")
    await gone(protected, f"{CLASSES}/free")
    assert (await protected.get(f"{CLASSES}/fast")).status_code == 200
    await protected.delete(f"{CLAIMS}/c")
    await gone(protected, f"{CLASSES}/fast")


async def test_only_a_pod_that_may_use_the_claim_is_decoded(
    protected: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A namespace may hold 100,000 pods."""
    decoded: list[bytes] = []

    def loads(text: bytes) -> Any:
        decoded.append(text)
        return json.loads(text)

    await made(protected, PODS, USER)
    await made(protected, PODS, {**USER, "metadata": {"name": "not-in-the-pod"}})
    await made(protected, CLAIMS, {**CLAIM, "metadata": {"name": "not-in-the-pod"}})
    monkeypatch.setattr("ktui.writes.server_controller.json", SimpleNamespace(loads=loads))
    await protected.delete(f"{CLAIMS}/not-in-the-pod")
    await gone(protected, f"{CLAIMS}/not-in-the-pod")
    assert decoded
    assert all(b"not-in-the-pod" in text for text in decoded)


async def test_a_pod_without_a_node_does_not_hold_its_claim(protected: Api) -> None:
    await made(protected, PODS, {**USER, "spec": {**USER["spec"], "nodeName": ""}})
    await made(protected, CLAIMS, CLAIM)
    await protected.delete(f"{CLAIMS}/c")
    await gone(protected, f"{CLAIMS}/c")
