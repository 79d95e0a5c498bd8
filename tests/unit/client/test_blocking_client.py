"""The blocking client, against a listening socket that says what a server would."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ktui.client.connection import ClientError, ServerConnection
from ktui.workloads.seeding import Answer, BlockingClient
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


def test_writes_go_over_one_connection_with_the_token_and_the_type_of_their_body() -> None:
    with _answering(lambda _: CREATED) as (connection, heard), BlockingClient(connection, "seed/1") as client:
        first = client.write("POST", "/api/v1/namespaces", {"a": "ä"})
        client.write("PATCH", "/x", {"b": 1}, "application/merge-patch+json")
    assert (first.status, first.body, first.success) == (201, b"{}", True)
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/v1/namespaces HTTP/1.1\r\n")
    assert {b"User-Agent: seed/1", b"Authorization: Bearer secret", b"Content-Type: application/json"} <= set(
        head.split(b"\r\n")
    )
    assert body == '{"a":"ä"}'.encode()
    assert b"Content-Type: application/merge-patch+json" in heard[1]


def test_an_error_status_is_an_answer() -> None:
    refusal = b"HTTP/1.1 409 Conflict\r\ncontent-length: 3\r\n\r\nno!"
    with _answering(lambda _: refusal) as (connection, _), BlockingClient(connection, "seed") as client:
        answer = client.write("POST", "/x", {})
    assert (answer.status, answer.body, answer.success) == (409, b"no!", False)


def test_a_server_that_hangs_up_is_named() -> None:
    with _answering(lambda _: b"") as (connection, _), BlockingClient(connection, "seed") as client:
        _fails(client, f"the connection to {connection.url} broke off")


def test_a_server_that_is_not_there_is_named() -> None:
    with (
        silent_port() as port,
        BlockingClient(ServerConnection(f"http://127.0.0.1:{port}"), "seed") as client,
    ):
        _fails(client, f"no server answers at {client.connection.url} \\(connection refused\\)")


def test_a_server_that_is_silent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ktui.workloads.seeding.TIMEOUT_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with BlockingClient(ServerConnection(url), "seed") as client:
            _fails(client, f"the server at {url} did not answer in time")


def _fails(client: BlockingClient, sentence: str) -> None:
    with pytest.raises(ClientError, match=sentence):
        client.write("POST", "/x", {})


def test_a_refusal_is_told_by_its_message_alone() -> None:
    status = b'{"kind":"Status","metadata":{},"status":"Failure","message":"etcd is out of space","code":500}'
    assert Answer(500, status).message == "etcd is out of space"
    assert Answer(502, b"<h1>Bad Gateway</h1>\n").message == "<h1>Bad Gateway</h1>"
