"""Send every RPC: read-only guard, failover, auth token, ledger, meter."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from aetcd import rpc

from ktui.etcd import grpc_errors
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.connection import EtcdConnection, WatchCall
from ktui.etcd.endpoints import Endpoints
from ktui.etcd.errors import (
    AuthenticationError,
    ConnectionLostError,
    EtcdError,
    PermissionDeniedError,
    UnreachableError,
)
from ktui.etcd.ledger import Ledger, LedgerEntry
from ktui.etcd.types import AUTHENTICATE, RANGE, WATCH, Message, Metadata, Rpc, range_text
from ktui.telemetry.bus import Bus

T = TypeVar("T")
Header: TypeAlias = Any  # etcd's ResponseHeader: aetcd ships no types

# etcdctl's and kube-apiserver's health checks also read a key `health`; it need not exist.
_PING_REQUEST = rpc.RangeRequest(key=b"health", count_only=True)
_PING: bytes = _PING_REQUEST.SerializeToString()
PING_SECONDS = 30.0


class Decoded(NamedTuple, Generic[T]):
    """A response with its header and number of keys, for the ledger."""

    value: T
    header: Header
    keys: int = 0


class Transport:
    """Sends requests and returns raw responses; the caller decodes them."""

    def __init__(self, config: EtcdConfig, bus: Bus) -> None:
        self.read_only = config.read_only
        self.endpoints = Endpoints(config)
        self.ledger = Ledger(bus)
        self._config = config
        self._token = ""
        self.answers_progress = False  # whether a watch has ever received a progress notification

    async def call(
        self,
        method: Rpc,
        request: Message,
        decode: Callable[[bytes], Awaitable[Decoded[T]]],
        text: Callable[[Message], str],
        purpose: str,
        *,
        small: bool = False,
    ) -> T:
        """Send one RPC, with failover; count, meter and publish it. Raises EtcdError.

        `small`: a Range of one key, which has a connection of its own (small_reads.py).
        """
        method.check(self.read_only)
        body: bytes = request.SerializeToString()
        entry = LedgerEntry(method.op, purpose, sent=len(body))
        started, known = time.perf_counter(), self.ledger.head
        try:
            raw = await self._with_failover(method, body, small)
            decoded = await decode(raw)
        except EtcdError as error:
            self._note(entry, error, lambda: text(request))
            raise
        else:
            revision: int = decoded.header.revision
            entry.received, entry.keys, entry.revision = len(raw), decoded.keys, revision
            self.ledger.answered()
            other = self.ledger.saw_cluster(decoded.header.cluster_id, revision)
            if not other and method.linearizable and 0 < revision < known:
                self.ledger.went_back(revision)
            return decoded.value
        finally:
            entry.ms = (time.perf_counter() - started) * 1000.0
            self.ledger.book(entry, lambda: text(request))

    async def stream(
        self,
        method: Rpc,
        request: Message,
        decode: Callable[[bytes], Awaitable[Decoded[T]]],
        *,
        text: Callable[[Message], str],
        purpose: str,
    ) -> AsyncGenerator[T, None]:
        """Send one RPC and yield its messages; counted, metered and published at its end. Raises EtcdError.

        Another endpoint is tried only before the first message: later ones could be of another revision.
        """
        method.check(self.read_only)
        body: bytes = request.SerializeToString()
        entry = LedgerEntry(method.op, purpose, sent=len(body))
        try:
            async with aclosing(self._messages(method, body, entry)) as messages:
                async for raw in messages:
                    decoded = await decode(raw)
                    entry.received += len(raw)
                    entry.keys += decoded.keys
                    entry.revision = max(entry.revision, decoded.header.revision)
                    yield decoded.value
            self.ledger.answered()
        except EtcdError as error:
            self._note(entry, error, lambda: text(request))
            raise
        finally:
            self.ledger.book(entry, lambda: text(request))

    async def _messages(self, method: Rpc, body: bytes, entry: LedgerEntry) -> AsyncGenerator[bytes, None]:
        """Yield the messages of a stream from the first endpoint that sends one; add the time of waiting."""
        renewed, tries = False, len(self.endpoints)
        while True:
            tries -= 1
            connection, begun, since = self.endpoints.connection(), False, time.perf_counter()
            try:
                async with aclosing(
                    connection.stream(method.path, body, await self._credentials(), method.timeout)
                ) as messages:
                    async for raw in messages:
                        begun = True
                        entry.ms += (time.perf_counter() - since) * 1000.0
                        yield raw
                        since = time.perf_counter()
                entry.ms += (time.perf_counter() - since) * 1000.0
                return
            except AuthenticationError:
                if begun or renewed or not self._token:
                    raise
                renewed, self._token, tries = True, "", tries + 1
            except UnreachableError as error:
                self._failed(error, connection)
                if begun or tries <= 0:
                    raise

    async def open_watch(self) -> tuple[WatchCall, EtcdConnection]:
        """Return a bidirectional stream of raw messages and its connection; it ends if etcd has no leader."""
        WATCH.check(self.read_only)
        credentials = await self._credentials()
        connection = self.endpoints.watch_connection()
        return connection.watch(WATCH.path, (("hasleader", "true"), *credentials)), connection

    def watch_failed(self, error: EtcdError, connection: EtcdConnection) -> None:
        """Record that a watch stream has failed; the next one uses another endpoint if this one failed."""
        self._failed(error, connection)
        self.ledger.failed(error)

    async def ping(self, connection: EtcdConnection) -> bool:
        """Whether etcd answers a linearizable read of one key over `connection`, even with an error."""
        entry = LedgerEntry(RANGE.op, "liveness", sent=len(_PING))
        started = time.perf_counter()
        try:
            token = (("token", self._token),) if self._token else ()
            raw = await connection.unary(RANGE.path, _PING, token, PING_SECONDS)
            entry.received = len(raw)
        except EtcdError as error:
            entry.error = str(error)
            return grpc_errors.is_answer(error) and not isinstance(error, UnreachableError)
        finally:
            entry.ms = (time.perf_counter() - started) * 1000.0
            self.ledger.book(entry, lambda: range_text(_PING_REQUEST))
        return True

    def _note(self, entry: LedgerEntry, error: EtcdError, text: Callable[[], str]) -> None:
        """Record an RPC's error; instead of a denial raise one that names the request."""
        entry.error = str(error)
        if isinstance(error, PermissionDeniedError):
            raise grpc_errors.denied(error.detail, self.endpoints.active, text()) from error
        self.ledger.failed(error)

    async def close(self) -> None:
        self.ledger.close()
        await self.endpoints.close()

    async def _with_failover(self, method: Rpc, body: bytes, small: bool) -> bytes:
        """Try one endpoint after the other; repeat a write only if it was certainly not sent."""
        renewed = False
        tries = len(self.endpoints)
        while True:
            tries -= 1
            try:
                return await self._send(method, body, await self._credentials(), small)
            except AuthenticationError:
                if renewed or not self._token:
                    raise
                renewed, self._token, tries = True, "", tries + 1
            except ConnectionLostError:
                if not method.harmless:  # whether the write was applied is unknown
                    raise
                tries += 1  # the connection that replaced it works
            except UnreachableError as error:
                if tries <= 0 or not (method.harmless or grpc_errors.never_sent(error)):
                    raise

    async def _send(self, method: Rpc, body: bytes, metadata: Metadata, small: bool = False) -> bytes:
        connection = self.endpoints.connection()
        try:
            return await connection.unary(method.path, body, metadata, method.timeout, small=small)
        except UnreachableError as error:
            self._failed(error, connection)
            raise

    def _failed(self, error: EtcdError, connection: EtcdConnection) -> None:
        if isinstance(error, UnreachableError) and not connection.lost:
            self.endpoints.rotate(connection)

    async def _credentials(self) -> Metadata:
        """Return etcd's auth token for user and password, requesting it if there is none."""
        if not self._config.user:
            return ()
        if not self._token:
            request = rpc.AuthenticateRequest(name=self._config.user, password=self._config.password)
            body = request.SerializeToString()
            raw = await self._send(AUTHENTICATE, body, ())
            self.ledger.charge(rpcs=1, sent=len(body), received=len(raw))
            self._token = rpc.AuthenticateResponse.FromString(raw).token
        return (("token", self._token),)
