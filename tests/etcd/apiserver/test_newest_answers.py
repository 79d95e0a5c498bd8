"""What answers of 1.37 and 1.38 have that earlier ones do not: gzip of streaming lists, no managedFields …"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from ktui.client.measure import InitialEvents
from ktui.kube.versions import behaviour_of
from ktui.wire.codec import codec_for
from ktui.wire.envelope import open_value
from ktui.wire.pb import walk
from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.definitions import define

from .test_watches import COLLECTION, watching

pytestmark = pytest.mark.anyio

STREAMING = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
DROP = ";drop=metadata.managedFields"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PARTIALS = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


def use(api: Api, version: str, **gates: bool) -> None:
    api.services.settings.use(behaviour_of(version, gates))


class Packed:
    """The body of a stream as it was sent, and its gzip members."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.members = 0
        self._chunks = response.aiter_raw()

    async def until(self, wanted: bytes) -> bytes:
        """Read until the unpacked text has `wanted`: what each flush sent is complete by itself."""
        text, inflate = b"", zlib.decompressobj(wbits=31)
        async with asyncio.timeout(60):
            while wanted not in text:
                rest = await anext(self._chunks)
                while rest:
                    if inflate.eof:
                        inflate = zlib.decompressobj(wbits=31)
                    text += inflate.decompress(rest)
                    self.members += inflate.eof
                    rest = inflate.unused_data
        return text


@asynccontextmanager
async def packed(api: Api, query: str, **headers: str) -> AsyncIterator[Packed]:
    headers.setdefault("Accept-Encoding", "gzip")
    url = f"{COLLECTION}?timeoutSeconds=100&{query}"
    async with api.http.stream("GET", url, headers=headers) as response:
        yield Packed(response)


async def test_a_streaming_list_is_compressed(api: Api) -> None:
    """Initial events and later ones: each flush is a gzip member of its own, so it arrives at once."""
    use(api, "1.37")
    await api.warm()
    for number in range(50):
        await api.config_map(f"c{number:02}", app="web" * 20)
    await api.seen((await api.get(f"{COLLECTION}/c49")).json())
    async with packed(api, STREAMING, **{"Accept-Encoding": "deflate, gzip"}) as stream:
        assert stream.response.headers["content-encoding"] == "gzip"
        assert stream.response.headers["vary"] == "Accept-Encoding"
        text = await stream.until(b"k8s.io/initial-events-end")
        counted = InitialEvents()
        counted.feed(text)
        assert counted.complete() and counted.items == 50
        before = stream.members
        await api.config_map("later")
        assert json.loads(await stream.until(b'"later"'))["type"] == "ADDED"
        assert stream.members == before + 1


@pytest.mark.parametrize(
    ("version", "query", "encoding"),
    [
        ("1.36", STREAMING, "gzip"),
        ("1.37", STREAMING, "identity"),
        ("1.37", STREAMING, "gzip;q=0.5"),
        ("1.37", "watch=1&resourceVersion=1", "gzip"),
        ("1.37", STREAMING.replace("&allowWatchBookmarks=true", ""), "gzip"),
    ],
)
async def test_other_watches_are_not(api: Api, version: str, query: str, encoding: str) -> None:
    use(api, version)
    await api.warm()
    async with packed(api, query, **{"Accept-Encoding": encoding}) as stream:
        assert stream.response.status_code == 200
        assert "content-encoding" not in stream.response.headers


async def test_without_its_gate_nothing_is_compressed(api: Api) -> None:
    use(api, "1.37", WatchListCompression=False)
    await api.warm()
    async with packed(api, STREAMING) as stream:
        assert "content-encoding" not in stream.response.headers


async def written(api: Api) -> dict[str, Any]:
    """A config map with managedFields, in a warm cache."""
    use(api, "1.38", ManagedFieldsOptOut=True)
    await api.warm()
    made = await api.config_map("one", app="web")
    assert made["metadata"]["managedFields"]
    await api.seen(made)
    return made


def without(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return {**obj, "metadata": metadata}


async def test_an_object_without_managed_fields(api: Api) -> None:
    made = await written(api)
    for _ in range(2):  # made, and from the kept JSON
        answer = await api.get(f"{COLLECTION}/one", Accept=f"application/json{DROP}")
        assert answer.json() == without(made)
        assert list(answer.json()["metadata"]) == [n for n in made["metadata"] if n != "managedFields"]
    whole = await api.get(f"{COLLECTION}/one")
    assert whole.json() == made, "what is kept stays whole"


@pytest.mark.parametrize("source", ["?resourceVersion=0", ""])
async def test_lists_without_managed_fields(api: Api, source: str) -> None:
    """From the cache and from etcd, in each form; the others are as before."""
    made = await written(api)
    if not source:
        api.services.settings.watch_cache = False
    item = {name: value for name, value in without(made).items() if name not in ("kind", "apiVersion")}
    url = f"{COLLECTION}{source}"
    assert (await api.get(url, Accept=f"application/json{DROP}")).json()["items"] == [item]
    message = await api.get(url, Accept=f"{PROTOBUF}{DROP}")
    items = [value for number, _, value in walk(open_value(message.content).body) if number == 2]
    assert [json.loads(codec_for().message_json("v1", "ConfigMap", bytes(one))) for one in items] == [item]
    partial = (await api.get(url, Accept=f"{PARTIALS}{DROP}")).json()["items"]
    assert [one["metadata"] for one in partial] == [item["metadata"]]
    table = (await api.get(url, Accept=TABLE["Accept"].replace("json;", f"json{DROP};", 1))).json()
    assert [row["object"]["metadata"] for row in table["rows"]] == [item["metadata"]]
    text = (await api.get(url, Accept=f"application/yaml{DROP}")).text
    assert "name: one" in text and "managedFields" not in text
    assert (await api.get(url)).json()["items"][0]["metadata"] == made["metadata"]


async def test_events_without_managed_fields(api: Api) -> None:
    """Two watchers at once: each has its own encoding of the event."""
    made = await written(api)
    query = f"resourceVersion={made['metadata']['resourceVersion']}"
    async with (
        watching(api, query, Accept=f"application/json{DROP}") as dropped,
        watching(api, query) as whole,
        watching(api, query, Accept=f"{PARTIAL}{DROP}") as partial,
    ):
        changed = (await api.merge(f"{COLLECTION}/one", {"data": {"k": "2"}})).json()
        assert await dropped.next() == {"type": "MODIFIED", "object": without(changed)}
        assert await whole.next() == {"type": "MODIFIED", "object": changed}
        assert (await partial.next())["object"]["metadata"] == without(changed)["metadata"]


async def test_writes_answer_without_managed_fields(api: Api) -> None:
    """The stored ones stay, although a client writes back what it read."""
    made = await written(api)
    drop = {"Accept": f"application/json{DROP}", "Content-Type": "application/json"}
    own = await api.http.post(COLLECTION, json={"metadata": {"name": "two"}}, headers=drop)
    assert own.status_code == 201 and "managedFields" not in own.json()["metadata"]
    read = (await api.http.get(f"{COLLECTION}/one", headers=drop)).json()
    read["data"] = {"k": "3"}
    put = await api.http.put(f"{COLLECTION}/one", json=read, headers=drop)
    assert put.status_code == 200 and "managedFields" not in put.json()["metadata"]
    kept = (await api.get(f"{COLLECTION}/one")).json()["metadata"]["managedFields"]
    assert [entry["manager"] for entry in kept] == [
        entry["manager"] for entry in made["metadata"]["managedFields"]
    ]
    gone = await api.http.delete(COLLECTION, headers=drop)
    assert all("managedFields" not in item["metadata"] for item in gone.json()["items"])


async def test_custom_resources_without_managed_fields(api: Api, widgets: dict[str, Any]) -> None:
    await written(api)
    await define(api, widgets)
    path = "/apis/example.io/v1/namespaces/a/widgets"
    body = {
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": {"name": "w"},
        "spec": {"color": "red"},
    }
    made = (await api.create(path, body)).json()
    read = await api.get(f"{path}/w", Accept=f"application/json{DROP}")
    assert made["metadata"]["managedFields"] and read.json() == without(made)
    listed = await api.get(path, Accept=f"application/json{DROP}")
    assert listed.json()["items"] == [without(made)]


@pytest.mark.parametrize("drop", [";drop=spec", ";drop=metadata.managedFields+metadata.managedFields"])
async def test_another_drop_is_not_acceptable(api: Api, drop: str) -> None:
    made = await written(api)
    one = f"{COLLECTION}/one"
    assert (await api.get(one, Accept=f"application/json{drop}")).status_code == 406
    other = await api.get(one, Accept=f"application/json{drop}, application/json")
    assert other.json() == made, "the next clause is used"


@pytest.mark.parametrize(("version", "gates"), [("1.38", {}), ("1.37", {})])
async def test_without_its_gate_drop_is_ignored(api: Api, version: str, gates: dict[str, bool]) -> None:
    made = await written(api)
    use(api, version, **gates)
    for drop in (DROP, ";drop=spec"):
        assert (await api.get(f"{COLLECTION}/one", Accept=f"application/json{drop}")).json() == made


@pytest.mark.parametrize("path", ["/apis/nope.io/v1/things", "/nope", "/healthz/"])
async def test_an_unknown_path_is_a_status(api: Api, path: str) -> None:
    """kubernetes#138219: notfoundhandler/not_found_handler.go at 20cc31b2cced."""
    use(api, "1.37")
    assert (await api.get(path)).text == "404 page not found\n"
    use(api, "1.38")
    answer = await api.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server could not find the requested resource",
        "reason": "NotFound",
        "code": 404,
    }
    message = await api.get(path, Accept=PROTOBUF)
    assert message.headers["content-type"] == PROTOBUF and next(walk(message.content[4:]))[0] == 1


async def test_a_deletion_says_its_resource_version(api: Api) -> None:
    """kubernetes#138724: the revision of the deletion, by which a client can wait for a cache."""
    use(api, "1.37")
    await api.warm()
    await api.config_map("one")
    assert (await api.delete(f"{COLLECTION}/one")).json()["metadata"] == {}
    use(api, "1.38")
    made = await api.config_map("two")
    rv = made["metadata"]["resourceVersion"]
    async with watching(api, f"resourceVersion={rv}") as events:
        dry = (await api.delete(f"{COLLECTION}/two", dryRun="All")).json()
        assert dry["metadata"] == {}
        status = (await api.delete(f"{COLLECTION}/two")).json()
        gone = await events.next()
    assert status["kind"] == "Status" and gone["type"] == "DELETED"
    assert status["metadata"] == {"resourceVersion": gone["object"]["metadata"]["resourceVersion"]}


async def test_bindings_and_evictions_say_theirs(api: Api) -> None:
    """kubernetes#142327 and #142197."""
    use(api, "1.38")
    pods = "/api/v1/namespaces/a/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    await api.create(pods, {"metadata": {"name": "p"}, "spec": spec})
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    bound = (await api.create(f"{pods}/p/binding", binding)).json()
    pod = (await api.get(f"{pods}/p")).json()
    assert bound["metadata"] == {"resourceVersion": pod["metadata"]["resourceVersion"]}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    evicted = (await api.create(f"{pods}/p/eviction", eviction)).json()
    assert int(evicted["metadata"]["resourceVersion"]) > int(pod["metadata"]["resourceVersion"])
