"""Requests that are not well-formed HTTP: each gets a Status and a line in the log, or is cut off."""

from __future__ import annotations

import logging

import pytest

from .conftest import TOKEN, Api
from .wire import exchange

pytestmark = pytest.mark.anyio

MAPS = "/api/v1/namespaces/a/configmaps"
BEHAVIOUR = "/ktui/v1/behaviour"
INCOMPLETE = (
    "the body of the request is incomplete: its chunks are malformed, or it has fewer bytes than its "
    "Content-Length"
)


def head(method: str, target: str, *headers: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {TOKEN}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@pytest.fixture(scope="module")
def api(shared_api: Api) -> Api:
    return shared_api


@pytest.mark.parametrize(
    ("method", "target", "shown"),
    [("OPTIONS", "*", "*"), ("GET", "*", "*"), ("CONNECT", "127.0.0.1:80", "")],
)
async def test_a_target_that_is_not_a_path(
    api: Api, caplog: pytest.LogCaptureFixture, method: str, target: str, shown: str
) -> None:
    caplog.set_level(logging.INFO, "ktui.apiserver")
    sent = head(method, target)
    reply = await exchange(api.server.url, sent)
    assert reply.status == 400
    assert reply.message == f'the request target "{shown}" is not a path: a path begins with a slash'
    (line,) = caplog.messages
    assert line.startswith(f'400 for {method} "{shown}" from 127.0.0.1:')


@pytest.mark.parametrize(("method", "path"), [("POST", MAPS), ("PUT", BEHAVIOUR)])
@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("Transfer-Encoding: chunked", b"zz\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"2\r\n{}}}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"2\r\n{}\r\n"),
        ("Content-Length: 10", b"{}"),
    ],
    ids=["bad size", "bad end", "no last chunk", "short"],
)
async def test_a_body_that_ends_early(
    api: Api, caplog: pytest.LogCaptureFixture, method: str, path: str, header: str, body: bytes
) -> None:
    caplog.set_level(logging.INFO, "ktui.apiserver")
    sent = head(method, path, "Content-Type: application/json", header) + body
    reply = await exchange(api.server.url, sent, end=True)
    assert (reply.status, reply.message) == (400, INCOMPLETE)
    (line,) = caplog.messages
    assert line.startswith(f'400 for {method} "{path}" from 127.0.0.1:')


@pytest.mark.parametrize(("method", "path"), [("POST", MAPS), ("PUT", BEHAVIOUR)])
async def test_a_body_that_does_not_come(api: Api, method: str, path: str) -> None:
    sent = head(method, f"{path}?timeout=200ms", "Content-Type: application/json", "Content-Length: 10")
    reply = await exchange(api.server.url, sent + b"{")
    assert (reply.status, reply.message) == (
        504,
        "Timeout: request did not complete within the allotted timeout",
    )


@pytest.mark.parametrize(
    "sent",
    [
        b"GET api/v1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
    ],
    ids=["no slash", "length", "header"],
)
async def test_what_the_http_server_answers_itself(api: Api, sent: bytes) -> None:
    """As docs/http-api.md says: granian hands these to no handler."""
    reply = await exchange(api.server.url, sent)
    assert (reply.status, reply.body, reply.headers["connection"]) == (400, b"", "close")
