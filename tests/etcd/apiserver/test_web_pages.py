"""What a web page can make a browser send: nothing of it reads or writes."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

import httpx
import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.telemetry.bus import Bus

from .conftest import Api, running

pytestmark = pytest.mark.anyio

MAPS = "/api/v1/namespaces/a/configmaps"
PATHS = ("/api/v1/namespaces/a", "/telemetry", "/ktui/v1/info", "/metrics", "/healthz")
BODY = b'{"metadata": {"name": "c"}}'


@pytest.fixture(scope="module")
async def open_api(etcd: EmbeddedEtcd) -> AsyncIterator[Api]:
    """A server without a token, as `--insecure-http` starts it, with the namespace `a`: for all tests."""
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
    # A worker may set this up twice, with tests of other modules in between.
    async with running(client, f"/web-pages-{secrets.token_hex(4)}", token=None) as api:
        answer = await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        assert answer.status_code == 201, answer.text
        yield api
    await client.close()


async def head_of(api: Api, path: str, headers: dict[str, str]) -> httpx.Response:
    """The head of an answer: some never end."""
    async with api.http.stream("GET", path, headers=headers) as answer:
        return answer


def refused(answer: httpx.Response, header: str, value: str) -> None:
    assert answer.status_code == 403
    assert answer.json()["message"] == (
        f'forbidden: {header} "{value}" is not a loopback name: '
        "with --insecure-http only localhost, 127.0.0.1 and [::1] are served"
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1", ""]
)
async def test_no_foreign_name_is_served(open_api: Api, path: str, host: str) -> None:
    refused(await open_api.get(path, Host=host), "Host", host)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"])
async def test_no_page_of_another_origin_is_served(open_api: Api, path: str, origin: str) -> None:
    refused(await open_api.get(path, Origin=origin), "Origin", origin)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:8080"])
async def test_loopback_names_are_served(open_api: Api, path: str, host: str) -> None:
    answer = await head_of(open_api, path, {"Host": host, "Origin": f"http://{host}"})
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", [MAPS, "/ktui/v1/caches/configmaps/warm"])
@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)
async def test_what_browsers_send_without_asking_writes_nothing(
    open_api: Api, path: str, content_type: str
) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    answer = await open_api.http.post(path, content=BODY, headers=headers)
    assert answer.status_code == 415
    assert answer.json()["reason"] == "UnsupportedMediaType"
    bare = await open_api.http.post(path, headers=headers)
    assert bare.status_code == 415
    assert (await open_api.get(f"{MAPS}/c")).status_code == 404


async def test_browsers_that_ask_first_get_no_permission(open_api: Api) -> None:
    asked = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "PUT"}
    for path in (MAPS, "/ktui/v1/behaviour", "/telemetry"):
        answer = await open_api.http.options(path, headers=asked)
        assert answer.status_code in (404, 405)
        assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_a_deletion_needs_no_content_type_without_a_body(open_api: Api) -> None:
    await open_api.config_map("d")
    refused = await open_api.http.request("DELETE", f"{MAPS}/d", content=b"{}")
    assert refused.status_code == 415
    assert (await open_api.http.delete(f"{MAPS}/d")).status_code == 200


async def test_a_token_is_all_that_is_asked_for_where_there_is_one(api: Api) -> None:
    """Under any name, and without a Content-Type, as kube-apiserver."""
    assert (await api.http.post(MAPS, content=BODY)).status_code == 201
    answer = await api.get(f"{MAPS}/c", Host="ktui.example", Origin="https://evil.example")
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_types_of_answers_are_not_to_be_guessed(api: Api) -> None:
    """ktui's own paths say so to everybody, the API to browsers: others get upstream's headers."""
    for path in ("/telemetry", "/ktui/v1/info", "/ktui/v1/nothing"):
        assert (await head_of(api, path, {})).headers["x-content-type-options"] == "nosniff"
    browser = await api.get(f"{MAPS}/c", **{"Sec-Fetch-Site": "none"})
    assert browser.headers["x-content-type-options"] == "nosniff"
    assert "x-content-type-options" not in (await api.create(MAPS, {})).headers
