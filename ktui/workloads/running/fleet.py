"""The HTTP clients of a run: many agents over a bounded number of connections."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.headers import header_number
from ktui.workloads.running.account import Account
from ktui.workloads.running.tags import Tag

# httpx looks through all connections of a client for each request: several small clients are faster.
CONNECTIONS_PER_CLIENT = 25
MOST_CONNECTIONS = 500
MOST_BODY = 16 * 1024 * 1024  # of an answer that is kept
RETRIES = 10  # after a 429, as client-go


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as its client sees it; `body` is kept only on request."""

    status: int
    size: int
    ms: float
    body: bytes = b""
    retry_after: int = 0

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class Fleet:
    """Connections that all clients of a run share. Raises ClientError when the server is gone."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._clients: list[ApiClient] = []
        self._next = 0
        allow_open_files(MOST_CONNECTIONS * 2)

    def lend(self) -> ApiClient:
        """A client for one more agent; from a number on agents share connections."""
        place, self._next = self._next, self._next + 1
        number = place // CONNECTIONS_PER_CLIENT % (MOST_CONNECTIONS // CONNECTIONS_PER_CLIENT)
        while len(self._clients) <= number:
            self._clients.append(ApiClient(self._connection, connections=CONNECTIONS_PER_CLIENT))
        return self._clients[number]

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients))


class LoadClient:
    """One simulated client. Its requests are tagged, so that the server's figures can be told apart."""

    def __init__(self, http: ApiClient, agent: str, tag: Callable[[str], Tag], account: Account) -> None:
        self._http = http
        self._agent = agent
        self._tag = tag
        self._account = account

    async def get(self, path: str, label: str = "", *, accept: str = "", keep: bool = False) -> Answer:
        """One GET or LIST, read to its end. ClientError when no answer comes."""
        kept = bytearray()

        def take(chunk: bytes) -> None:
            if len(kept) < MOST_BODY:
                kept.extend(chunk)

        headers, tag = self._headers(label, accept)
        try:
            sent = await self._http.fire(path, headers=headers, on_chunk=take if keep else None)
        except ClientError:
            self._account.unanswered(tag)
            raise
        self._account.answered()
        after = header_number(sent.headers.get("retry-after", ""))
        return Answer(sent.status, sent.body_bytes, sent.total_ms, bytes(kept), max(0, after))

    async def get_patiently(self, path: str, label: str = "", *, accept: str = "") -> Answer:
        """As client-go: a 429 is retried after Retry-After, up to ten times."""
        answer = await self.get(path, label, accept=accept)
        for _ in range(RETRIES):
            if answer.status != 429:
                break
            await asyncio.sleep(max(1, answer.retry_after))
            answer = await self.get(path, label, accept=accept)
        return answer

    async def write(
        self, method: str, path: str, body: Any, label: str = "", *, content_type: str = "application/json"
    ) -> Answer:
        """One write. ClientError when no answer comes."""
        headers, tag = self._headers(label, "")
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            found = await self._http.request(method, path, body, content_type, headers=headers)
        except ClientError:
            self._account.unanswered(tag)
            raise
        self._account.answered()
        ms = (loop.time() - began) * 1000.0
        return Answer(found.status_code, len(found.content), ms, found.content)

    async def watch(self, path: str, label: str = "") -> AsyncGenerator[bytes, None]:
        """The pieces of a WATCH's stream. ClientError when it is refused or breaks."""
        headers, _ = self._headers(label, "")
        begun = False
        try:
            async with contextlib.aclosing(self._http.watch(path, headers)) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
        finally:
            if begun:
                self._account.answered()

    def _headers(self, label: str, accept: str) -> tuple[dict[str, str], Tag]:
        tag = self._tag(label)
        headers = {"User-Agent": tag.user_agent(self._agent)}
        return (headers | {"Accept": accept} if accept else headers), tag


def allow_open_files(wanted: int) -> None:
    """Raise the soft limit of open files as far as the hard one allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
