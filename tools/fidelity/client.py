"""HTTP requests exactly as they were recorded, also those that no client library would send."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from email.message import Message
from typing import Any
from urllib.parse import urlsplit

from tools.fidelity.server import TOKEN, ServerError

ANSWER_SECONDS = 25.0
WATCH_SECONDS = 15.0
FILLED_SECONDS, CACHE_SECONDS = 120.0, 0.1

Headers = Mapping[str, str | list[str] | None]


class Answer:
    """Status, headers and body. A status below 0: there was no answer; the body names the error."""

    def __init__(self, status: int, headers: Message | None, body: bytes) -> None:
        self.status = status
        self.body = body
        self.raw_headers = headers

    def header(self, name: str) -> str:
        return (self.raw_headers.get(name) or "") if self.raw_headers is not None else ""

    def headers(self, name: str) -> list[str]:
        return self.raw_headers.get_all(name) or [] if self.raw_headers is not None else []

    @property
    def media_type(self) -> str:
        return self.header("content-type")

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the decoded body; None if it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class _Connection(http.client.HTTPSConnection):
    """Sends any target, also one with spaces or text that is not ASCII."""

    def _validate_path(self, url: str) -> None:
        pass

    def _encode_request(self, request: str) -> bytes:
        return request.encode("utf-8")


class Client:
    """One connection to a server, opened again when the server has closed it.

    `agent` is the recorded client: writes name it in managedFields.
    """

    def __init__(self, url: str, agent: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 443)
        self._agent = agent
        self._tls = ssl._create_unverified_context()  # a server that this run has started
        self._connection: _Connection | None = None

    def send(self, method: str, target: str, headers: Headers, body: bytes | None = None) -> Answer:
        """Send a request; once more on a new connection if the kept one has failed.

        Raises ServerError if nothing listens any more.
        """
        try:
            return self._send(method, target, headers, body)
        except (http.client.HTTPException, OSError):
            self.close()
        try:
            return self._send(method, target, headers, body)
        except ConnectionRefusedError:
            raise ServerError("the server has ended") from None
        except (http.client.HTTPException, OSError) as error:
            self.close()
            return Answer(-1, None, type(error).__name__.encode())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def connect(self, seconds: float) -> _Connection:
        """Return a new connection of its own."""
        connection = _Connection(*self._address, timeout=seconds, context=self._tls)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def begin(
        self, connection: _Connection, method: str, target: str, headers: Headers, body: bytes | None
    ) -> http.client.HTTPResponse:
        """Send a request on a connection; return the response, whose body is not yet read."""
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        sent: dict[str, str | list[str] | None] = {
            "Host": "{}:{}".format(*self._address),
            "User-Agent": self._agent,
            "Authorization": f"Bearer {TOKEN}",
        }
        sent.update(headers)
        for name, value in sent.items():
            values = value if isinstance(value, list) else [value]
            for one in values:
                if one is not None:
                    connection.putheader(name, one.encode("utf-8"))
        if body is not None or method in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body)
        return connection.getresponse()

    def _send(self, method: str, target: str, headers: Headers, body: bytes | None) -> Answer:
        if self._connection is None:
            self._connection = self.connect(ANSWER_SECONDS)
        response = self.begin(self._connection, method, target, headers, body)
        content = response.read()
        if response.will_close:
            self.close()
        return Answer(response.status, response.headers, content)


def wait_for_caches(client: Client) -> None:
    """Wait until no watch cache is being filled; raise ServerError if it takes too long."""
    until = time.monotonic() + FILLED_SECONDS
    while time.monotonic() < until:
        events = client.send("GET", "/ktui/v1/present", {}).body.splitlines()
        caches = [event for event in map(json.loads, events) if event.get("type") == "cache"]
        if caches and not any(cache["state"] == "initializing" for cache in caches):
            return
        time.sleep(CACHE_SECONDS)
    raise ServerError(f"the watch caches are not filled after {FILLED_SECONDS:.0f} s")


class Watch(threading.Thread):
    """A WATCH in a thread of its own: its lines until `stop` or the server's end.

    `opened` is set once there is a status; `ended` says that the server has ended it. An answer that is not
    a stream has its whole body in `answer`.
    """

    def __init__(self, client: Client, target: str, headers: Headers, seconds: float = WATCH_SECONDS) -> None:
        super().__init__(daemon=True)
        self.lines: list[bytes] = []
        self.answer: Answer | None = None
        self.opened = threading.Event()
        self.ended = threading.Event()
        self._client = client
        self._request = (target, headers)
        self._seconds = seconds
        self._connection: _Connection | None = None
        self._stopping = False
        self.start()

    def run(self) -> None:
        try:
            self._read()
        except Exception as error:  # whatever it is, it is the outcome of this WATCH
            self._fail(type(error).__name__)
        finally:
            self.opened.set()
            self.ended.set()

    def stop(self) -> None:
        self._stopping = True
        if self._connection is not None:
            with contextlib.suppress(OSError, AttributeError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)
        self.join(5)
        if self._connection is not None:
            self._connection.close()

    def _read(self) -> None:
        target, headers = self._request
        self._connection = self._client.connect(self._seconds)
        response = self._client.begin(self._connection, "GET", target, headers, None)
        if response.status != 200 or "chunked" not in (response.getheader("transfer-encoding") or ""):
            self.answer = Answer(response.status, response.headers, response.read())
            return
        self.answer = Answer(response.status, response.headers, b"")
        self.opened.set()
        while not self._stopping and (line := response.readline()):
            if line.strip():
                self.lines.append(line)

    def _fail(self, name: str) -> None:
        if self.answer is None:
            self.answer = Answer(-1, None, name.encode())
        elif not self._stopping:
            failure = {"type": "TRANSPORT", "object": {"message": name}}
            self.lines.append(json.dumps(failure).encode())
