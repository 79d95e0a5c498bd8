"""The same objects as JSON, YAML and protobuf."""

from __future__ import annotations

import json

import msgspec.yaml
import pytest

from ktui.kube.resources import BUILTIN
from ktui.wire.codec import codec_for
from ktui.wire.envelope import open_value
from ktui.wire.pb import walk
from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio

COLLECTION = "/api/v1/namespaces/a/configmaps"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PARTIAL = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
CODEC = codec_for()


async def ready(api: Api) -> None:
    config_maps = BUILTIN.find("", "v1", "configmaps")
    assert config_maps is not None
    assert await api.services.registry.for_resource(config_maps).ready()


async def test_one_object(api: Api) -> None:
    created = await api.config_map("one", app="x")
    answer = await api.get(f"{COLLECTION}/one", Accept=f"{PROTOBUF},application/json")
    assert answer.headers["content-type"] == PROTOBUF
    assert json.loads(CODEC.object_json(answer.content, None)) == created
    text = await api.get(f"{COLLECTION}/one", Accept="application/yaml")
    assert text.headers["content-type"] == "application/yaml"
    assert msgspec.yaml.decode(text.content) == created


@pytest.mark.parametrize("count", [0, 3, 1100])
async def test_a_list(api: Api, count: int) -> None:
    await ready(api)
    for number in range(min(count, 3)):
        await api.config_map(f"cm-{number}")
    if count > 3:  # more than are made at once: straight into the store
        store = api.services.registry.for_resource(BUILTIN.find("", "v1", "configmaps")).store  # type: ignore[arg-type]
        for number in range(3, count):
            await store.create({"metadata": {"name": f"cm-{number}", "namespace": "a"}})
    wanted = (await api.get(COLLECTION)).json()
    answer = await api.get(COLLECTION, Accept=PROTOBUF)
    envelope = open_value(answer.content)
    assert (envelope.api_version, envelope.kind) == ("v1", "ConfigMapList")
    fields = list(walk(envelope.body))
    items = [value for number, _, value in fields if number == 2 and isinstance(value, bytes)]
    shown = [json.loads(CODEC.message_json("v1", "ConfigMap", item)) for item in items]
    assert shown == wanted["items"]
    assert len(shown) == count
    metadata = next(value for number, _, value in fields if number == 1)
    assert wanted["metadata"]["resourceVersion"].encode() in metadata  # type: ignore[operator]


async def test_metadata_only(api: Api) -> None:
    await ready(api)
    await api.config_map("one", app="x")
    answer = await api.get(COLLECTION, Accept=PARTIAL)
    envelope = open_value(answer.content)
    assert (envelope.api_version, envelope.kind) == ("meta.k8s.io/v1", "PartialObjectMetadataList")
    item = next(value for number, _, value in walk(envelope.body) if number == 2)
    assert isinstance(item, bytes) and b"one" in item
    assert [number for number, _, _ in walk(item)] == [1]


async def test_a_watch(api: Api) -> None:
    await ready(api)
    created = await api.config_map("one")
    query = "?watch=true&resourceVersion=0&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true"
    path = f"{COLLECTION}{query}&resourceVersionMatch=NotOlderThan"
    answer = await api.get(path, Accept=PROTOBUF)
    assert answer.headers["content-type"] == f"{PROTOBUF};stream=watch"
    frames, rest = [], answer.content
    while rest:
        size = int.from_bytes(rest[:4], "big")
        frames.append({number: value for number, _, value in walk(rest[4 : 4 + size])})
        rest = rest[4 + size :]
    assert [frame[1] for frame in frames] == [b"ADDED", b"BOOKMARK"]
    objects = [{n: v for n, _, v in walk(frame[2])}[1] for frame in frames]  # type: ignore[arg-type]
    assert json.loads(CODEC.object_json(objects[0], None)) == created  # type: ignore[arg-type]
    assert b"k8s.io/initial-events-end" in objects[1]  # type: ignore[operator]


async def test_errors_are_encoded_alike(api: Api) -> None:
    missing = await api.get(f"{COLLECTION}/none", Accept=PROTOBUF)
    assert (missing.status_code, missing.headers["content-type"]) == (404, PROTOBUF)
    envelope = open_value(missing.content)
    assert envelope.kind == "Status" and b'configmaps "none" not found' in envelope.body
    text = await api.get(f"{COLLECTION}/none", Accept="application/yaml")
    assert msgspec.yaml.decode(text.content)["code"] == 404


async def test_tools_of_the_command_line_get_indented_json(api: Api) -> None:
    await api.config_map("one")
    plain = await api.get(f"{COLLECTION}/one")
    for answer in (
        await api.get(f"{COLLECTION}/one", **{"User-Agent": "curl/8.5.0"}),
        await api.get(f"{COLLECTION}/one?pretty=true"),
    ):
        assert answer.json() == plain.json()
        assert answer.text.startswith('{\n  "kind"')
    assert (await api.get(f"{COLLECTION}/one?pretty=0", **{"User-Agent": "curl/8"})).text == plain.text
