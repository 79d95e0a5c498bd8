"""As many connections as allowed, and what happens to others: a real granian, and a small application."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import math
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ktui.apiserver.http import Message, Receive, Scope, Send, health_reserve, open_files
from ktui.apiserver.http import connections as guarding
from ktui.apiserver.http.connections import Connections
from ktui.apiserver.http.listener import HttpServer
from ktui.apiserver.http.open_files import most_connections
from ktui.apiserver.http.tls import TlsFiles, ensure_certificate
from ktui.apiserver.http.tls_front import Peer, TlsFront
from ktui.kube.users import Requester

pytestmark = pytest.mark.anyio

MOST = 4


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the path; `/hold` begins an answer that never ends."""
    path = scope["path"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": path.encode(), "more_body": path == "/hold"})
    if path == "/hold":
        await receive()
        await receive()


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Bounded:
    """A server with MOST connections, and those that a test opened."""

    server: HttpServer
    figures: Connections
    tls: bool
    opened: list[Stream]

    async def open(self, path: str = "") -> Stream:
        """Open a connection; with a path also send a request."""
        context = ssl._create_unverified_context() if self.tls else None
        stream = await asyncio.open_connection("127.0.0.1", self.server.port, ssl=context)
        self.opened.append(stream)
        if path:
            stream[1].write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return stream

    async def get(self, path: str) -> bytes:
        """The status line of a new connection's answer, and all that comes after it; b"" if it is reset."""
        try:
            reader, _ = await self.open(path)
            return await reader.readuntil(b"\r\n\r\n") + await reader.read(200)
        except (OSError, EOFError):
            return b""

    async def hold(self, count: int) -> None:
        """Open connections with a request each, whose answers have begun."""
        for _ in range(count):
            reader, _ = await self.open("/hold")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")

    async def until_open(self, count: int) -> None:
        while self.figures.open != count:
            await asyncio.sleep(0.005)  # the kernel's list of open files sends no signal


@contextlib.asynccontextmanager
async def bounded(tls: TlsFiles | None = None, front: TlsFront | None = None) -> AsyncIterator[Bounded]:
    figures = Connections(MOST)
    server = HttpServer(application, "127.0.0.1:0", tls, front=front, connections=figures)
    await server.start()
    found = Bounded(server, figures, tls is not None, [])
    try:
        async with asyncio.timeout(60):
            yield found
    finally:
        for _, writer in found.opened:
            writer.transport.abort()
        await server.stop()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUEUE_SECONDS", "LOOK_SECONDS", "LOOK_SCARCE_SECONDS"):
        monkeypatch.setattr(guarding, name, 0.005)


@pytest.fixture(params=["http", "tls", "front"])
async def full(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bounded]:
    """A server whose connections are all in use."""
    tls = None if request.param == "http" else ensure_certificate(tmp_path / "tls", "127.0.0.1")
    front = TlsFront(tls, tls.cert) if tls is not None and request.param == "front" else None
    async with bounded(tls, front) as found:
        await found.hold(MOST)
        await found.until_open(MOST)
        yield found


async def test_health_of_a_full_server(full: Bounded) -> None:
    for path in ("/healthz", "/livez", "/readyz/etcd"):
        answer = await full.get(path)
        assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(path.encode())
    refused = await full.get("/api")
    assert refused.startswith(b"HTTP/1.1 429")
    assert b"Too many connections are open" in refused
    assert full.figures.refused == 4


async def test_a_place_that_is_free_again(full: Bounded) -> None:
    full.opened.pop()[1].transport.abort()
    await full.until_open(MOST - 1)
    assert (await full.get("/api")).startswith(b"HTTP/1.1 200")


async def test_remote_clients_of_a_full_server_are_reset(
    full: Bounded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for module in ("connections", "tls_front"):
        monkeypatch.setattr(f"ktui.apiserver.http.{module}.is_loopback", lambda host: False)
    assert [await full.get("/healthz") for _ in range(3)] == [b""] * 3
    assert full.figures.refused == 3
    assert caplog.messages == ["connection from 127.0.0.1 refused: 4 are open, the most (--max-connections)"]


async def test_silent_ones_leave_the_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_reserve, "PLACES", 2)
    async with bounded() as full:
        await full.hold(MOST)
        await full.until_open(MOST)
        silent = [await full.open() for _ in range(3)]
        assert await silent[0][0].read() == b"", "the oldest is closed"
        assert (await full.get("/healthz")).startswith(b"HTTP/1.1 200")


async def test_the_reserve_waits_before_it_closes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A health check that was just taken is read, however many come after it."""
    monkeypatch.setattr(health_reserve, "PLACES", 2)
    monkeypatch.setattr(health_reserve, "GRACE_SECONDS", math.inf)
    async with bounded() as full:
        await full.hold(MOST)
        await full.until_open(MOST)
        first, others = await full.open(), [await full.open() for _ in range(5)]
        while full.figures.refused < 2:
            await asyncio.sleep(0.005)  # until both places are taken
        first[1].write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await first[0].read()).startswith(b"HTTP/1.1 200")
        while full.figures.refused < 3:
            await asyncio.sleep(0.005)  # until the next has its place
        assert not any(reader.at_eof() for reader, _ in others)


@pytest.mark.parametrize("encrypted", [False, True])
async def test_a_silent_connection_is_closed(
    encrypted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ensure_certificate(tmp_path / "tls", "127.0.0.1") if encrypted else None
    async with bounded(tls) as server:
        await server.hold(1)
        reader, _ = await server.open()
        await server.until_open(2)
        monkeypatch.setattr(guarding, "SILENT_SECONDS", 0.0)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        await server.until_open(1)
        assert server.figures.silent == 1


async def test_silent_connections_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "SCARCE_SECONDS", 0.0)
    async with bounded() as server:
        await server.hold(2)
        for _ in range(MOST):
            await server.open()
        while not (await server.get("/api")).startswith(b"HTTP/1.1 200"):
            await asyncio.sleep(0.005)  # until one is closed
        assert server.figures.silent >= 1
        reader, _ = server.opened[0]
        server.opened[0][1].write(b"")
        assert not reader.at_eof(), "one with a request stays"


async def test_silent_connections_are_found_when_no_file_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async with bounded() as server:
        reader, _ = await server.open()
        await server.until_open(1)

        def none_left(*_: object) -> list[str]:
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(open_files.os, "listdir", none_left)
        monkeypatch.setattr(open_files.os, "dup", none_left)
        monkeypatch.setattr(open_files, "file_limit", lambda: 1024)
        monkeypatch.setattr(guarding, "SILENT_SECONDS", 0.0)
        assert await reader.read() == b""
        assert server.figures.silent == 1


@pytest.mark.parametrize(
    ("files", "each", "most"),
    [
        (1024, 1, 512),
        (4096, 1, 3584),
        (20_000, 1, 16_384),
        (20_000, 3, 6496),
        (1 << 20, 1, 16_384),
        (100, 1, 50),
    ],
)
def test_connections_that_open_files_allow(files: int, each: int, most: int) -> None:
    assert most_connections(files, each) == most


def test_the_limit_of_open_files_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(1024, 4096)]
    monkeypatch.setattr(open_files.resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.setattr(open_files.resource, "setrlimit", lambda kind, new: limits.append(new))
    assert open_files.raise_file_limit() == 4096
    assert limits == [(1024, 4096), (4096, 4096)]
    assert open_files.raise_file_limit() == 4096
    assert len(limits) == 2, "it is not lowered"


@pytest.mark.parametrize(("ends", "status"), [(60.0, 200), (-60.0, 401)])
async def test_a_client_certificate_that_expires_on_an_open_connection(
    tmp_path: Path, ends: float, status: int
) -> None:
    tls = ensure_certificate(tmp_path / "tls", "127.0.0.1")
    front, sent = TlsFront(tls, tls.cert), list[Message]()
    peer = Peer(("192.0.2.1", 7), Requester("jane"), time.time() + ends, late=False)
    front._peers["127.0.0.1", 9] = peer

    async def keep(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/api", "client": ("127.0.0.1", 9)}
    await front.wrap(application)(scope, _nothing, keep)
    assert sent[0]["status"] == status


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
