"""Requests of a fleet, against a listening socket that says what a server would."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import aiohttp
import pytest

from ktui.client.connection import ClientError, ServerConnection
from ktui.workloads.running.fleet import Fleet, LoadAnswer
from tests.unit.ports import silent_port

CREATED = b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}"


@contextmanager
def _answering(answer: Callable[[bytes], bytes]) -> Iterator[tuple[ServerConnection, list[bytes]]]:
    """One connection is served: each request's bytes are kept, `answer` of them is sent; b"" hangs up."""
    heard: list[bytes] = []

    def serve() -> None:
        accepted, _ = listener.accept()
        with accepted:
            while request := _request(accepted):
                heard.append(request)
                said = answer(request)
                if not said:
                    return
                accepted.sendall(said)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        port = listener.getsockname()[1]
        yield ServerConnection(f"http://127.0.0.1:{port}", "secret"), heard
        server.join(10)


def _request(accepted: socket.socket) -> bytes:
    """Head and body of a request, b"" after the last."""
    request = accepted.recv(65536)
    while request:
        head, _, body = request.partition(b"\r\n\r\n")
        if len(body) == int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0]):
            break
        request += accepted.recv(65536)
    return request


pytestmark = pytest.mark.anyio


async def _write(
    connection: ServerConnection, method: str = "POST", path: str = "/x", body: object = None, kind: str = ""
) -> LoadAnswer:
    fleet = Fleet(connection)
    try:
        return await fleet.send(method, path, {"User-Agent": "seed/1", "Content-Type": kind}, body=body or {},
                                keep=100)  # fmt: skip
    finally:
        await fleet.close()


async def test_a_write_has_the_token_the_type_of_its_body_and_the_clients_name() -> None:
    with _answering(lambda _: CREATED) as (connection, heard):
        first = await _write(connection, "POST", "/api/v1/namespaces", {"a": "ä"}, "application/json")
    assert (first.status, first.body, first.ok) == (201, b"{}", True)
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/v1/namespaces HTTP/1.1\r\n")
    assert {b"User-Agent: seed/1", b"Authorization: Bearer secret", b"Content-Type: application/json"} <= set(
        head.split(b"\r\n")
    )
    assert body == '{"a":"ä"}'.encode()


async def test_an_error_status_is_an_answer() -> None:
    refusal = b"HTTP/1.1 409 Conflict\r\ncontent-length: 3\r\n\r\nno!"
    with _answering(lambda _: refusal) as (connection, _):
        answer = await _write(connection)
    assert (answer.status, answer.body, answer.ok) == (409, b"no!", False)


async def test_a_server_that_hangs_up_is_named() -> None:
    with _answering(lambda _: b"") as (connection, _):
        await _fails(connection, f"the connection to {connection.url} broke off")


async def test_a_server_that_is_not_there_is_named() -> None:
    with silent_port() as port:
        url = f"http://127.0.0.1:{port}"
        await _fails(ServerConnection(url), f"no server answers at {url} \\(connection refused\\)")


async def test_a_server_that_is_silent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    impatient = aiohttp.ClientTimeout(sock_read=0.01)
    monkeypatch.setattr("ktui.workloads.running.fleet.TIMEOUT", impatient)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        await _fails(ServerConnection(url), f"the server at {url} did not answer in time")


async def _fails(connection: ServerConnection, sentence: str) -> None:
    with pytest.raises(ClientError, match=sentence):
        await _write(connection)


async def test_a_refusal_is_told_by_its_message_alone() -> None:
    status = b'{"kind":"Status","metadata":{},"status":"Failure","message":"etcd is out of space","code":500}'
    assert LoadAnswer(500, 0, 0.0, status).message == "etcd is out of space"
    assert LoadAnswer(502, 0, 0.0, b"<h1>Bad Gateway</h1>\n").message == "<h1>Bad Gateway</h1>"
