"""What is served beside the Kubernetes API, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import UnreachableError
from ktui.kube.resources import builtin
from ktui.telemetry.bus import Subscription
from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio


async def test_telemetry_streams_the_state_first(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    bus, gone = api.services.bus, asyncio.Event()
    unsubscribe = bus.unsubscribe

    def unsubscribed(subscription: Subscription) -> None:
        unsubscribe(subscription)
        gone.set()

    monkeypatch.setattr(bus, "unsubscribe", unsubscribed)
    async with api.http.stream("GET", "/telemetry") as response:
        lines = response.aiter_lines()
        first = json.loads(await anext(lines))
        assert first["type"] == "server"
        await api.get("/api/v1/namespaces?limit=1")
        async with asyncio.timeout(60):
            async for line in lines:
                if json.loads(line)["type"] == "request_finished":
                    break
    async with asyncio.timeout(60):
        await gone.wait()
    assert not bus.watched


async def test_the_present_state_is_told_whole_to_who_asks_once(api: Api) -> None:
    await api.warm()
    answer = await api.get("/ktui/v1/present")
    first, *others = map(json.loads, answer.text.splitlines())
    assert first["type"] == "server"
    assert {event["resource"]: event["state"] for event in others if event["type"] == "cache"} == {
        cacher.resource.id: cacher.state().state for cacher in api.services.registry
    }
    assert not api.services.bus.watched, "no subscriber is left"


async def test_the_rules_can_be_switched(api: Api) -> None:
    answer = await api.http.put("/ktui/v1/behaviour", json={"kube_version": "1.30", "feature_gates": {}})
    assert answer.json() == {"kube_version": "1.30", "feature_gates": {}}
    assert (await api.get("/version")).json()["minor"] == "30"
    assert (await api.get("/version", Accept="text/html")).status_code == 406
    routed = await api.get("/api/v1/namespaces/a/configmaps")
    assert routed.headers["x-ktui-route"] == "etcd"
    for body in ({"kube_version": "0.1"}, {"kube_version": "1.30", "feature_gates": {"Nope": True}}, {}):
        assert (await api.http.put("/ktui/v1/behaviour", json=body)).status_code == 400


async def test_etcd_can_be_browsed(api: Api) -> None:
    created = await api.config_map("one")
    prefix = api.facts.info().etcd_prefix
    children = (await api.get(f"/ktui/v1/etcd/prefixes?prefix={prefix}/")).json()["children"]
    assert f"{prefix}/configmaps/" in [child["prefix"] for child in children]
    keys = (await api.get(f"/ktui/v1/etcd/keys?prefix={prefix}/configmaps/")).json()
    assert [row["key"] for row in keys["keys"]] == [f"{prefix}/configmaps/a/one"]
    key = (await api.get(f"/ktui/v1/etcd/key?key={prefix}/configmaps/a/one")).json()
    assert str(key["mod_revision"]) == created["metadata"]["resourceVersion"]
    assert key["json"]["data"] == {"k": "one"} and key["raw_bytes"] > 0
    assert (await api.get("/ktui/v1/etcd/key?key=/none")).status_code == 404
    assert (await api.get("/ktui/v1/etcd/key")).status_code == 400
    future = await api.get(f"/ktui/v1/etcd/key?key={prefix}/configmaps/a/one&revision=999999999")
    assert future.status_code == 410 and "lies in the future" in future.json()["message"]


async def test_secrets_in_etcd_are_masked(api: Api) -> None:
    body = {"metadata": {"name": "s"}, "data": {"p": "aHVudGVyMg=="}}
    assert (await api.create("/api/v1/namespaces/a/secrets", body)).status_code == 201
    key = f"{api.facts.info().etcd_prefix}/secrets/a/s"
    masked = await api.get(f"/ktui/v1/etcd/key?key={key}")
    assert "aHVudGVyMg" not in masked.text and b"hunter2".hex() not in masked.text
    assert "aHVudGVyMg" in (await api.get(f"/ktui/v1/etcd/key?key={key}&reveal=1")).text


async def test_caches_can_be_looked_into(api: Api) -> None:
    await api.config_map("one")
    assert (await api.http.post("/ktui/v1/caches/configmaps/warm")).status_code == 202
    await api.warm()
    objects = (await api.get("/ktui/v1/caches/configmaps/objects")).json()
    assert objects["objects"][0]["name"] == "one" and objects["objects"][0]["bytes"] > 0
    created = await api.config_map("two")
    seen = f"resourceVersion={created['metadata']['resourceVersion']}&resourceVersionMatch=NotOlderThan"
    assert (await api.get(f"/api/v1/configmaps?{seen}")).headers["x-ktui-route"] == "cache"
    events = (await api.get("/ktui/v1/caches/configmaps/events")).json()["events"]
    assert (events[0]["type"], events[0]["name"]) == ("ADDED", "two")
    path, revision = "/ktui/v1/caches/configmaps/events", int(events[0]["rv"])
    assert (await api.get(f"{path}?revision={revision}")).json()["events"] == events[:1]
    for none in (revision - 1, revision + 1):
        assert (await api.get(f"{path}?revision={none}")).json()["events"] == []
    found = (await api.get("/ktui/v1/caches/configmaps/objects?filter=a/TW")).json()
    assert [row["name"] for row in found["objects"]] == ["two"]
    assert (await api.get("/ktui/v1/caches/nope/objects")).status_code == 404


async def test_a_keys_past_can_be_read(api: Api) -> None:
    created = await api.config_map("one")
    path = "/api/v1/namespaces/a/configmaps/one"
    changed = (await api.merge(path, {"data": {"k": "other"}})).json()
    key = f"{api.facts.info().etcd_prefix}/configmaps/a/one"
    past = (await api.get(f"/ktui/v1/etcd/history?key={key}")).json()
    revisions = [int(obj["metadata"]["resourceVersion"]) for obj in (changed, created)]
    assert [row["mod_revision"] for row in past["revisions"]] == revisions and past["complete"]
    then = (await api.get(f"/ktui/v1/etcd/key?key={key}&revision={revisions[1]}")).json()
    assert then["json"]["data"] == {"k": "one"} and then["cache"] is None
    newest = (await api.get(f"/ktui/v1/etcd/history?key={key}&limit=1")).json()
    assert len(newest["revisions"]) == 1 and not newest["complete"]
    assert (await api.get("/ktui/v1/etcd/history?key=/none")).status_code == 404
    assert (await api.get("/ktui/v1/etcd/history")).status_code == 400


async def test_a_key_is_compared_with_the_caches_copy(api: Api) -> None:
    created = await api.config_map("one")
    path = f"/ktui/v1/etcd/key?key={api.facts.info().etcd_prefix}/configmaps/a/one"
    assert (await api.get(path)).json()["cache"] is None  # that cache was never filled
    await api.http.post("/ktui/v1/caches/configmaps/warm")
    await api.warm()
    compared = (await api.get(path)).json()["cache"]
    rv = int(created["metadata"]["resourceVersion"])
    assert compared["same"] and compared["rv"] == rv and compared["cache_rv"] >= rv
    assert compared["resource"] == "configmaps"


async def test_filling_a_cache_can_be_cancelled(api: Api) -> None:
    await api.config_map("one")
    path = "/ktui/v1/caches/configmaps/warm"
    refused = await api.http.delete(path)
    assert refused.status_code == 409 and "cold" in refused.json()["message"]
    async with api.services.registry._gate:  # another cache is being filled: this one waits for its turn
        assert (await api.http.post(path)).status_code == 202
        cacher = api.services.registry.for_resource(builtin("", "configmaps"))
        assert cacher is not None and cacher.state().state == "initializing"
        assert (await api.http.delete(path)).status_code == 200
        again = api.services.registry.for_resource(builtin("", "configmaps"))
        assert again is not None and again is not cacher and again.state().state == "cold"
    await api.http.post(path)
    await api.warm()
    assert (await api.get("/ktui/v1/caches/configmaps/objects")).json()["total"] == 1
    assert (await api.http.delete(path)).status_code == 409
    definitions = "customresourcedefinitions.apiextensions.k8s.io"
    assert (await api.http.delete(f"/ktui/v1/caches/{definitions}/warm")).status_code == 409


async def test_metrics_bear_upstreams_names(api: Api) -> None:
    await api.get("/api/v1/namespaces/a/configmaps?limit=1")
    text = (await api.get("/metrics")).text
    assert (
        'apiserver_request_total{verb="LIST",group="",version="v1",resource="configmaps",subresource="",'
        'scope="namespace",component="apiserver",dry_run="",code="200"} 1' in text
    )
    assert 'apiserver_storage_list_total{group="",resource="configmaps"} 1' in text
    assert "# TYPE apiserver_request_duration_seconds histogram" in text
    assert "apiserver_watch_cache_resource_version{" in text


async def test_health_includes_etcd(api: Api) -> None:
    for name in ("healthz", "livez", "readyz"):
        assert (await api.get(f"/{name}?verbose")).text.endswith(f"{name} check passed\n")
        assert (await api.get(f"/{name}/etcd")).text == "ok"
    api.facts.problem = "127.0.0.1:2379 refuses connections"
    for name in ("healthz", "livez", "readyz"):
        answer = await api.get(f"/{name}")
        assert answer.status_code == 500 and "[-]etcd failed" in answer.text
        assert (await api.get(f"/{name}/ping")).text == "ok"


@pytest.mark.parametrize("path", ["/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/healthz"])
async def test_upstreams_pages_answer_every_method(api: Api, path: str) -> None:
    for method in ("HEAD", "POST", "OPTIONS"):
        assert (await api.http.request(method, path)).status_code == 200, method


async def test_metrics_are_not_reset(api: Api) -> None:
    answer = await api.http.delete("/metrics")
    assert answer.status_code == 501 and "does not reset its metrics" in answer.json()["message"]


async def test_the_list_of_paths_has_every_group_and_version(api: Api) -> None:
    paths = (await api.get("/")).json()["paths"]
    assert {"/api", "/api/v1", "/apis", "/apis/", "/apis/apps", "/apis/apps/v1", "/metrics"} <= set(paths)
    assert paths == sorted(paths) and not [path for path in paths if path == "/" or "{}" in path]


@pytest.mark.parametrize("question", ["prefixes?prefix=/", "keys?prefix=/", "key?key=/a", "history?key=/a"])
async def test_an_etcd_that_does_not_answer_is_said_in_its_own_words(
    api: Api, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    async def unreachable(self: EtcdClient, *args: object, **options: object) -> None:
        raise UnreachableError("etcd http://10.0.0.1:2379 did not answer in time.")

    monkeypatch.setattr(EtcdClient, "range", unreachable)
    answer = await api.get(f"/ktui/v1/etcd/{question}")
    assert answer.status_code == 503
    assert answer.json()["message"] == "etcd http://10.0.0.1:2379 did not answer in time."


async def test_an_etcd_that_ktui_did_not_start_has_no_faults(api: Api) -> None:
    """The fixture composes a server over an etcd of others."""
    answer = await api.create("/ktui/v1/faults", {"kind": "pause"})
    assert answer.status_code == 403 and "only for an embedded etcd" in answer.json()["message"]
    assert (await api.get("/ktui/v1/faults")).json() == {"active": []}


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": "x" * 201}, {"text": 7}, [1]])
async def test_what_is_no_marker(api: Api, body: Any) -> None:
    assert (await api.create("/ktui/v1/markers", body)).status_code == 400
