"""Clients that do not read, over real connections."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from ktui.apiserver.http.response import Response
from ktui.contract.events import WatcherClosed, WatcherOpened
from ktui.kube.resources import builtin

from .conftest import TOKEN, Api
from .told import Told

pytestmark = pytest.mark.anyio

REQUEST = "GET {path} HTTP/1.1\r\nHost: ktui\r\nAuthorization: Bearer {token}\r\n\r\n"


async def test_it_is_cut_off_when_queue_and_connection_are_full(api: Api):
    """Telemetry says so while the client still does not read, and its request goes on."""
    first = await api.config_map("c0")
    registry = api.services.registry
    cacher = registry.for_resource(builtin("", "configmaps"))
    assert cacher is not None and await cacher.ready() and cacher.cache is not None
    path = f"/api/v1/configmaps?watch=1&resourceVersion={first['metadata']['resourceVersion']}"
    url = urlsplit(api.server.url)
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, (url.hostname, url.port))
        await loop.sock_sendall(client, REQUEST.format(path=path, token=TOKEN).encode())
        told = Told(api.services.bus.subscribe())
        opened = await told.next(WatcherOpened)
        await told.live(1)
        closing_told = asyncio.create_task(told.next(WatcherClosed))
        async with asyncio.timeout(60):
            written = 0
            while not cacher.cache.dispatcher.terminated:
                written += 1
                await api.merge("/api/v1/namespaces/a/configmaps/c0", {"data": {"n": str(written) * 30_000}})
        assert cacher.state().watchers == 0
        (stream,) = cacher.cache.streams
        assert stream.cause == "too slow"
        closed = await closing_told
        assert (closed.id, closed.cause) == (opened.id, "too slow")
        assert cacher.cache.streams == {stream}


OBJECTS, OBJECT_BYTES = 60, 400_000
# What a connection takes: the kernel's buffers, the HTTP server's, and a few chunks.
MOST_TAKEN = 10 << 20


async def test_of_a_list_that_is_not_read_little_is_made(api: Api, monkeypatch: pytest.MonkeyPatch):
    await api.warm()
    for number in range(OBJECTS):
        body = {"metadata": {"name": f"c{number}"}, "data": {"text": "x" * OBJECT_BYTES}}
        answer = await api.create("/api/v1/namespaces/a/configmaps", body)
        assert answer.status_code == 201, answer.text
    await api.seen(answer.json())
    taken: Counter[Response] = Counter()
    write = Response.write

    async def counted(response: Response, piece: bytes) -> None:
        taken[response] += 0
        await write(response, piece)
        taken[response] += len(piece)

    monkeypatch.setattr(Response, "write", counted)
    path = "/api/v1/configmaps?resourceVersion=0"
    url = urlsplit(api.server.url)
    loop = asyncio.get_running_loop()
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await loop.sock_connect(client, (url.hostname, url.port))
        await loop.sock_sendall(client, REQUEST.format(path=path, token=TOKEN).encode())
        assert await loop.sock_recv(client, 12) == b"HTTP/1.1 200"
        (stuck,) = taken
        whole = await api.get(path)
        assert len(whole.json()["items"]) == OBJECTS
        assert taken[stuck] < MOST_TAKEN < OBJECTS * OBJECT_BYTES
