"""WATCH over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ktui.apiserver.http import listener
from ktui.contract.events import WatcherClosed
from ktui.kube.requestinfo import parse_path
from ktui.kube.resources import BUILTIN, builtin
from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.told import Told

pytestmark = pytest.mark.anyio

COLLECTION = "/api/v1/namespaces/a/configmaps"


class Events:
    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(60):
            event: dict[str, Any] = json.loads(await anext(self._lines))
            return event


@asynccontextmanager
async def watching(
    api: Api, query: str = "", path: str = COLLECTION, **headers: str
) -> AsyncIterator[Events]:
    by_path = "/watch/" in path
    url = f"{path}?{'' if by_path else 'watch=1&'}timeoutSeconds=100&{query}"
    async with api.http.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        yield Events(response.aiter_lines())


async def ready(api: Api) -> str:
    """Warm the cache; the resourceVersion of the collection."""
    await api.warm()
    rv: str = (await api.get(COLLECTION)).json()["metadata"]["resourceVersion"]
    return rv


async def test_what_happens_is_told_at_once(api: Api) -> None:
    rv = await ready(api)
    async with watching(api, f"resourceVersion={rv}") as events:
        created = await api.config_map("one")
        assert await events.next() == {"type": "ADDED", "object": created}
        await api.merge(f"{COLLECTION}/one", {"data": {"k": "2"}})
        changed = await events.next()
        assert (changed["type"], changed["object"]["data"]) == ("MODIFIED", {"k": "2"})
        await api.delete(f"{COLLECTION}/one")
        gone = await events.next()
        assert gone["type"] == "DELETED"
        assert int(gone["object"]["metadata"]["resourceVersion"]) > int(
            changed["object"]["metadata"]["resourceVersion"]
        )


async def test_leaving_the_selector_is_a_deletion(api: Api) -> None:
    rv = await ready(api)
    async with watching(api, f"resourceVersion={rv}&labelSelector=in%3Dyes") as events:
        await api.config_map("one", **{"in": "yes"})
        assert (await events.next())["type"] == "ADDED"
        await api.merge(f"{COLLECTION}/one", {"metadata": {"labels": {"in": "no"}}})
        assert (await events.next())["type"] == "DELETED"


async def test_a_table_watch_names_its_columns_once(api: Api) -> None:
    rv = await ready(api)
    async with watching(api, f"resourceVersion={rv}", **TABLE) as events:
        await api.config_map("one")
        await api.config_map("two")
        first, second = await events.next(), await events.next()
    assert len(first["object"]["columnDefinitions"]) == 3
    assert second["object"]["columnDefinitions"] is None
    assert second["object"]["rows"][0]["cells"][0] == "two"


async def test_initial_events_end_with_a_bookmark(api: Api) -> None:
    await api.config_map("one")
    await ready(api)
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with watching(api, query) as events:
        assert (await events.next())["type"] == "ADDED"
        bookmark = await events.next()
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_the_head_comes_before_the_first_event(api: Api) -> None:
    rv = await ready(api)
    async with asyncio.timeout(60):
        async with watching(api, f"resourceVersion={rv}"):
            pass


async def test_the_stream_ends_with_its_timeout(api: Api) -> None:
    rv = await ready(api)
    async with asyncio.timeout(60):
        answer = await api.get(f"{COLLECTION}?watch=1&timeoutSeconds=1&resourceVersion={rv}")
    assert answer.text == ""


async def test_a_client_that_leaves_frees_its_watcher(api: Api) -> None:
    rv = await ready(api)
    cacher = api.services.registry.for_resource(builtin("", "configmaps"))
    assert cacher is not None and cacher.cache is not None
    told = Told(api.services.bus.subscribe())
    async with watching(api, f"resourceVersion={rv}"):
        assert cacher.cache.state().watchers == 1
    await told.next(WatcherClosed)
    assert cacher.cache.state().watchers == 0


async def test_too_old_is_an_error_in_the_stream(api: Api) -> None:
    await ready(api)
    async with watching(api, "resourceVersion=1") as events:
        error = await events.next()
    assert (error["type"], error["object"]["code"], error["object"]["reason"]) == ("ERROR", 410, "Expired")


async def test_stopping_the_server_ends_its_streams(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "STOP_SECONDS", 30.0)  # so that none is cut off
    rv = await ready(api)
    async with watching(api, f"resourceVersion={rv}") as events, api.http.stream("GET", "/telemetry") as told:
        lines = told.aiter_lines()
        await anext(lines)
        async with asyncio.timeout(60):
            await api.server.stop()
            with pytest.raises(StopAsyncIteration):
                await events.next()
            async for _ in lines:
                pass


WATCH_LIST = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


@pytest.mark.parametrize(
    "options", ["", "resourceVersion=0", "resourceVersion=0&resourceVersionMatch=NotOlderThan"]
)
async def test_a_watch_by_its_path_has_no_bookmark_after_the_first_objects(api: Api, options: str) -> None:
    """Upstream reads the options of the old path as those of a LIST: no defaults of a WATCH."""
    await ready(api)
    first = await api.config_map("one")
    await api.seen(first)
    path = "/api/v1/watch/namespaces/a/configmaps"
    async with watching(api, f"allowWatchBookmarks=true&{options}", path) as events:
        assert await events.next() == {"type": "ADDED", "object": first}
        second = await api.config_map("two")
        assert await events.next() == {"type": "ADDED", "object": second}


@pytest.mark.parametrize(
    ("kind", "added"),
    [("deployments", {"replicas": 0}), ("statefulsets", {"replicas": 0}), ("daemonsets", {})],
)
async def test_a_bookmark_has_what_conversion_adds(api: Api, kind: str, added: dict[str, int]) -> None:
    """As recorded from kube-apiserver 1.36.2."""
    resource = BUILTIN.find("apps", "v1", kind)
    assert resource is not None and await api.services.registry.for_resource(resource).ready()
    async with watching(api, WATCH_LIST, f"/apis/apps/v1/{kind}") as events:
        end = await events.next()
    annotations = {"k8s.io/initial-events-end": "true"}
    if kind == "daemonsets":
        annotations["deprecated.daemonset.template.generation"] = "0"
    assert end["object"]["metadata"]["annotations"] == annotations
    assert added.items() <= end["object"]["spec"].items()


@pytest.mark.parametrize(
    ("path", "members"),
    [
        (
            "/apis/apiregistration.k8s.io/v1/apiservices",
            {"spec": {"groupPriorityMinimum": 0, "versionPriority": 0}, "status": {}},
        ),
        (
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            {
                "spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": None},
                "status": {
                    "conditions": None,
                    "acceptedNames": {"plural": "", "kind": ""},
                    "storedVersions": None,
                },
            },
        ),
    ],
)
async def test_a_bookmark_of_a_kind_stored_as_json_has_its_zero_value(
    api: Api, path: str, members: dict[str, Any]
) -> None:
    info = parse_path(path)
    resource = BUILTIN.find(info.group, info.version, info.resource)
    assert resource is not None and await api.services.registry.for_resource(resource).ready()
    async with watching(api, WATCH_LIST, path) as events:
        end = (await events.next())["object"]
    assert list(end) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert {name: end[name] for name in members} == members


@pytest.mark.parametrize(
    ("path", "accept", "code", "says"),
    [
        ("/api/v1/watch/pods?sendInitialEvents=true", "", 422, "sendInitialEvents is forbidden for list"),
        ("/api/v1/watch/pods?resourceVersionMatch=Exact", "", 422, "unless resourceVersion is provided"),
        ("/api/v1/pods?watch=1&limit=1.5", "application/yaml", 400, "invalid syntax"),
        ("/api/v1/pods?watch=1&labelSelector=%C3%BC", "application/yaml", 400, "unable to parse requirement"),
        ("/api/v1/pods?watch=1", "application/yaml", 406, "application/json;stream=watch"),
        ("/api/v1/namespaces/a/pods/%2e%2e", "text/*", 406, "Not Acceptable"),
        ("/api/v1/namespaces/a/pods/%2e%2e", "", 400, "Name parameter invalid"),
    ],
)
async def test_checks_are_made_in_upstreams_order(
    api: Api, path: str, accept: str, code: int, says: str
) -> None:
    answer = await api.get(path, **({"Accept": accept} if accept else {}))
    assert answer.status_code == code and says in answer.text
