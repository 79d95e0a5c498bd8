"""A client that opens a WATCH and does not read, over a real connection."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from .conftest import TOKEN, Api
from .told import Told

pytestmark = pytest.mark.anyio

REQUEST = "GET {path} HTTP/1.1\r\nHost: ktui\r\nAuthorization: Bearer {token}\r\n\r\n"


async def test_it_is_cut_off_when_queue_and_connection_are_full(api: Api):
    first = await api.config_map("c0")
    registry = api.services.registry
    cacher = registry.find("configmaps")
    assert cacher is not None and await cacher.ready() and cacher.cache is not None
    path = f"/api/v1/configmaps?watch=1&resourceVersion={first['metadata']['resourceVersion']}"
    url = urlsplit(api.server.url)
    with closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, (url.hostname, url.port))
        await loop.sock_sendall(client, REQUEST.format(path=path, token=TOKEN).encode())
        await Told(api.services.bus.subscribe()).live(1)
        async with asyncio.timeout(60):
            written = 0
            while not cacher.cache.dispatcher.terminated:
                written += 1
                await api.merge("/api/v1/namespaces/a/configmaps/c0", {"data": {"n": str(written) * 30_000}})
        assert cacher.state().watchers == 0
        (stream,) = cacher.cache.streams
        assert stream.cause == "too slow"
