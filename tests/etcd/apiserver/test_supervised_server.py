"""An HTTP server that ends by itself, and a reader of etcd's log that fails, begin again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from ktui.apiserver.http import Receive, Scope, Send
from ktui.apiserver.http.listener import HttpServer
from ktui.apiserver.http.response import Response
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.server_log import EtcdLog
from ktui.supervision import Supervisor
from tests.etcd.serving import plain_client

pytestmark = pytest.mark.anyio


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await Response(send).text(200, "hello")


def supervisor() -> tuple[Supervisor, asyncio.Event]:
    """One that does not wait before it tries again, and what is set when a task fails."""
    failed = asyncio.Event()
    return Supervisor(failed.set, pause=lambda _: asyncio.sleep(0)), failed


async def test_an_http_server_that_ends_listens_again() -> None:
    supervised, failed = supervisor()
    server = HttpServer(hello, "127.0.0.1:0", supervisor=supervised)
    await server.start()
    try:
        first = server._server
        assert first is not None
        first.stop()
        async with asyncio.timeout(60):
            await failed.wait()
        assert [failure.task for failure in supervised.failures] == ["the HTTP server"]
        async with asyncio.timeout(60), plain_client("") as http:
            while True:
                try:
                    assert (await http.get(server.url)).text == "hello"
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.01)  # the port opens without a signal
        assert server._server is not first
    finally:
        await server.stop()
    with pytest.raises(httpx.ConnectError):
        async with plain_client("") as http:
            await http.get(server.url)


async def test_the_log_of_etcd_is_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supervised, failed = supervisor()
    etcd = await EmbeddedEtcd.start(tmp_path / "etcd", supervisor=supervised)  # stopped gently: it says so
    add = EtcdLog.add

    def broken(_: EtcdLog, __: bytes) -> None:
        monkeypatch.setattr(EtcdLog, "add", add)
        raise ZeroDivisionError

    monkeypatch.setattr(EtcdLog, "add", broken)
    assert etcd._process is not None
    try:
        etcd._process.terminate()  # what it says at the end is a line, and its end is still noticed
        async with asyncio.timeout(60):
            await failed.wait()
        assert [failure.task for failure in supervised.failures] == ["the reader of etcd's log"]
        async with asyncio.timeout(60):
            assert "ended" in str(await etcd.failed)
    finally:
        await etcd.stop()
