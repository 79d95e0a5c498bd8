"""Recorded pages of two replicas of a kube-apiserver, and a server that answers with them."""

from __future__ import annotations

import contextlib
import itertools
import lzma
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from ktui.client.kube_connection import KubeConnection
from tools.fidelity.recordings import LIVE

OPEN = LIVE / "open.jsonl.xz"  # under a load of which every request is known
IDLE = LIVE / "idle.jsonl.xz"  # over 13 minutes without a request by a client

Answer = tuple[int, str, bytes]


@cache
def pages(file: Path) -> list[dict[str, Any]]:
    with lzma.open(file) as packed:
        return [msgspec.json.decode(line) for line in packed]


@cache
def answers(replica: int, path: str, user: str, file: Path) -> list[Answer]:
    """Return what that replica answered to it, oldest first."""
    return [
        (page["status"], page["type"], page["body"].encode())
        for page in pages(file)
        if (page["replica"], page["as"], urlsplit(page["path"]).path) == (replica, user, path)
    ]


@cache
def moments(file: Path) -> int:
    """Return how often the metrics were read."""
    return len(answers(0, "/metrics", "admin", file))


@dataclass
class Recorded:
    """A load balancer over the replicas: each new connection gets the next one.

    `moment` chooses the page of metrics; `override` may answer a request itself.
    """

    url: str = ""
    moment: int = 0
    replicas: tuple[int, ...] = (0, 1)
    closes: bool = False  # each connection after its answer
    file: Path = OPEN
    override: Callable[[int, str], Answer | None] = lambda replica, path: None
    requests: list[tuple[str, str]] = field(default_factory=list)  # method, path with query
    headers: list[dict[str, str]] = field(default_factory=list)
    certificates: list[bool] = field(default_factory=list)  # over TLS: whether the client showed one

    def connection(self, token: str = "admin") -> KubeConnection:
        return KubeConnection(self.url, token=token, context="recorded")

    def answer(self, replica: int, path: str, user: str) -> Answer:
        if (made := self.override(replica, path)) is not None:
            return made
        found = answers(replica, urlsplit(path).path, user, self.file)
        if not found:
            return 404, "application/json", b'{"kind":"Status","message":"not found","code":404}'
        return found[min(self.moment, len(found) - 1)]


@contextlib.contextmanager
def serving_pages(recorded: Recorded, tls: ssl.SSLContext | None = None) -> Iterator[Recorded]:
    """Serve the pages on a free port of this machine."""
    turns = itertools.count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            self.closes = recorded.closes
            self.replica = recorded.replicas[next(turns) % len(recorded.replicas)]

        def do_GET(self) -> None:
            recorded.requests.append((self.command, self.path))
            recorded.headers.append(dict(self.headers))
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if tls is not None:
                recorded.certificates.append(bool(cast(ssl.SSLSocket, self.connection).getpeercert()))
            user = token if token in ("viewer", "nobody") else "admin"
            status, kind, body = recorded.answer(self.replica, self.path, user)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if self.closes:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_GET

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    recorded.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
