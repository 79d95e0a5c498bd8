"""How many Python functions a GET calls: counted, so that a longer request path is noticed."""

from __future__ import annotations

import asyncio
import gc
import sys
from types import FrameType
from typing import Any

import pytest

from ktui.apiserver.call import Call
from ktui.cacher.cache_watch import CacheWatch
from ktui.etcd.client import EtcdClient
from ktui.telemetry.meter import Meter

from .conftest import TOKEN, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

POD = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
TIMES = 10


class Client:
    """Calls the application as its HTTP server does, and counts the calls of ktui's functions."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.status = 0

    async def get(self, path: str, query: str) -> None:
        sent = {
            "host": "127.0.0.1:6443",
            "user-agent": "kubelet/v1.36.0",
            "accept": "application/json",
            "authorization": f"Bearer {TOKEN}",
        }
        headers = [(name.encode(), value.encode()) for name, value in sent.items()]
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "headers": headers}
        scope |= {"query_string": query.encode(), "client": ("127.0.0.1", 4242)}
        await self._app(scope, None, self._send)

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)

    async def calls(self, path: str, query: str) -> float:
        """Return the Python functions called for one request, once it has been sent a few times before."""
        for _ in range(TIMES):
            await self.get(path, query)
        assert self.status == 200
        counted = 0

        def count(frame: FrameType, event: str, _: Any) -> None:
            nonlocal counted
            counted += event == "call" and frame.f_code.co_filename != __file__

        gc.disable()  # finalizers of other tests are functions too
        try:
            for _ in range(TIMES):
                await asyncio.sleep(0)  # a turn of the loop begins a few requests
                sys.setprofile(count)
                try:
                    await self.get(path, query)
                finally:
                    sys.setprofile(None)
        finally:
            gc.enable()
        return counted / TIMES


@pytest.mark.parametrize(
    ("path", "query", "most"),
    [
        ("/api/v1/namespaces/a/pods/p", "resourceVersion=0", 165),
        ("/api/v1/pods", "resourceVersion=0&fieldSelector=spec.nodeName%3Dn", 375),
    ],
    ids=["get", "list"],
)
async def test_a_small_request_calls_few_functions(
    client: EtcdClient, prefix: str, path: str, query: str, most: int
) -> None:
    async with running(client, prefix, seats=600) as api:
        await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        created = await api.create("/api/v1/namespaces/a/pods", POD)
        assert await api.cacher("pods").ready()
        await api.seen(created.json(), "pods")
        probe = Client(api.app)
        assert await probe.calls(path, query) <= most


@pytest.mark.parametrize("query", ["", "watch=1&timeoutSeconds=1&resourceVersion=0"])
async def test_a_request_leaves_no_cycles_for_the_garbage_collector(
    client: EtcdClient, prefix: str, query: str
) -> None:
    """A full collection stops the server for milliseconds; nothing should need one."""
    async with running(client, prefix) as api:
        await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        assert await api.cacher("namespaces").ready()
        answer = await api.get(f"/api/v1/namespaces?{query}")
        assert answer.status_code == 200
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for _ in range(2):
                await api.get(f"/api/v1/namespaces?{query}")
            gc.collect()
            left = [type(one).__name__ for one in gc.garbage if isinstance(one, Call | CacheWatch | Meter)]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
        assert left == []
