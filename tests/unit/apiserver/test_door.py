"""The listening socket, taken from the server for a while; and a server whose open files are used up."""

from __future__ import annotations

import asyncio
import os
import resource
import selectors
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui.apiserver.http import Receive, Scope, Send
from ktui.apiserver.http.connections import ConnectionGuard, Connections
from ktui.apiserver.http.door import Door
from ktui.apiserver.http.listener import HttpServer
from ktui.apiserver.http.open_files import file_limit, most_connections
from ktui.apiserver.http.tls import ensure_certificate

FILES, SILENT = 256, 600
linux = pytest.mark.skipif(sys.platform != "linux", reason="the door is shut on Linux only")


class Listening:
    """A server's socket, which it watches with its own event queue, and the door to it."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.setblocking(False)
        self.queue = selectors.DefaultSelector()
        self.queue.register(self.server, selectors.EVENT_READ)
        self.door = Door()
        self.door.hang(self.server.fileno())

    def connect(self) -> socket.socket:
        return socket.create_connection(self.door.listener.getsockname(), timeout=60)

    def accepted(self) -> bool:
        try:
            self.server.accept()[0].close()
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def listening() -> Iterator[Listening]:
    found = Listening()
    yield found
    found.door.close()
    found.queue.close()
    found.server.close()


@linux
def test_behind_a_shut_door_the_server_finds_no_client_and_ktui_does(listening: Listening) -> None:
    listening.door.set_shut(True)
    client = listening.connect()
    assert not listening.accepted()
    taken, _ = listening.door.listener.accept()
    taken.sendall(b"x")
    assert client.recv(1) == b"x"
    taken.close()
    client.close()


@linux
def test_a_client_that_waits_at_the_door_is_served_when_it_opens(listening: Listening) -> None:
    listening.door.set_shut(True)
    client = listening.connect()
    listening.door.set_shut(False)
    assert listening.queue.select(10), "the server is woken"
    assert listening.accepted()
    client.close()


@linux
def test_a_door_that_is_shut_opens_when_its_guard_ends(listening: Listening) -> None:
    listening.door.set_shut(True)
    client = listening.connect()
    listening.door.close()
    assert listening.accepted()
    client.close()


@linux
def test_a_full_queue_has_no_place_for_the_call_that_wakes_the_server(listening: Listening) -> None:
    listening.server.listen(0)
    assert listening.door.wake()
    assert not listening.door.wake()
    listening.door.listener.accept()[0].close()
    assert listening.door.wake()


@linux
def test_a_door_takes_the_socket_and_gives_it_up_without_a_file_left(listening: Listening) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (listening.door.next_file(), hard))
    try:
        for _ in range(3):
            listening.door.leave()
            assert not listening.door.server_has_it()
            listening.door.hang(listening.server.fileno())
            assert listening.door.server_has_it()
            listening.door.set_shut(True)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    client = listening.connect()
    listening.door.leave()
    assert listening.accepted()
    client.close()


@linux
def test_a_number_that_the_server_has_closed_is_left_alone(listening: Listening) -> None:
    listening.queue.unregister(listening.server)
    listening.server.close()
    with Path(os.devnull).open() as other:  # gets the number
        assert not listening.door.server_has_it()
        listening.door.set_shut(True)
        assert not listening.door.shut
        assert os.fstat(other.fileno()).st_rdev == Path(os.devnull).stat().st_rdev


@linux
def test_without_a_file_left_the_server_still_finds_no_client(listening: Listening) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = listening.door.next_file()
    resource.setrlimit(resource.RLIMIT_NOFILE, (used, hard))
    try:
        assert listening.door.next_file() == file_limit() == used
        with pytest.raises(OSError, match="Too many open files"):
            listening.server.accept()
        listening.door.set_shut(True)
        assert not listening.accepted(), "spare files were closed, so this is no error"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("guard", ["at once", "late"])
def test_silent_clients_that_use_up_all_files_shut_out_no_one(tmp_path: Path, guard: str) -> None:
    """granian, over TLS, in a process with few files; the silent clients stay.

    A late guard first looks when all of them have connected.
    """
    words = [sys.executable, __file__, str(tmp_path), guard]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        port = int(server.stdout.readline())
        silent = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(SILENT)]
        server.stdin.write("connected\n")
        server.stdin.flush()
        try:
            answer = ""
            while not answer:
                answer = _get(port)
            refused, closed, files = map(int, answer.split())
            assert refused + closed > 0
            assert files < FILES
        finally:
            for one in silent:
                one.close()
            server.stdin.close()
            assert server.wait(60) == 0


def _get(port: int) -> str:
    """Return the answer to a new client, "" if it is refused."""
    try:
        url, context = f"https://127.0.0.1:{port}/figures", ssl._create_unverified_context()
        with urllib.request.urlopen(url, timeout=60, context=context) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


async def _serve(directory: Path, guard: str) -> None:
    """Print the port, and serve until standard input ends; its first line lets a late guard begin."""
    connected = asyncio.Event()
    run = ConnectionGuard.run

    async def run_late(self: ConnectionGuard, port: int) -> None:
        await connected.wait()
        await run(self, port)

    if guard == "late":
        ConnectionGuard.run = run_late  # type: ignore[method-assign]
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    connections = Connections(most_connections(FILES))

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        figures = f"{connections.refused} {connections.silent} {len([*Path('/dev/fd').iterdir()])}"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": figures.encode()})

    tls = ensure_certificate(directory / "tls", "127.0.0.1")
    server = HttpServer(application, "127.0.0.1:0", tls, connections=connections)
    await server.start()
    print(server.port, flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    connected.set()
    await asyncio.to_thread(sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2]))
