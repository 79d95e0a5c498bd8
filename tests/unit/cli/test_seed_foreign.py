"""A server that is not ktui's, or tells this user nothing of its etcd, gets a cluster by creates."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from ktui.cli import seed_copies
from ktui.client.connection import ClientError, connection_from_url
from ktui.workloads.demo.plan import DemoSize, make_plan
from ktui.workloads.seeding import count_objects
from tests.http_server import TestServer

PLAN = make_plan(DemoSize(pods=2, nodes=1, namespaces=1))


class Server(TestServer):
    refuses = 404  # what it answers to reads


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self._answer(self.server.refuses)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(201)

    do_PATCH = do_POST

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_request(self, *_: object) -> None:
        """Nothing on standard error."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Answers) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.mark.anyio
@pytest.mark.parametrize("status", [403, 404])
async def test_it_is_filled_by_creates(server: Server, status: int) -> None:
    server.refuses = status
    connection = connection_from_url(f"http://127.0.0.1:{server.server_port}", "")
    progress = await seed_copies.seed_quickly(connection, PLAN)
    assert progress.created == count_objects(PLAN)


@pytest.mark.anyio
async def test_one_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ClientError):
        await seed_copies.seed_quickly(connection_from_url("http://127.0.0.1:1", ""), PLAN)
