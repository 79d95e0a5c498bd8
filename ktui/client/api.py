"""The asyncio HTTP client of a ktui server: JSON, timed requests, and the telemetry stream."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from ktui import __version__
from ktui.client.connection import ClientError, ServerConnection, header_number, retry_after
from ktui.client.list_stream import pieces
from ktui.contract import paths
from ktui.contract.events import AnyEvent
from ktui.contract.recording import LineDecoder, RecordingError
from ktui.documents.limits import DocumentError, decode_json

# A consistent read may wait 3 s in the cache and then be repeated at etcd; a full LIST streams longer.
TIMEOUT = httpx.Timeout(10.0, read=120.0)
# A document is read whole: the largest (/metrics of a large cluster) have some tens of megabytes.
MOST_BYTES = 64 * 1024 * 1024
MOST_SECONDS = 300.0
IDLE_SECONDS = 5.0
MOST_REFUSAL_BYTES = 64 * 1024  # read of an error answer, of which one sentence is shown
_OF_THE_WIRE = (b"content-encoding", b"content-length", b"transfer-encoding")


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """A response without its body, timed; `body_bytes` are after decompression, `wire_bytes` before."""

    path: str
    status: int
    headers: Mapping[str, str]
    body_bytes: int
    first_byte_ms: float
    total_ms: float
    wire_bytes: int = 0

    @property
    def route(self) -> str:
        """`cache`, `etcd`, `cache,etcd`, or "" if rejected before storage is read."""
        return self.headers.get("x-ktui-route", "")

    @property
    def reason(self) -> tuple[str, str]:
        """Id and text of the reason for the route."""
        reason_id, _, text = self.headers.get("x-ktui-reason", "").partition(" ")
        return reason_id, text

    @property
    def cost(self) -> dict[str, int]:
        """`X-Ktui-Cost` as numbers: fetched, evaluated, returned, etcd_gets, etcd_lists, seats."""
        parts = (part.split("=", 1) for part in self.headers.get("x-ktui-cost", "").split(",") if "=" in part)
        return {key.strip(): header_number(value) for key, value in parts}

    @property
    def request_id(self) -> int:
        """The id of this request in the telemetry stream; 0 if the server sent none."""
        return header_number(self.headers.get("x-ktui-request-id", ""))


@dataclass(slots=True)
class Received:
    """The cost of an answer: bytes received (compressed), and the ms until the last one."""

    wire_bytes: int = 0
    ms: float = 0.0


class RefusedError(ClientError):
    """The server answered with another status than 200."""

    def __init__(self, message: str, status: int, headers: Mapping[str, str], content: bytes) -> None:
        super().__init__(message)
        self.status = status
        self.content = content
        self.retry_after = min(retry_after(headers), 600)  # seconds; 0 if not sent


class ApiClient:
    """An asyncio client of one server. Raises ClientError if the server is unreachable."""

    def __init__(
        self, connection: ServerConnection, user_agent: str = f"ktui/{__version__}", *,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:  # fmt: skip
        """`idle_seconds`: how long a connection is kept for the next request."""
        self.connection = connection
        headers = {
            "User-Agent": user_agent,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            **connection.headers(),
        }
        # Checked here, because h11 would quote the whole header, with its secret, in its error.
        if not (user_agent.isascii() and user_agent.isprintable()):
            raise ClientError(f"the User-Agent {user_agent!r} has characters that no header can carry")
        if not all(value.isascii() and value.isprintable() for value in connection.headers().values()):
            raise ClientError(
                f"the token or user name for {connection.url} has characters that no header can carry"
            )
        try:
            self._http = httpx.AsyncClient(
                base_url=connection.url,
                headers=headers,
                verify=connection.ssl_context(),
                timeout=TIMEOUT,
                limits=httpx.Limits(
                    max_connections=100, max_keepalive_connections=20, keepalive_expiry=idle_seconds
                ),
                proxy=connection.proxy,
                trust_env=False,  # use only what the connection says
                event_hooks={"request": [self._name_server]},
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise ClientError(f"{connection.url!r} cannot be connected to: {error}") from error

    async def _name_server(self, request: httpx.Request) -> None:
        if self.connection.server_name:
            request.extensions["sni_hostname"] = self.connection.server_name

    async def close(self) -> None:
        await self._http.aclose()

    async def get_json(self, path: str) -> Any:
        """Return the decoded answer of a GET. Raises ClientError if it is not 2xx, or not JSON."""
        return self._document(path, await self.request("GET", path))

    async def send_json(
        self, method: str, path: str, body: Any, content_type: str = "application/json"
    ) -> Any:
        """Return the decoded answer of a write. Raises ClientError if it is not 2xx, or not JSON."""
        return self._document(path, await self.request(method, path, body, content_type))

    async def request(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", *,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:  # fmt: skip
        """Send a request and return the whole response, of any status. Raises ClientError without one."""
        content = None if body is None else msgspec.json.encode(body)
        sent = {} if method == "GET" else {"Content-Type": content_type}  # a POST must name one
        sent |= headers or {}
        whole = bytearray()
        with clear_errors(self.connection):
            async with (
                asyncio.timeout(MOST_SECONDS),
                self._http.stream(method, path, content=content, headers=sent) as response,
            ):
                async for piece in _body(response):
                    whole += piece
                    if len(whole) > MOST_BYTES:
                        more = f"more than {MOST_BYTES >> 20} MiB: the rest is not read"
                        raise ClientError(f"{self.connection.url} answers with {more}")
        kept = [(name, text) for name, text in response.headers.raw if name.lower() not in _OF_THE_WIRE]
        return httpx.Response(response.status_code, headers=kept, content=bytes(whole))

    async def send_timed(
        self, path: str, *, headers: Mapping[str, str] | None = None,
        on_chunk: Callable[[bytes], None] | None = None, enough: Callable[[], bool] = lambda: False,
    ) -> TimedResponse:  # fmt: skip
        """GET `path` and time it. `on_chunk` gets the body; once `enough`, its rest is not read."""
        started = time.perf_counter()
        first, size = 0.0, 0
        with clear_errors(self.connection):
            async with self._http.stream("GET", path, headers=dict(headers or {})) as response:
                async for chunk in _body(response):
                    first = first or time.perf_counter()
                    size += len(chunk)
                    if on_chunk is not None:
                        on_chunk(chunk)
                    if enough():
                        break
        done = time.perf_counter()
        return TimedResponse(
            path=path, status=response.status_code, headers=response.headers, body_bytes=size,
            first_byte_ms=((first or done) - started) * 1000.0, total_ms=(done - started) * 1000.0,
            wire_bytes=response.num_bytes_downloaded,
        )  # fmt: skip

    async def telemetry(self, patience: float | None = None) -> AsyncGenerator[list[AnyEvent], None]:
        """Yield batches of telemetry events until the stream ends, which raises ClientError.

        `patience`: seconds without data after which that is an error too; None: wait without limit.
        """
        decoder = LineDecoder()
        with clear_errors(self.connection):
            timeout = httpx.Timeout(10.0, read=patience)
            async with self._http.stream("GET", paths.TELEMETRY, timeout=timeout) as response:
                if response.status_code != 200:
                    raise await self._refused(response)
                async for piece in _body(response):
                    if events := self._events(decoder, piece):
                        yield events
        raise ClientError(f"the server at {self.connection.url} has closed the telemetry stream")

    async def present(self) -> list[AnyEvent]:
        """Return the first events of the telemetry, which describe the server and its state."""
        response = await self.request("GET", paths.PRESENT)
        if response.status_code != 200:
            raise ClientError(self._refusal(response.status_code, response.content))
        return self._events(LineDecoder(), response.content)

    def _events(self, decoder: LineDecoder, content: bytes) -> list[AnyEvent]:
        try:
            return decoder.feed(content)
        except RecordingError as error:
            raise ClientError(f"{self.connection.url} sends invalid telemetry: {error}") from error

    async def read(self, path: str, accept: str, received: Received) -> AsyncGenerator[bytes, None]:
        """Yield the body of a GET in pieces. Raises RefusedError for a status other than 200, ClientError."""
        started = time.perf_counter()
        with clear_errors(self.connection):
            async with (
                asyncio.timeout(MOST_SECONDS),
                self._http.stream("GET", path, headers={"Accept": accept}) as response,
            ):
                try:
                    if response.status_code != 200:
                        raise await self._refused(response)
                    async for piece in _body(response):
                        yield piece
                finally:
                    received.wire_bytes = response.num_bytes_downloaded
                    received.ms = (time.perf_counter() - started) * 1000.0

    async def watch(self, path: str) -> AsyncIterator[bytes]:
        """Yield the body of a WATCH in pieces, unbounded in time. Raises ClientError, RefusedError."""
        with clear_errors(self.connection):
            timeout = httpx.Timeout(10.0, read=None)
            async with self._http.stream("GET", path, timeout=timeout) as response:
                if response.status_code != 200:
                    raise await self._refused(response)
                async for piece in _body(response):
                    yield piece

    def _document(self, path: str, response: httpx.Response) -> Any:
        if not response.is_success:
            raise ClientError(self._refusal(response.status_code, response.content))
        try:
            return decode_json(response.content, Any)
        except DocumentError as error:
            url = self.connection.url
            raise ClientError(f"the answer of {url} to {path} is not valid: {error}") from error

    async def _refused(self, response: httpx.Response) -> RefusedError:
        content = b""
        async for piece in _body(response):
            content += piece
            if len(content) > MOST_REFUSAL_BYTES:
                break
        status = response.status_code
        return RefusedError(self._refusal(status, content), status, response.headers, content)

    def _refusal(self, status: int, content: bytes) -> str:
        """Return the message of an error answer in one sentence."""
        message = content[:1200].decode("utf-8", "replace")[:300]
        with contextlib.suppress(DocumentError):  # not a Status: use the text itself
            message = decode_json(content, _StatusMessage).message[:MOST_REFUSAL_BYTES] or message
        if status == 401:
            message = self.connection.unauthorized
        return f"{status}: {message.strip()}"


def _body(response: httpx.Response) -> AsyncIterator[bytes]:
    return pieces(response.aiter_raw(), response.headers.get("content-encoding", ""))


class _StatusMessage(msgspec.Struct):
    message: str = ""


@contextlib.contextmanager
def clear_errors(connection: ServerConnection) -> Iterator[None]:
    """Convert httpx's exceptions into ClientErrors that name the server."""
    try:
        yield
    except httpx.ProxyError as error:
        raise ClientError(f"the proxy to {connection.url} refuses: {error}") from error
    except httpx.InvalidURL as error:
        raise ClientError(f"the path is not valid in a request to {connection.url}: {error}") from error
    except (httpx.TimeoutException, TimeoutError) as error:
        raise connection.timed_out() from error
    except (httpx.HTTPError, httpx.StreamError, ssl.SSLError) as error:
        raise connection.failed(error, connecting=isinstance(error, httpx.ConnectError)) from error
