"""One gRPC channel to one endpoint: its calls in flight, and when etcd last answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import grpc

from ktui.etcd import grpc_errors
from ktui.etcd.errors import ConnectionLostError, EtcdError
from ktui.etcd.small_reads import NotAnsweredError, SmallReads
from ktui.etcd.types import Metadata

WatchCall: TypeAlias = grpc.aio.StreamStreamCall


class EtcdConnection:
    """A connection to one endpoint. Connects with its first call; gRPC reconnects it when it breaks.

    `number` is the endpoint's index in the configuration. `heard_at` is the time (time.monotonic) of etcd's
    last response over gRPC, 0 before the first.
    """

    def __init__(
        self, endpoint: str, channel: grpc.aio.Channel, number: int = 0, small: SmallReads | None = None
    ) -> None:
        self.endpoint = endpoint
        self.number = number
        self.heard_at = 0.0
        self.lost = False
        self._moved = False
        self.channel = channel
        self._small = small
        self._opened_at = time.monotonic()
        self._failed_at = 0.0
        self._asked_at = 0.0  # the first call since the last response or failure
        self._methods: dict[str, grpc.aio.UnaryUnaryMultiCallable] = {}
        self._calls: set[grpc.aio.Call] = set()
        self._watches: set[grpc.aio.Call] = set()

    @property
    def in_use(self) -> bool:
        self._forget_ended_watches()
        return bool(self._calls or self._watches or (self._small is not None and self._small.in_use))

    @property
    def silent_seconds(self) -> float:
        """Seconds since etcd's last response or the first attempt.

        After a failure, since the next call: gRPC reconnects for it, and the new connection may be dead. 0
        until then, as the connection is known as broken.
        """
        last = max(self.heard_at, self._opened_at)
        if last <= self._failed_at:
            last = self._asked_at
        return time.monotonic() - last if last > self._failed_at else 0.0

    def heard(self) -> None:
        self.heard_at = time.monotonic()

    async def unary(
        self, path: str, body: bytes, metadata: Metadata, seconds: float, *, small: bool = False
    ) -> bytes:
        """Return the raw response of one RPC within `seconds`. Raises EtcdError."""
        if small and self._small is not None:
            with suppress(NotAnsweredError):
                return await self._small.read(body, metadata)
        if self.lost:
            raise grpc_errors.lost(self.endpoint)
        method = self._methods.get(path)
        if method is None:
            method = self._methods[path] = self.channel.unary_unary(path)
        call = method(body, metadata=metadata, timeout=seconds)
        with self._calling(call):
            raw: bytes = await call
        self.heard()
        return raw

    async def stream(
        self, path: str, body: bytes, metadata: Metadata, seconds: float
    ) -> AsyncGenerator[bytes, None]:
        """Yield the raw messages of a server's stream, which ends within `seconds`. Raises EtcdError."""
        if self.lost:
            raise grpc_errors.lost(self.endpoint)
        call = self.channel.unary_stream(path)(body, metadata=metadata, timeout=seconds)
        with self._calling(call):
            try:
                while (raw := await call.read()) is not grpc.aio.EOF:
                    self.heard()
                    yield raw
            finally:
                call.cancel()

    @contextmanager
    def _calling(self, call: Any) -> Iterator[None]:
        """While the block waits for `call`, `give_up` can end it; its errors become EtcdErrors."""
        self._asked()
        self._calls.add(call)
        try:
            yield
        except grpc.aio.AioRpcError as error:
            raise self.fault(error) from error
        except asyncio.CancelledError as cancelled:
            raise self.ended() or cancelled from None  # no local name, which would be in a cycle
        finally:
            self._calls.discard(call)

    def watch(self, path: str, metadata: Metadata) -> WatchCall:
        """Open a bidirectional stream of raw messages; raise ConnectionLostError if given up."""
        if self.lost:
            raise grpc_errors.lost(self.endpoint)
        call = self.channel.stream_stream(path)(metadata=metadata)
        self._asked()
        self._forget_ended_watches()
        self._watches.add(call)
        return call

    def _forget_ended_watches(self) -> None:
        """Drop the calls of ended watches. (A done callback would hold its call in a cycle for ever.)"""
        self._watches = {call for call in self._watches if not call.done()}

    def _asked(self) -> None:
        if self._asked_at <= max(self.heard_at, self._failed_at):
            self._asked_at = time.monotonic()

    def fault(self, error: grpc.aio.AioRpcError) -> EtcdError:
        """Return the EtcdError for `error`, and record whether the connection works.

        An error of etcd itself is a response; an error of the transport means that the connection is broken;
        an exceeded deadline means neither.
        """
        fault = grpc_errors.from_grpc(error, self.endpoint)
        if grpc_errors.is_answer(fault):
            self.heard()
        elif error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
            self._failed_at = time.monotonic()
        return fault

    def give_up(self) -> None:
        """End all calls with ConnectionLostError: the connection is dead although it reported no error."""
        self.lost = True
        if self._small is not None:
            self._small.close()
        for call in [*self._calls, *self._watches]:
            call.cancel()

    def move_watches(self) -> None:
        """End the watches with ConnectionLostError, so that they resume elsewhere; other calls continue."""
        self._moved = True
        for call in list(self._watches):
            call.cancel()

    def ended(self) -> ConnectionLostError | None:
        """Return the error of a cancelled call if `give_up` or `move_watches` cancelled it, else None."""
        if not (self.lost or self._moved) or being_cancelled():
            return None
        return grpc_errors.lost(self.endpoint) if self.lost else grpc_errors.moved(self.endpoint)

    async def close(self) -> None:
        if self._small is not None:
            self._small.close()
        await self.channel.close()


def being_cancelled() -> bool:
    """Whether this task is being cancelled; otherwise a CancelledError is one of grpc's calls."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
