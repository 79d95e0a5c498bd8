"""One watch on one gRPC stream, in batches as etcd sends them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import grpc
from aetcd import rpc

from ktui.etcd import grpc_errors
from ktui.etcd.connection import EtcdConnection, WatchCall, being_cancelled
from ktui.etcd.errors import EtcdError
from ktui.etcd.ledger import LedgerEntry
from ktui.etcd.transport import Transport
from ktui.etcd.types import WatchBatch, WatchEvent, kv_of, watch_text
from ktui.telemetry.meter import current_meter

# An etcd started by kubeadm or ktui sends every watch its progress every 5 s, so no request is needed.
QUIET_SECONDS = 5.5
ANSWER_SECONDS = 3.5
LATE_SECONDS = 1.0  # if a timer fires this late, this process was stopped or busy


@dataclass(eq=False)
class WatchLiveness:
    """Detects that a watch hangs although its connection works.

    etcd, or a proxy in front of it, may stop sending on one stream and continue on the others: no call fails.
    So a silent watch gets a progress request. If it does not answer while other calls over the same
    connection are answered, it hangs, and is given up.

    `ask` sends a progress request, `give_up` ends the watch. `answers` tells whether this
    etcd has ever sent its progress: versions before 3.4, and some that only implement etcd's protocol, do not
    answer such requests, and their watches are not given up.
    """

    _connection: EtcdConnection
    _ask: Callable[[], None]
    _give_up: Callable[[float], None]
    _answers: Callable[[], bool]
    _heard_at: float = field(default_factory=time.monotonic)
    _asked_at = 0.0  # 0: a message has arrived since

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer = self._after(QUIET_SECONDS)

    def heard(self) -> None:
        self._heard_at, self._asked_at = time.monotonic(), 0.0

    def stop(self) -> None:
        self._timer.cancel()

    def _after(self, seconds: float) -> asyncio.TimerHandle:
        return self._loop.call_later(seconds, self._look, self._loop.time() + seconds)

    def _look(self, due: float) -> None:
        silent = time.monotonic() - self._heard_at
        if self._loop.time() - due > LATE_SECONDS:
            self._timer = self._after(ANSWER_SECONDS)
        elif silent < QUIET_SECONDS:
            self._timer = self._after(QUIET_SECONDS - silent)
        elif self._asked_at and self._answers() and self._connection.heard_at > self._asked_at:
            self._give_up(silent)
        else:
            if not self._asked_at:
                self._asked_at = time.monotonic()
                self._ask()
            self._timer = self._after(ANSWER_SECONDS)


_PROGRESS = rpc.WatchRequest(progress_request=rpc.WatchProgressRequest())


class WatchStream:
    """Async iterator of WatchBatch. Ends after `close`; raises CompactedError or EtcdError otherwise.

    A fragmented response is joined before it is returned, so a batch never ends in the middle of a revision.
    Has no task of its own. `created_at` is when etcd confirmed the watch (time.monotonic), 0 before.
    """

    def __init__(self, transport: Transport, request: rpc.WatchCreateRequest, purpose: str) -> None:
        self._transport = transport
        self._request = request
        self._purpose = purpose
        self._call: WatchCall | None = None
        self._connection: EtcdConnection | None = None
        self.created_at = 0.0
        self._closed = False
        self._liveness: WatchLiveness | None = None
        self._hung_seconds = 0.0  # silent until it was given up; 0: it was not
        self._asking: asyncio.Task[None] | None = None
        self._unanswered = 0  # the caller's unanswered progress requests
        self._own_unanswered = 0  # those of the liveness check
        self._writing = asyncio.Lock()

    @property
    def heard_at(self) -> float:
        """Time of etcd's last message on the watch's connection (time.monotonic), 0 before the first."""
        return self._connection.heard_at if self._connection is not None else 0.0

    def __aiter__(self) -> WatchStream:
        return self

    async def __aenter__(self) -> WatchStream:
        await self.open()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Send the create request, unless it was sent. The first read also does this."""
        if self._call is None and not self._closed:
            self._call, self._connection = await self._transport.open_watch()
            self._liveness = WatchLiveness(
                self._connection, self._ask, self._give_up, lambda: self._transport.answers_progress
            )
            await self._send(rpc.WatchRequest(create_request=self._request), "watch_create", rpcs=1)

    async def __anext__(self) -> WatchBatch:
        if self._closed:
            raise StopAsyncIteration
        await self.open()
        events: list[WatchEvent] = []
        while True:
            response = await self._read()
            if response is None:
                raise StopAsyncIteration
            self._raise_if_cancelled(response)
            if response.created:
                # A new connection may lead to another cluster, which has other revisions.
                header = response.header
                if self._transport.ledger.saw_cluster(header.cluster_id, header.revision):
                    raise EtcdError(f"etcd {self._endpoint} is another cluster than before.")
                self.created_at = time.monotonic()
                continue
            events.extend(map(_event_of, response.events))
            if not response.fragment and (events or self._is_wanted()):
                return WatchBatch(response.header.revision, events, is_progress=not events)

    async def request_progress(self) -> None:
        """Request a batch with `is_progress`: etcd's head, sent after every event up to it."""
        await self.open()
        self._unanswered += 1
        await self._send(_PROGRESS, "watch_progress")

    def _is_wanted(self) -> bool:
        """Return whether the caller requested a progress response; etcd also sends some on its own."""
        self._transport.answers_progress = True
        if self._unanswered:
            self._unanswered -= 1
        elif self._own_unanswered:
            self._own_unanswered -= 1
            return False
        return True

    def _ask(self) -> None:
        self._own_unanswered += 1
        self._asking = asyncio.create_task(self._ask_quietly(), name="watch liveness")

    async def _ask_quietly(self) -> None:
        assert self._call is not None
        body: bytes = _PROGRESS.SerializeToString()
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the read reports the error
            async with self._writing:
                await self._call.write(body)
            self._transport.ledger.charge(sent=len(body))

    def _give_up(self, silent: float) -> None:
        assert self._call is not None and self._connection is not None
        self._hung_seconds = silent
        self._transport.watch_failed(grpc_errors.hanging(self._endpoint, silent), self._connection)
        self._call.cancel()

    def _stop_liveness(self) -> None:
        """End the check, and the cycles of references that it is in."""
        if self._liveness is not None:
            self._liveness.stop()
            self._liveness = None
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    async def close(self) -> None:
        """End the stream; a pending read ends the iteration."""
        self._closed = True
        self._stop_liveness()
        if self._call is not None:
            self._call.cancel()

    async def _send(self, message: rpc.WatchRequest, op: str, rpcs: int = 0) -> None:
        assert self._call is not None
        body: bytes = message.SerializeToString()
        try:
            async with self._writing:
                await (self._call.write(body) if self.created_at else first_write(self._call, body))
        except grpc.aio.AioRpcError as error:
            raise self._fault(error) from error
        except asyncio.InvalidStateError as error:  # the stream has ended, and the read reports the error
            raise grpc_errors.unavailable("the watch stream has ended", self._endpoint) from error
        except asyncio.CancelledError as cancelled:
            if self._only_closed():
                raise grpc_errors.unavailable("the watch stream has been closed", self._endpoint) from None
            raise self._lost() or cancelled from None
        ledger = self._transport.ledger
        ledger.charge(rpcs=rpcs, sent=len(body))
        entry = LedgerEntry(op, self._purpose, sent=len(body))
        ledger.publish(entry, lambda: watch_text(message), current_meter().request_id)

    async def _read(self) -> rpc.WatchResponse | None:
        """Return the next message; None once closed."""
        assert self._call is not None
        try:
            raw = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise self._fault(error) from error
        except asyncio.CancelledError as cancelled:
            if self._only_closed():
                return None
            raise self._lost() or cancelled from None
        if raw is grpc.aio.EOF:
            if self._closed:
                return None
            raise grpc_errors.unavailable("the watch stream was ended by the server", self._endpoint)
        assert self._connection is not None
        self._connection.heard()
        if self._liveness is not None:  # None: closed meanwhile
            self._liveness.heard()
        response = rpc.WatchResponse.FromString(raw)
        self._transport.ledger.charge(received=len(raw))
        self._transport.ledger.saw_revision(response.header.revision)
        return response

    @property
    def _endpoint(self) -> str:
        return self._connection.endpoint if self._connection is not None else ""

    def _fault(self, error: grpc.aio.AioRpcError) -> EtcdError:
        assert self._connection is not None
        self._stop_liveness()
        if self._hung_seconds:
            return grpc_errors.hanging(self._endpoint, self._hung_seconds)
        fault = self._connection.fault(error)
        self._transport.watch_failed(fault, self._connection)
        return fault

    def _lost(self) -> EtcdError | None:
        """Return the error of a stream that was given up, which looks like a cancellation; else None.

        It must get no local name where it is raised: its traceback would keep that frame, the frame the
        error, and both the stream with its last message until a full collection.
        """
        if being_cancelled():
            return None
        if self._hung_seconds and not self._closed:
            return grpc_errors.hanging(self._endpoint, self._hung_seconds)
        return self._connection.ended() if self._connection is not None and not self._closed else None

    def _only_closed(self) -> bool:
        """Whether a cancellation is grpc's own after `close`, and not the task's, which looks the same."""
        return self._closed and not being_cancelled()

    def _raise_if_cancelled(self, response: rpc.WatchResponse) -> None:
        if response.compact_revision:
            self._transport.ledger.saw_compaction(response.compact_revision)
            raise grpc_errors.compacted(response.compact_revision)
        if response.canceled:
            reason = response.cancel_reason or "no reason given"
            if "permission denied" in reason or "auth" in reason:
                raise grpc_errors.denied(reason, self._endpoint)
            raise EtcdError(f"etcd {self._endpoint} cancelled the watch ({reason}).", reason)


async def first_write(call: WatchCall, body: bytes) -> None:
    """Write to a call that may not be connected yet; raise asyncio.InvalidStateError if the call ends before.

    grpc.aio's own write would wait for ever if the call is cancelled meanwhile.
    """
    writing, ending = asyncio.ensure_future(call.write(body)), asyncio.ensure_future(call.code())
    try:
        await asyncio.wait((writing, ending), return_when=asyncio.FIRST_COMPLETED)
        if not writing.done():
            raise asyncio.InvalidStateError
        writing.result()
    finally:
        writing.cancel()
        ending.cancel()
        del writing, ending  # an error's traceback holds this frame, and the task the error


def _event_of(event: rpc.Event) -> WatchEvent:
    prev_kv = kv_of(event.prev_kv) if event.HasField("prev_kv") else None
    return WatchEvent("DELETE" if event.type else "PUT", kv_of(event.kv), prev_kv)
