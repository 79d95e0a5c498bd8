"""The same objects as JSON, YAML and protobuf."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import msgspec.yaml
import pytest

from ktui.client.measure import InitialEvents
from ktui.wire.codec import codec_for
from ktui.wire.envelope import open_value
from ktui.wire.pb import walk
from tests.etcd.apiserver.conftest import Api
from tests.etcd.apiserver.definitions import define

pytestmark = pytest.mark.anyio

COLLECTION = "/api/v1/namespaces/a/configmaps"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PARTIAL = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
METADATA = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
CODEC = codec_for()


def parts(message: object) -> dict[int, bytes]:
    """The submessages and texts of a message, by the numbers of their fields."""
    assert isinstance(message, bytes)
    return {number: value for number, _, value in walk(message) if isinstance(value, bytes)}


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
    await api.warm()
    for number in range(min(count, 3)):
        await api.config_map(f"cm-{number}")
    if count > 3:  # more than are made at once: straight into the store
        store = api.cacher().store
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
    assert wanted["metadata"]["resourceVersion"].encode() in parts(envelope.body)[1]


async def test_metadata_only(api: Api) -> None:
    await api.warm()
    await api.config_map("one", app="x")
    answer = await api.get(COLLECTION, Accept=PARTIAL)
    envelope = open_value(answer.content)
    assert (envelope.api_version, envelope.kind) == ("meta.k8s.io/v1", "PartialObjectMetadataList")
    item = next(value for number, _, value in walk(envelope.body) if number == 2)
    assert isinstance(item, bytes) and b"one" in item
    assert [number for number, _, _ in walk(item)] == [1]


async def test_a_watch(api: Api) -> None:
    await api.warm()
    created = await api.config_map("one")
    query = "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    async with api.http.stream("GET", COLLECTION + query, headers={"Accept": PROTOBUF}) as answer:
        assert answer.headers["content-type"] == f"{PROTOBUF};stream=watch"
        pieces = answer.aiter_bytes()
        frames, rest = [], b""
        while len(frames) < 2:
            size = int.from_bytes(rest[:4], "big")
            if len(rest) < 4 or len(rest) < 4 + size:
                rest += await anext(pieces)
                continue
            frames.append(parts(rest[4 : 4 + size]))
            rest = rest[4 + size :]
    assert [frame[1] for frame in frames] == [b"ADDED", b"BOOKMARK"]
    objects = [parts(frame[2])[1] for frame in frames]
    assert json.loads(CODEC.object_json(objects[0], None)) == created
    assert b"k8s.io/initial-events-end" in objects[1]


@pytest.mark.parametrize("accept", ["application/json", TABLE, PROTOBUF, METADATA])
async def test_the_client_finds_the_end_of_the_initial_events_in_every_form(api: Api, accept: str) -> None:
    await api.warm()
    for name in ("one", "two"):
        await api.config_map(name)
    query = "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    events = InitialEvents()
    async with (
        asyncio.timeout(60),
        api.http.stream("GET", COLLECTION + query, headers={"Accept": accept}) as answer,
    ):
        async for piece in answer.aiter_bytes():
            for start in range(0, len(piece), 7):
                events.feed(piece[start : start + 7])
            if events.complete():
                break
    rv = (await api.get(COLLECTION)).json()["metadata"]["resourceVersion"]
    assert (events.items, events.envelope().message) == (2, "")
    assert accept == TABLE or events.envelope().metadata.resource_version == rv
    refused = InitialEvents()
    refused.feed((await api.get(f"{COLLECTION}?watch=1&limit=x", Accept=accept)).content)
    assert "invalid syntax" in refused.envelope().message and refused.items == 0


async def test_errors_are_encoded_alike(api: Api) -> None:
    missing = await api.get(f"{COLLECTION}/none", Accept=PROTOBUF)
    assert (missing.status_code, missing.headers["content-type"]) == (404, PROTOBUF)
    envelope = open_value(missing.content)
    assert envelope.kind == "Status" and b'configmaps "none" not found' in envelope.body
    text = await api.get(f"{COLLECTION}/none", Accept="application/yaml")
    assert msgspec.yaml.decode(text.content)["code"] == 404


async def test_bytes_of_refusals_and_of_nothing(api: Api) -> None:
    """Compared to the byte with an apiextensions-apiserver 1.36."""
    refused = await api.get(COLLECTION, Accept="text/html")
    assert refused.status_code == 406
    assert refused.content.startswith(b'{\n  "kind": "Status",') and refused.content.endswith(b"}")
    bad = await api.get(f"{COLLECTION}?labelSelector=-x", Accept="application/json")
    assert b"\\u003cnil\\u003e" in bad.content and bad.content.endswith(b"}\n")
    await api.warm()
    nothing = await api.get(
        COLLECTION, Accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    )
    assert nothing.content.endswith(b'"items":null}\n')
    indented = await api.get(f"{COLLECTION}?pretty=1", Accept="application/json")
    assert indented.content.endswith(b'"items": []\n}')


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


@pytest.mark.parametrize("path", ["/api/v1/nodes", "/nope", "/ktui/v1/info"])
async def test_who_is_not_let_in_reads_so_in_his_own_language(api: Api, path: str) -> None:
    answer = await api.get(path, Accept=PROTOBUF, Authorization="Bearer wrong")
    assert (answer.status_code, answer.headers["content-type"]) == (401, PROTOBUF)
    assert open_value(answer.content).kind == "Status"


async def test_lists_of_apis(api: Api) -> None:
    wanted = (await api.get("/apis/apps")).json()
    text = await api.get("/apis/apps", Accept="application/yaml")
    assert msgspec.yaml.decode(text.content) == wanted
    indented = await api.get("/apis/apps", **{"User-Agent": "curl/8"})
    assert indented.text.startswith('{\n  "kind": "APIGroup",\n')
    for path in ("/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1"):
        answer = await api.get(path, Accept=PROTOBUF)
        assert answer.headers["content-type"] == PROTOBUF
        kind = (await api.get(path)).json()["kind"].encode()
        assert answer.content.startswith(b"k8s\0") and kind in answer.content[:32]
    message = codec_for().object_json((await api.get("/apis/apps", Accept=PROTOBUF)).content, None)
    assert json.loads(message) == wanted


@pytest.mark.parametrize("media_type", ["application/json", PROTOBUF])
async def test_a_watch_of_lists_ends_at_its_first_event(api: Api, media_type: str) -> None:
    """No event's object is a list, which upstream finds out when it has answered 200."""
    await api.warm()
    await api.config_map("one")
    accept = PARTIAL.replace(PROTOBUF, media_type)
    answer = await api.get(f"{COLLECTION}?watch=true&resourceVersion=0", Accept=accept)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith(media_type)
    past = await api.get(f"{COLLECTION}?watch=true&resourceVersion=1", Accept=accept)
    assert past.status_code == 200 and b"too old resource version" in past.content


SPECIAL = "<b>&\u2028\u2029</b>"
ESCAPED = rb"\u003cb\u003e\u0026\u2028\u2029\u003c/b\u003e"
RAW = re.compile(rb"[<>&]|\xe2\x80[\xa8\xa9]")
TO_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
TO_PARTIAL = "application/json;as=PartialObjectMetadata{};v=v1;g=meta.k8s.io"


@pytest.mark.parametrize("custom", [False, True])
async def test_special_characters_are_escaped(api: Api, widgets: dict[str, Any], custom: bool) -> None:
    """As by Go, wherever JSON is sent: a byte count sees it, and readers of lines do."""
    collection = COLLECTION
    body: dict[str, Any] = {"metadata": {"name": "w", "annotations": {"a": SPECIAL}}}
    if custom:
        await define(api, widgets)
        collection = "/apis/example.io/v1/namespaces/a/widgets"
        body |= {"apiVersion": "example.io/v1", "kind": "Widget", "spec": {"color": "red"}}
    else:
        await api.warm()
        body["data"] = {"k": SPECIAL}
    created = await api.create(collection, body)
    assert created.status_code == 201, created.text
    bodies = [created.content]
    since = int(created.json()["metadata"]["resourceVersion"]) - 1
    for accept in ("application/json", TO_TABLE):
        for rest in ("", "/w", "?pretty=1", "?includeObject=Object"):
            bodies.append((await api.get(f"{collection}{rest}", Accept=accept)).content)
        watch = f"{collection}?watch=1&timeoutSeconds=100&resourceVersion={since}"
        async with api.http.stream("GET", watch, headers={"Accept": accept}) as answer:
            bodies.append(await anext(answer.aiter_raw()))
    for rest, kind in (("", "List"), ("/w", "")):
        bodies.append((await api.get(collection + rest, Accept=TO_PARTIAL.format(kind))).content)
    bodies.append((await api.merge(f"{collection}/w", {"metadata": {"labels": {"l": "x"}}})).content)
    for text in bodies:
        assert ESCAPED in text
        assert RAW.search(text) is None, text
    refused = await api.merge(f"{collection}/w", {"metadata": {"labels": {"l": SPECIAL}}})
    assert refused.status_code == 422
    assert RAW.search(refused.content) is None
    in_yaml = await api.get(f"{collection}/w", Accept="application/yaml")
    assert msgspec.yaml.decode(in_yaml.content)["metadata"]["annotations"] == {"a": SPECIAL}
