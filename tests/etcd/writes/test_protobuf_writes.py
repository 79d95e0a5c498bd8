"""Writes as typed Go clients make them: bodies and answers in protobuf."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ktui.wire.codec import codec_for
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.envelope import open_value
from ktui.wire.schema import message_of
from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio

PROTOBUF = "application/vnd.kubernetes.protobuf"
COLLECTION = "/api/v1/namespaces/a/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/a/deployments"
BOTH = {"Accept": f"{PROTOBUF},application/json", "Content-Type": PROTOBUF}
METADATA = {"Accept": f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"}


def message(obj: dict[str, Any]) -> bytes:
    """An object as client-go sends it."""
    api_version, kind = obj["apiVersion"], obj["kind"]
    name = message_of(api_version, kind)
    assert name is not None
    return envelope_of(api_version, kind, encode_message(name, obj))


def read(answer: httpx.Response) -> dict[str, Any]:
    assert answer.headers["content-type"] == PROTOBUF, answer.text
    document: dict[str, Any] = json.loads(codec_for().object_json(answer.content, None))
    return document


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data}


def deployment() -> dict[str, Any]:
    labels = {"app": "x"}
    spec = {"containers": [{"name": "c", "image": "i:1"}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


async def test_create_update_patch_delete(api: Api) -> None:
    created = await api.http.post(COLLECTION, content=message(config_map(k="1")), headers=BOTH)
    assert created.status_code == 201
    assert read(created)["data"] == {"k": "1"}

    changed = read(created) | {"data": {"k": "2"}}
    updated = await api.http.put(f"{COLLECTION}/one", content=message(changed), headers=BOTH)
    assert read(updated)["data"] == {"k": "2"}

    headers = {"Accept": PROTOBUF, "Content-Type": "application/merge-patch+json"}
    patched = await api.http.patch(f"{COLLECTION}/one", content=b'{"data":{"k":"3"}}', headers=headers)
    assert read(patched)["data"] == {"k": "3"}

    deleted = await api.http.delete(f"{COLLECTION}/one", headers={"Accept": PROTOBUF})
    envelope = open_value(deleted.content)
    assert (envelope.api_version, envelope.kind) == ("v1", "Status")
    assert b"Success" in envelope.body


@pytest.mark.parametrize("api_version", ["v1", "apps/v1", "meta.k8s.io/v1"])
async def test_options_of_a_deletion(api: Api, api_version: str) -> None:
    """A typed client sends the options of its own group's version."""
    await api.create(DEPLOYMENTS, deployment())
    options = {"apiVersion": api_version, "kind": "DeleteOptions", "preconditions": {"uid": "another"}}
    refused = await api.http.request("DELETE", f"{DEPLOYMENTS}/web", content=message(options), headers=BOTH)
    assert refused.status_code == 409
    options = {"apiVersion": api_version, "kind": "DeleteOptions", "propagationPolicy": "Foreground"}
    marked = await api.http.request("DELETE", f"{DEPLOYMENTS}/web", content=message(options), headers=BOTH)
    assert read(marked)["metadata"]["finalizers"] == ["foregroundDeletion"]


async def test_dry_runs(api: Api) -> None:
    answer = await api.http.post(
        COLLECTION, content=message(config_map(k="1")), headers=BOTH, params={"dryRun": "All"}
    )
    assert read(answer)["data"] == {"k": "1"}
    assert (await api.get(f"{COLLECTION}/one")).status_code == 404


async def test_a_scale(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    answer = await api.get(f"{DEPLOYMENTS}/web/scale", Accept=PROTOBUF)
    scale = read(answer)
    assert scale["spec"] == {"replicas": 2}
    scale["spec"]["replicas"] = 5
    answer = await api.http.put(f"{DEPLOYMENTS}/web/scale", content=message(scale), headers=BOTH)
    assert read(answer)["spec"] == {"replicas": 5}


async def test_an_eviction_and_a_binding(api: Api) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    path = "/api/v1/namespaces/a/pods"
    assert (await api.create(path, pod)).status_code == 201
    target = {"apiVersion": "v1", "kind": "Node", "name": "n"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": target}
    bound = await api.http.post(f"{path}/p/binding", content=message(binding), headers=BOTH)
    assert (bound.status_code, open_value(bound.content).kind) == (201, "Status")
    assert (await api.get(f"{path}/p")).json()["spec"]["nodeName"] == "n"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    evicted = await api.http.post(f"{path}/p/eviction", content=message(eviction), headers=BOTH)
    assert (evicted.status_code, open_value(evicted.content).kind) == (201, "Status")


async def test_errors(api: Api) -> None:
    headers = {"Accept": f"{PROTOBUF};q=0.9,application/json;q=0.1", "Content-Type": PROTOBUF}
    answer = await api.http.put(f"{COLLECTION}/one", content=message(config_map()), headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (404, PROTOBUF)
    assert open_value(answer.content).kind == "Status"
    garbled = await api.http.post(COLLECTION, content=b"{}", headers={"Content-Type": PROTOBUF})
    assert (garbled.status_code, garbled.json()["reason"]) == (400, "BadRequest")


async def test_what_a_metadata_client_deletes(api: Api) -> None:
    """The garbage collector's client asks for metadata, and gets a Status as it is."""
    await api.config_map("one")
    answer = await api.http.delete(f"{COLLECTION}/one", headers=METADATA)
    assert (answer.status_code, open_value(answer.content).kind) == (200, "Status")
    await api.create(DEPLOYMENTS, deployment())
    body = b'{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan"}'
    answer = await api.http.request("DELETE", f"{DEPLOYMENTS}/web", content=body, headers=METADATA)
    envelope = open_value(answer.content)
    assert (envelope.api_version, envelope.kind) == ("meta.k8s.io/v1", "PartialObjectMetadata")
    assert b"orphan" in envelope.body
