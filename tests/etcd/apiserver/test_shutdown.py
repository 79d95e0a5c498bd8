"""A server that stops: streams end as complete answers, requests that still come are refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ktui.apiserver.app import Application
from tests.etcd.serving import serving

from .conftest import Api
from .test_watches import ready
from .wire import exchange

pytestmark = pytest.mark.anyio

STREAMS = ("/api/v1/configmaps?watch=1", "/telemetry")
LAST_CHUNK = b"0\r\n\r\n"
REQUEST = "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("path", STREAMS)
async def test_open_streams_end_as_complete_answers(api: Api, path: str) -> None:
    await ready(api)
    async with api.http.stream("GET", path) as answer:
        assert answer.status_code == 200
        await api.server.stop()
        async for _ in answer.aiter_bytes():  # raises for an answer that is cut off
            pass


async def test_requests_that_come_later_are_refused(api: Api) -> None:
    app = api.server.app
    assert isinstance(app, Application)
    await app.stop()
    reply = await exchange(api.server.url, REQUEST.format(path=STREAMS[0]).encode())
    assert (reply.status, reply.body) == (429, b"The apiserver is shutting down, please try again later.\n")
    assert (reply.headers["retry-after"], reply.headers["connection"]) == ("5", "close")


async def test_a_process_that_is_terminated_ends_its_streams_and_prints_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, "--demo", "--quiet", "--pods", "100") as served:
        ready_at = asyncio.Event()
        streams = [asyncio.create_task(_stream(served.url, path)) for path in STREAMS * 20]
        streams.append(asyncio.create_task(_stream(served.url, "/api/v1/namespaces/default", ready_at)))
        await ready_at.wait()
    for tail in await asyncio.gather(*streams):
        assert tail.endswith(LAST_CHUNK) or b"}" in tail, tail
    assert served.said == []
    assert list(tmp_path.rglob("crash.log")) == []


async def _stream(url: str, path: str, began: asyncio.Event | None = None) -> bytes:
    """The last bytes of an answer, read until the server closes the connection."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(REQUEST.format(path=path).encode())
    tail = b""
    while piece := await reader.read(65536):
        tail = (tail + piece)[-100:]
        if began is not None:
            began.set()
    writer.close()
    return tail
