"""The HTTP clients of a run: many agents over a bounded number of connections."""

from __future__ import annotations

import asyncio
import resource
import ssl
import time
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from ktui.client.api import RefusedError
from ktui.client.connection import ClientError, ServerConnection, retry_after
from ktui.client.list_stream import ListBody, ListEnvelope, ListMeta
from ktui.workloads.running.account import Account
from ktui.workloads.running.figures import REJECTED
from ktui.workloads.running.users import CAUSE, LoadUser, Tag

MOST_CONNECTIONS = 500
MOST_BODY = 64 * 1024  # bytes of an answer to keep: a List's metadata comes before its items
MOST_LIST = 16 * 1024 * 1024  # bytes of a List whose items the client needs
RETRIES = 10  # repetitions after an answer with Retry-After, as in client-go
GZIP = 16 + zlib.MAX_WBITS
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=120)
UNBOUNDED = aiohttp.ClientTimeout(total=None, sock_connect=30)


@dataclass(frozen=True, slots=True)
class LoadAnswer:
    """An answer as its client sees it; the beginning of its body is kept only on request."""

    status: int
    size: int
    ms: float
    body: bytes = b""
    retry_after: int = 0

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def metadata(self) -> ListMeta:
        """Metadata of the object or List in the kept body."""
        return self._envelope.metadata

    @property
    def message(self) -> str:
        """The message of a Status in the kept body, or the beginning of a text that is not JSON."""
        return self._envelope.message

    @property
    def _envelope(self) -> ListEnvelope:
        body = ListBody(collection=True)
        body.feed(self.body)
        return body.envelope()


class Fleet:
    """Connections that all clients of a run share; methods raise ClientError if the server is unreachable.

    `impersonates`: clients act as the users for which they stand (`kubectl --as`). Only used for ktui's
    server: elsewhere it needs rights.
    """

    def __init__(self, connection: ServerConnection, *, impersonates: bool = False) -> None:
        self.connection = connection
        self.impersonates = impersonates
        allow_open_files(MOST_CONNECTIONS * 2)
        trust = connection.ssl_context()
        self._session = aiohttp.ClientSession(
            headers={"Accept": "application/json", "Accept-Encoding": "gzip", **connection.headers()},
            connector=aiohttp.TCPConnector(
                limit=MOST_CONNECTIONS, ssl=trust if isinstance(trust, ssl.SSLContext) else False
            ),
            skip_auto_headers=("User-Agent",),
            auto_decompress=False,  # not decompressed unless needed, to leave the CPU to the measured server
            trust_env=False,
        )

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise self.connection.timed_out() from error
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            connecting = isinstance(error, aiohttp.ClientConnectorError)
            raise self.connection.failed(error, connecting=connecting) from error

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], *, body: Any = None, keep: int = 0
    ) -> LoadAnswer:
        """Send a request and read its answer to the end, keeping `keep` bytes; raise ClientError without an
        answer.

        Only an answer of which bytes are kept is decompressed; the `size` of another is its compressed size.
        """
        data = None if body is None else msgspec.json.encode(body)
        began, size, kept = time.perf_counter(), 0, bytearray()
        with self._clear_errors():
            async with self._open(method, path, headers, data, TIMEOUT) as response:
                packed = keep and response.headers.get("Content-Encoding") == "gzip"
                unpack = zlib.decompressobj(GZIP).decompress if packed else bytes
                async for piece in response.content.iter_any():
                    chunk = unpack(piece)
                    size += len(chunk)
                    if len(kept) < keep:
                        kept += chunk
        ms = (time.perf_counter() - began) * 1000.0
        return LoadAnswer(response.status, size, ms, bytes(kept), retry_after(response.headers))

    async def stream(self, path: str, headers: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of a long-lasting stream; raise ClientError if it is refused or breaks."""
        with self._clear_errors():
            async with self._open("GET", path, headers, None, UNBOUNDED) as response:
                if response.status != 200:
                    refusal = f"the watch is refused: HTTP {response.status}"
                    raise RefusedError(refusal, response.status, response.headers, b"")
                async for chunk in response.content.iter_any():
                    yield chunk

    def _open(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes | None,
        timeout: aiohttp.ClientTimeout,
    ) -> Any:  # fmt: skip
        connection = self.connection
        return self._session.request(
            method, URL(connection.url + path, encoded=True), headers=headers, data=data, timeout=timeout,
            proxy=connection.proxy, server_hostname=connection.server_name or None, allow_redirects=False,
        )  # fmt: skip

    async def close(self) -> None:
        await self._session.close()


class LoadClient:
    """One simulated client. Its requests are tagged, so that the server's figures can be assigned to it."""

    def __init__(
        self, fleet: Fleet, agent: str, user: LoadUser, tag: Callable[[str], Tag], account: Account
    ) -> None:
        self._fleet = fleet
        self._agent = agent
        self._tag = tag
        self._account = account
        self._headers = user.headers() if fleet.impersonates else {}
        self._cut: Tag | None = None  # of the last request, if it was cancelled before its answer

    async def get(self, path: str, label: str = "", *, accept: str = "", keep: bool = False) -> LoadAnswer:
        """Send one GET or LIST and read it to the end; raise ClientError without an answer."""
        headers = {"Accept": accept} if accept else {}
        return await self._send("GET", path, label, headers, keep=MOST_BODY if keep else 0)

    async def read(self, path: str, label: str = "", cause: str = "") -> LoadAnswer:
        """Send one GET or LIST, return its body up to 16 MiB; raise ClientError without an answer."""
        return await self._send("GET", path, label, {}, keep=MOST_LIST, cause=cause)

    async def get_with_retries(
        self, path: str, label: str = "", *, accept: str = "", retries: int = RETRIES
    ) -> LoadAnswer:
        return await with_retries(lambda: self.get(path, label, accept=accept), retries)

    async def write(
        self, method: str, path: str, body: Any, label: str = "", *, content_type: str = "application/json",
        cause: str = "",
    ) -> LoadAnswer:  # fmt: skip
        """Send one write that reacts to the resourceVersion `cause`; raise ClientError without an answer."""
        headers = {"Content-Type": content_type}
        return await self._send(method, path, label, headers, body=body, keep=MOST_BODY, cause=cause)

    async def watch(self, path: str, label: str = "", *, accept: str = "") -> AsyncGenerator[bytes, None]:
        """Yield the pieces of a WATCH's stream; raise ClientError if it is refused or breaks.

        As in client-go, a WATCH that is refused with Retry-After is repeated after it, up to ten times.
        """
        for left in reversed(range(RETRIES + 1)):
            tag = self._tag(label)
            begun = False
            headers = {"User-Agent": tag.user_agent(self._agent), **self._headers}
            stream = self._fleet.stream(path, headers | ({"Accept": accept} if accept else {}))
            try:
                async for piece in stream:
                    begun = True
                    yield piece
                return
            except RefusedError as refusal:
                begun = True
                if not left or not refusal.retry_after:
                    raise
                after = refusal.retry_after
            finally:
                await stream.aclose()
                if begun:
                    self._account.answered()
            await asyncio.sleep(after)

    async def _send(
        self, method: str, path: str, label: str, headers: dict[str, str], *, body: Any = None, keep: int = 0,
        cause: str = "",
    ) -> LoadAnswer:  # fmt: skip
        tag = self._tag(label)
        agent = f"{self._agent} {CAUSE}{cause}" if cause else self._agent
        headers |= {"User-Agent": tag.user_agent(agent), **self._headers}
        self._cut = tag
        with self._account.waits():
            try:
                answer = await self._fleet.send(method, path, headers, body=body, keep=keep)
            except ClientError:
                self._cut = None
                self._account.unanswered(tag)
                raise
        self._cut = None
        self._account.answered()
        return answer

    def gave_up(self) -> None:
        """Count the request that a timeout of the client's own has just cut off as one without an answer."""
        if self._cut is not None:
            self._account.unanswered(self._cut)
            self._cut = None


async def with_retries(send: Callable[[], Awaitable[LoadAnswer]], retries: int) -> LoadAnswer:
    """Send a request as client-go does: a 429 is repeated after Retry-After, up to `retries` times."""
    answer = await send()
    for _ in range(retries):
        if answer.status != REJECTED:
            break
        await asyncio.sleep(max(1, answer.retry_after))
        answer = await send()
    return answer


def allow_open_files(wanted: int) -> None:
    """Raise the soft limit of open files to `wanted`, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
