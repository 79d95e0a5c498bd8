"""Paths and methods of custom resources, which no HTTP router knows: the verb decides."""

from __future__ import annotations

from typing import Any

import pytest

from tests.etcd.apiserver.conftest import Api
from tests.etcd.apiserver.definitions import define
from tests.etcd.apiserver.test_watches import watching

pytestmark = pytest.mark.anyio

EVERYWHERE = "/apis/example.io/v1/widgets"
COLLECTION = "/apis/example.io/v1/namespaces/a/widgets"
RED = {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"color": "red"}}


@pytest.fixture(autouse=True)
async def widget(api: Api, widgets: dict[str, Any]) -> None:
    await define(api, widgets)
    assert (await api.create(COLLECTION, RED)).status_code == 201


@pytest.mark.parametrize(
    ("method", "path", "code", "message"),
    [
        ("OPTIONS", COLLECTION, 405, ' is not supported on resources of kind "widgets.example.io"'),
        ("BREW", f"{COLLECTION}/w", 405, ' is not supported on resources of kind "widgets.example.io"'),
        (
            "DELETE",
            f"{COLLECTION}/w/status",
            405,
            'delete is not supported on resources of kind "widgets.example.io"',
        ),
        (
            "GET",
            "/apis/example.io/v1/watch/namespaces/a/widgets/w/status",
            405,
            'watch is not supported on resources of kind "widgets.example.io"',
        ),
        (
            "GET",
            "/api/v1/watch/namespaces/a/pods/p/status",
            404,
            "the server could not find the requested resource",
        ),
        ("PUT", COLLECTION, 400, "name must be provided"),
        ("GET", f"{COLLECTION}/w/scale", 404, 'widgets.example.io "w" not found'),
        ("GET", f"{COLLECTION}/w/nope", 404, 'widgets.example.io "w" not found'),
        ("POST", EVERYWHERE, 404, ""),
        ("DELETE", EVERYWHERE, 404, ""),
        ("GET", f"{EVERYWHERE}/w", 404, ""),
        (
            "GET",
            "/api/v1/namespaces/a/pods/p/status/more",
            404,
            "the server could not find the requested resource",
        ),
    ],
)
async def test_what_is_not_served(api: Api, method: str, path: str, code: int, message: str) -> None:
    answer = await api.http.request(method, path)
    assert answer.status_code == code
    if message:
        assert answer.json()["message"] == message
    else:
        assert answer.text == "404 page not found\n"


@pytest.mark.parametrize("path", [COLLECTION, EVERYWHERE, f"{COLLECTION}/w", f"{COLLECTION}/w/status"])
async def test_a_head_is_a_read_without_a_body(api: Api, path: str) -> None:
    answer = await api.http.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/json"


async def test_what_follows_the_subresource_is_not_looked_at(api: Api) -> None:
    assert (await api.get(f"{COLLECTION}/w/status/more")).json()["metadata"]["name"] == "w"


async def test_a_watch_of_lists_ends_at_its_first_event(api: Api) -> None:
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    answer = await api.get(f"{COLLECTION}?watch=true&resourceVersion=0", Accept=accept)
    assert (answer.status_code, answer.content) == (200, b"")
    one = await api.get(f"{COLLECTION}/w", Accept=accept)
    assert (one.status_code, one.json()["message"]) == (500, "content is not a list")


async def test_the_old_watch_of_a_name_looks_into_every_namespace(api: Api) -> None:
    path = "/apis/example.io/v1/watch/widgets/w"
    async with watching(api, "resourceVersion=0", path=path) as events:
        assert (await events.next())["object"]["metadata"]["name"] == "w"
    assert (await api.get("/api/v1/watch/pods/w?resourceVersion=0")).status_code == 404
