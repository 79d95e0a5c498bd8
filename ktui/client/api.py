"""HTTP to a ktui server: JSON, timed requests, and the telemetry stream."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from ktui import __version__
from ktui.client.connection import ClientError, Connection
from ktui.client.pieces import pieces
from ktui.contract import paths
from ktui.contract.events import AnyEvent
from ktui.contract.recording import LineDecoder

# A consistent read may wait 3 s in the cache and then be repeated at etcd; a full LIST streams longer.
TIMEOUT = httpx.Timeout(10.0, read=120.0)


@dataclass(frozen=True, slots=True)
class Fired:
    """One request that was fired and timed from the client's side.

    `body` is kept only when asked for; `body_bytes` counts it always (as sent
    over the wire, after decompression).
    """

    path: str
    status: int
    headers: Mapping[str, str]
    body_bytes: int
    first_byte_ms: float
    total_ms: float
    body: bytes | None = None

    @property
    def route(self) -> str:
        """`cache`, `etcd`, `cache,etcd`, or "" when rejected before storage."""
        return self.headers.get("x-ktui-route", "")

    @property
    def reason(self) -> tuple[str, str]:
        """Reason id and its text."""
        reason_id, _, text = self.headers.get("x-ktui-reason", "").partition(" ")
        return reason_id, text

    @property
    def cost(self) -> dict[str, int]:
        """`X-Ktui-Cost` as numbers: fetched, evaluated, returned, etcd_gets, etcd_lists, seats."""
        parts = (part.split("=", 1) for part in self.headers.get("x-ktui-cost", "").split(",") if "=" in part)
        return {key.strip(): int(value) for key, value in parts if value.strip().lstrip("-").isdigit()}

    @property
    def request_id(self) -> int:
        """The id of this request in the telemetry stream; 0 when the server gave none."""
        return int(self.headers.get("x-ktui-request-id", "0"))


class ApiClient:
    """An asyncio client of one server. Raises ClientError when it cannot be reached."""

    def __init__(self, connection: Connection, user_agent: str = f"ktui/{__version__}") -> None:
        self.connection = connection
        headers = {"User-Agent": user_agent, "Accept": "application/json", **connection.headers()}
        self._http = httpx.AsyncClient(
            base_url=connection.url,
            headers=headers,
            verify=connection.ssl_context(),
            timeout=TIMEOUT,
            proxy=connection.proxy,
            trust_env=False,  # only what the connection itself says
            event_hooks={"request": [self._name_server]},
        )

    async def _name_server(self, request: httpx.Request) -> None:
        if self.connection.server_name:
            request.extensions["sni_hostname"] = self.connection.server_name

    async def close(self) -> None:
        await self._http.aclose()

    async def get_json(self, path: str) -> Any:
        """The decoded answer of a GET; ClientError when it is not 2xx."""
        return await self._json("GET", path)

    async def send_json(
        self, method: str, path: str, body: Any, content_type: str = "application/json"
    ) -> Any:
        """The decoded answer of a write; ClientError when it is not 2xx."""
        return await self._json(
            method, path, content=msgspec.json.encode(body), headers={"Content-Type": content_type}
        )

    async def request(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> httpx.Response:
        """Any request, any answer (also an error Status); ClientError only when there is none."""
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if method == "GET" else {"Content-Type": content_type}  # a POST must name one
        with clear_errors(self.connection):
            return await self._http.request(method, path, content=content, headers=headers)

    async def fire(
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        keep_body: bool = False,
        on_bytes: Callable[[int], None] | None = None,
        on_chunk: Callable[[bytes], None] | None = None,
        enough: Callable[[], bool] = lambda: False,
    ) -> Fired:
        """GET `path`, timed; the body is counted in chunks as it streams by, and given to `on_chunk`.

        Once `enough` says so the connection is closed, whatever might still come.
        """
        started = time.perf_counter()
        first, size, kept = 0.0, 0, bytearray()
        with clear_errors(self.connection):
            async with self._http.stream("GET", path, headers=dict(headers or {})) as response:
                async for chunk in pieces(response.aiter_bytes()):
                    first = first or time.perf_counter()
                    size += len(chunk)
                    if keep_body:
                        kept += chunk
                    if on_bytes is not None:
                        on_bytes(size)
                    if on_chunk is not None:
                        on_chunk(chunk)
                    if enough():
                        break
        done = time.perf_counter()
        return Fired(
            path=path,
            status=response.status_code,
            headers=response.headers,
            body_bytes=size,
            first_byte_ms=((first or done) - started) * 1000.0,
            total_ms=(done - started) * 1000.0,
            body=bytes(kept) if keep_body else None,
        )

    async def telemetry(self, patience: float | None = None) -> AsyncGenerator[list[AnyEvent], None]:
        """Batches of telemetry events until the server goes away (then ClientError).

        `patience`: seconds of silence after which it is taken to have gone; None: it is waited for.
        """
        decoder = LineDecoder()
        with clear_errors(self.connection):
            timeout = httpx.Timeout(10.0, read=patience)
            async with self._http.stream("GET", paths.TELEMETRY, timeout=timeout) as response:
                if response.status_code != 200:
                    raise ClientError(await self._refusal(response))
                async for chunk in response.aiter_raw():
                    if events := decoder.feed(chunk):
                        yield events
        raise ClientError(f"the server at {self.connection.url} has closed the telemetry stream")

    async def present(self) -> list[AnyEvent]:
        """What the telemetry tells first: who serves, and how things stand."""
        with clear_errors(self.connection):
            response = await self._http.get(paths.PRESENT)
        if response.status_code != 200:
            raise ClientError(await self._refusal(response))
        return LineDecoder().feed(response.content)

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """The lines of a streamed answer (a WATCH), unbounded in time."""
        with clear_errors(self.connection):
            timeout = httpx.Timeout(10.0, read=None)
            async with self._http.stream("GET", path, timeout=timeout) as response:
                if response.status_code != 200:
                    raise ClientError(await self._refusal(response))
                async for line in response.aiter_lines():
                    yield line.encode()

    async def _json(
        self, method: str, path: str, content: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Any:
        with clear_errors(self.connection):
            response = await self._http.request(method, path, content=content, headers=headers or {})
        if not response.is_success:
            raise ClientError(await self._refusal(response))
        return msgspec.json.decode(response.content)

    async def _refusal(self, response: httpx.Response) -> str:
        """What an error answer says, in one sentence."""
        content = await response.aread()
        message = content.decode("utf-8", "replace")[:300]
        with contextlib.suppress(msgspec.DecodeError):  # not a Status: the text itself must do
            message = msgspec.json.decode(content, type=_StatusMessage).message or message
        if response.status_code == 401:
            message = self.connection.unauthorized
        return f"{response.status_code}: {message.strip()}"


class _StatusMessage(msgspec.Struct):
    message: str = ""


def tls_fault(error: BaseException | None) -> str:
    """Why the server's certificate was not accepted; "" when that was not it."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return ""


def connect_fault(error: BaseException | None) -> str:
    """The system's own word for why there is no connection: "connection refused"."""
    while error is not None:
        if isinstance(error, OSError) and error.errno is not None:
            by_resolver = isinstance(error, socket.gaierror)  # its numbers are its own
            return (str(error.strerror) if by_resolver else os.strerror(error.errno)).lower()
        error = error.__cause__ or error.__context__
    return "connection refused"


@contextlib.contextmanager
def clear_errors(connection: Connection) -> Iterator[None]:
    """Turn httpx's exceptions into ClientError sentences that name the server."""
    url = connection.url
    try:
        yield
    except httpx.ConnectError as error:
        if said := tls_fault(error):
            untrusted = f"the certificate of {url} is not to be trusted: {said}"
            raise ClientError(f"{untrusted} ({connection.untrusted})") from error
        raise ClientError(f"no server answers at {url} ({connect_fault(error)})") from error
    except httpx.ProxyError as error:
        raise ClientError(f"the proxy to {url} refuses: {error}") from error
    except httpx.TimeoutException as error:
        raise ClientError(f"the server at {url} did not answer in time") from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise ClientError(f"the connection to {url} broke off ({error or type(error).__name__})") from error
