"""Methods and paths that no client means, answered as kube-apiserver or Go's server answers them."""

from __future__ import annotations

import copy
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.definitions import DEFINITIONS, define
from tests.etcd.serving import plain_client

pytestmark = pytest.mark.anyio

REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("LIST", "/api/v1/namespaces/a/pods", 405),
        ("DELETECOLLECTION", "/api/v1/namespaces/a/pods", 405),
        ("GET", REVIEWS, 405),
        ("PUT", REVIEWS, 405),
        ("GET", f"{REVIEWS}/x", 404),
        ("GET", "/api/v1/namespaces/a/bindings", 405),
        ("PATCH", "/api/v1/namespaces/a/serviceaccounts/default/token", 405),
        ("POST", "/apis/authentication.k8s.io/v1/watch/tokenreviews", 404),
        ("HEAD", "/api/v1/namespaces/a/pods", 405),
        ("HEAD", "/api/v1/namespaces/a/pods/x", 405),
        ("HEAD", "/api/v1/componentstatuses", 405),
        ("HEAD", "/api/v1/watch/namespaces/a/pods", 405),
        ("POST", "/api/v1/watch/namespaces/a/pods", 405),
        ("PUT", "/api/v1/watch/namespaces/a/pods/x", 405),
        ("PATCH", "/api/v1/watch/namespaces/a/pods/x", 405),
        ("DELETE", "/api/v1/watch/namespaces/a/pods/x", 405),
        ("DELETE", "/api/v1/watch/namespaces/a/pods", 405),
        ("BREW", "/api/v1/watch/namespaces/a/pods", 405),
        ("GET", "/version/", 200),
        ("POST", "/version/", 405),
        ("DELETE", "/", 200),
        ("PROPFIND", "/index.html", 200),
    ],
)
async def test_methods(shared_api: Api, method: str, path: str, code: int) -> None:
    answer = await shared_api.http.request(method, path)
    assert answer.status_code == code, answer.text


async def test_a_path_with_a_bad_escape_is_refused_before_all_else(shared_api: Api) -> None:
    reader, writer = await _connect(shared_api)
    writer.write(b"GET /api/v1/pods/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert head.startswith(b"HTTP/1.1 400") and body == b"400 Bad Request"
    assert b"audit-id" not in head.lower()


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (b"Host: localhost\r\nHost: localhost", b": too many Host headers"),
        (
            b"Host: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b",
            b": too many Authorization ",
        ),
        (b"Host: localhost#evil.com", b": malformed Host header"),
        (b"Host: evil.com@127.0.0.1", b": malformed Host header"),
    ],
)
async def test_headers_that_two_readers_read_differently(shared_api: Api, headers: bytes, why: bytes) -> None:
    reader, writer = await _connect(shared_api)
    writer.write(b"GET /version HTTP/1.1\r\n" + headers + b"\r\n\r\n")
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 400") and b"400 Bad Request" + why in answer


async def _connect(api: Api) -> Any:
    import asyncio

    url = httpx.URL(api.server.url)
    return await asyncio.open_connection(url.host, url.port)


@pytest.mark.parametrize(
    ("method", "path", "warned"),
    [
        ("GET", "/api/v1/componentstatuses", True),
        ("DELETE", "/api/v1/componentstatuses", False),
        ("GET", "/api/v1/namespaces/a/endpoints", True),
        ("TRACE", "/api/v1/namespaces/a/endpoints", False),
    ],
)
async def test_only_what_is_served_warns(shared_api: Api, method: str, path: str, warned: bool) -> None:
    answer = await shared_api.http.request(method, path)
    assert ("warning" in answer.headers) == warned


async def test_a_read_that_the_router_refuses_does_not_warn(shared_api: Api) -> None:
    for accept, warned in (("application/xml", False), ("application/json;as=Odd;v=v1;g=meta.k8s.io", True)):
        answer = await shared_api.get("/api/v1/namespaces/a/endpoints", Accept=accept)
        assert answer.status_code == 406 and ("warning" in answer.headers) == warned


async def test_tables_of_kinds_without_columns_of_their_own_are_null_if_empty(api: Api) -> None:
    for plural, rows in (("limitranges", None), ("podtemplates", [])):
        assert await api.cacher(plural).ready(60)
        answer = await api.get(f"/api/v1/{plural}?labelSelector=no%3Dsuch", **TABLE)
        assert answer.json()["rows"] == rows, answer.text


async def test_every_answer_of_a_deprecated_custom_resource_warns(api: Api, widgets: dict[str, Any]) -> None:
    definition = copy.deepcopy(widgets)
    definition["spec"]["versions"][0] |= {"deprecated": True, "deprecationWarning": "widgets are old"}
    await define(api, definition)
    version = definition["spec"]["versions"][0]["name"]
    for method, path in (("GET", "x/nosuch"), ("FOO", "x"), ("GET", "x")):
        answer = await api.http.request(method, f"/apis/example.io/{version}/namespaces/a/widgets/{path}")
        assert answer.headers.get("warning") == '299 - "widgets are old"', (method, path, answer.text)


async def test_groups_are_in_the_order_of_their_api_services(api: Api, widgets: dict[str, Any]) -> None:
    older = copy.deepcopy(widgets)
    older["metadata"]["name"], older["spec"]["group"] = "widgets.aaa.io", "aaa.io"
    older["spec"]["versions"] = [{**version, "name": "v2"} for version in older["spec"]["versions"][:1]]
    for definition in (widgets, older):
        assert (await api.create(DEFINITIONS, definition)).status_code == 201
    await api.catalog.until(
        lambda c: bool(
            c.table.find("aaa.io", "v2", "widgets") and c.table.find("example.io", "v1", "widgets")
        )
    )
    groups = [group["name"] for group in (await api.get("/apis")).json()["groups"]]
    assert groups[-2:] == ["example.io", "aaa.io"]


async def test_a_group_alone_cannot_be_impersonated(shared_api: Api) -> None:
    answer = await shared_api.get("/api/v1/pods", **{"Impersonate-Group": "g"})
    assert answer.status_code == 400 and answer.headers["x-content-type-options"] == "nosniff"
    assert 'Groups:[]string{"g"}' in answer.json()["message"]
    assert "x-kubernetes-pf-flowschema-uid" not in answer.headers


async def test_a_forbidden_answer_is_not_to_be_sniffed(shared_api: Api) -> None:
    async with plain_client(shared_api.server.url) as anonymous:
        answer = await anonymous.get("/api/v1/pods")
    assert (answer.status_code, answer.headers["x-content-type-options"]) == (403, "nosniff")


@pytest.mark.parametrize(
    ("path", "controlled"),
    [
        ("/api/v1/namespaces/a/configmaps/x/portforward", False),
        ("/api/v1/namespaces/a/services/web/proxy/x", False),
        ("/api/v1/namespaces/a/pods/x/log", False),
        ("/api/v1/proxy/nodes/x", False),
        ("/api/v1/namespaces/a/proxy", True),
        ("/api/v1/namespaces/a/pods/x/nosuch", True),
        ("/api/v1/namespaces/a/log", True),
    ],
)
async def test_long_running_subresources_are_exempt_from_flow_control(
    api: Api, path: str, controlled: bool
) -> None:
    """Of any resource, also of one that does not have the subresource, as recorded."""
    answer = await api.get(path)
    assert ("x-kubernetes-pf-flowschema-uid" in answer.headers) is controlled
