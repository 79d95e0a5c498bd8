"""The etcd client, which sends all of ktui's requests to etcd."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TypeVar

from aetcd import rpc

from ktui.contract.events import EtcdUsage
from ktui.etcd import grpc_errors, types
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.connection_liveness import Liveness
from ktui.etcd.errors import PermissionDeniedError, UnimplementedError, UnreachableError
from ktui.etcd.transport import Decoded, Transport
from ktui.etcd.types import (
    EtcdStatus,
    Message,
    Put,
    RangeResult,
    Rpc,
    TxnResult,
    decode_range,
    kv_of,
    other_text,
    range_text,
    streamed_range,
    txn_text,
)
from ktui.etcd.watch import WatchStream
from ktui.supervision import Supervisor, stop
from ktui.telemetry.bus import Bus

T = TypeVar("T")

_ALARM = re.compile(r"alarm:(\w+)")
# Why etcd refuses writes and what to do, by alarm.
_SENTENCES = {
    "NOSPACE": "its database has reached the quota (alarm NOSPACE); compact, defragment and disarm the alarm",
    "CORRUPT": "its members hold different data (alarm CORRUPT); replace the member that is wrong",
}


# kube-apiserver's rangeStreamRecheckInterval (seconds).
RECHECK_SECONDS = 600.0


class RangeStreams:
    """Whether etcd implements RangeStream, found by trying: versions that etcds report may be emulated.

    kube-apiserver 1.37: assumed at first; after an Unimplemented not asked again for 10 minutes. etcd's own
    gRPC proxy never implements it. `known` is None before the first answer.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.known: bool | None = None
        self._clock = clock
        self._refused_at = 0.0

    @property
    def supported(self) -> bool | None:
        """As `known`, and None again when it is time to ask again."""
        return None if self.known is False and not self.recheck_in else self.known

    @property
    def recheck_in(self) -> float:
        """Seconds until etcd is asked again; 0 if it may be asked now."""
        if self.known is not False:
            return 0.0
        return max(0.0, self._refused_at + RECHECK_SECONDS - self._clock())

    def works(self) -> None:
        self.known = True

    def unimplemented(self) -> None:
        self.known, self._refused_at = False, self._clock()


class EtcdClient:
    """One etcd cluster. Methods raise EtcdError; those that write also ReadOnlyError, before they send."""

    def __init__(self, config: EtcdConfig, bus: Bus, supervisor: Supervisor | None = None) -> None:
        self._transport = Transport(config, bus)
        self.read_only = config.read_only
        self.endpoints = self._transport.endpoints.all
        self.ledger = self._transport.ledger
        self._supervisor = supervisor or Supervisor()
        self._liveness: asyncio.Task[None] | None = None
        self.version = ""
        self.range_streams = RangeStreams()

    @classmethod
    async def connect(cls, config: EtcdConfig, bus: Bus, supervisor: Supervisor | None = None) -> EtcdClient:
        """Return a client whose etcd has answered a Status request, or denied it to this user.

        Newer etcds (3.5.30) answer Status for the root role only; otherwise their version stays unknown.
        UnreachableError reports for every endpoint how far the connection got.
        """
        client = cls(config, bus, supervisor)
        try:
            with contextlib.suppress(PermissionDeniedError):
                await client.status(purpose="connect")
        except UnreachableError as error:
            found = await client._transport.endpoints.probe()
            await client.close()
            raise grpc_errors.none_answers(error, client.endpoints, found) from error
        except BaseException:
            await client.close()
            raise
        work = Liveness(client._transport).run
        client._liveness = client._supervisor.start("the watch over connections to etcd", work)
        return client

    async def close(self) -> None:
        await stop(self._liveness)
        await self._transport.close()

    @property
    def head(self) -> int:
        """The greatest revision of any response."""
        return self.ledger.head

    @property
    def usage(self) -> EtcdUsage:
        return self.ledger.usage

    async def status(self, purpose: str = "status") -> EtcdStatus:
        """Return version, size and revision of the endpoint in use."""

        def read(answer: rpc.StatusResponse) -> EtcdStatus:
            sizes = answer.dbSize, answer.dbSizeInUse
            return EtcdStatus(answer.version, *sizes, answer.header.revision, tuple(answer.errors))

        status = await self._small(types.STATUS, rpc.StatusRequest(), rpc.StatusResponse, purpose, read)
        self.version = status.version
        self.ledger.saw_size(status.db_size, status.db_in_use)
        raised = {found[1] for text in status.errors for found in _ALARM.finditer(text)}
        self.ledger.saw_alarm(next((why for name, why in _SENTENCES.items() if name in raised), ""))
        return status

    async def range(
        self,
        key: bytes,
        range_end: bytes = b"",
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
        count_only: bool = False,
        purpose: str = "",
    ) -> RangeResult:
        """Read one key or [key, range_end), at `revision` (0: now). CompactedError, FutureRevisionError."""
        request = rpc.RangeRequest(
            key=key, range_end=range_end, limit=limit, revision=revision,
            keys_only=keys_only, count_only=count_only,
        )  # fmt: skip
        small = not range_end
        return await self._transport.call(
            types.RANGE, request, _range_result, range_text, purpose, small=small
        )

    async def range_stream(
        self, key: bytes, range_end: bytes, *, limit: int = 0, revision: int = 0, purpose: str = ""
    ) -> AsyncGenerator[RangeResult, None]:
        """Yield [key, range_end) in the chunks that etcd (3.7 and later) sends, all at one revision.

        Only the last chunk has revision, count and `more`: the limit has left keys out. `range_streams` says
        whether to try: raises UnimplementedError before the first chunk where etcd lacks the RPC, and errors
        of `range`.
        """
        request = rpc.RangeRequest(key=key, range_end=range_end, limit=limit, revision=revision)

        async def decode(raw: bytes) -> Decoded[RangeResult]:
            return await _range_result(streamed_range(raw))

        stream = self._transport.stream(types.RANGE_STREAM, request, decode, text=range_text, purpose=purpose)
        try:
            async with aclosing(stream) as results:
                async for result in results:
                    self.range_streams.works()
                    self.ledger.saw_streams(0.0)
                    yield result
        except UnimplementedError:
            self.range_streams.unimplemented()
            self.ledger.saw_streams(time.time() + RECHECK_SECONDS)
            raise

    async def create(self, key: bytes, value: bytes, lease: int = 0, purpose: str = "create") -> TxnResult:
        """Put `key` if it does not exist (mod_revision = 0)."""
        return await self.create_all([Put(key, value, lease)], purpose)

    async def create_all(self, puts: Sequence[Put], purpose: str = "create") -> TxnResult:
        """Put all of them, at most 128, if none of the keys exists: all at one revision."""
        compare = [_unmodified(put.key, 0) for put in puts]
        request = rpc.TxnRequest(compare=compare, success=[_put(*put) for put in puts])
        return await self._txn(request, purpose)

    async def update(
        self, key: bytes, value: bytes, mod_revision: int, lease: int = 0, purpose: str = "update"
    ) -> TxnResult:
        """Put `key` if it is still at `mod_revision`; otherwise the result has the current value."""
        request = rpc.TxnRequest(
            compare=[_unmodified(key, mod_revision)], success=[_put(key, value, lease)], failure=[_get(key)]
        )
        return await self._txn(request, purpose)

    async def delete(self, key: bytes, mod_revision: int, purpose: str = "delete") -> TxnResult:
        """Delete `key` if it is still at `mod_revision`; otherwise the result has the current value."""
        delete = rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=key))
        request = rpc.TxnRequest(
            compare=[_unmodified(key, mod_revision)], success=[delete], failure=[_get(key)]
        )
        return await self._txn(request, purpose)

    async def grant_lease(self, ttl: int) -> int:
        """Return the id of a new lease of `ttl` seconds (etcd may round it up)."""
        request, response = rpc.LeaseGrantRequest(TTL=ttl), rpc.LeaseGrantResponse
        return await self._small(types.LEASE_GRANT, request, response, "lease", lambda answer: int(answer.ID))

    async def lease_ttl(self, lease: int) -> int:
        """Return the seconds until a lease expires, -1 if it has. Not for read-only clients (types.py)."""
        request, response = rpc.LeaseTimeToLiveRequest(ID=lease), rpc.LeaseTimeToLiveResponse
        return await self._small(types.LEASE_TTL, request, response, "lease", lambda answer: int(answer.TTL))

    async def compact(self, revision: int) -> None:
        """Compact etcd: drop every revision before `revision`."""
        request = rpc.CompactionRequest(revision=revision)
        await self._small(types.COMPACT, request, rpc.CompactionResponse, "compact", lambda _: None)
        self.ledger.saw_compaction(revision)

    async def set_no_space(self, raised: bool) -> None:
        """Raise or disarm the alarm NOSPACE. As with a full quota, etcd refuses writes while it is raised."""
        action = rpc.AlarmRequest.ACTIVATE if raised else rpc.AlarmRequest.DEACTIVATE
        request = rpc.AlarmRequest(action=action, alarm=rpc.NOSPACE)
        await self._small(types.ALARM, request, rpc.AlarmResponse, "alarm", lambda _: None)

    def reroute(self, to: str = "", watches: str = "") -> None:
        """Send everything, or only watches, through another endpoint (a proxy); "": as configured."""
        self._transport.endpoints.reroute(to, watches)

    def watch(
        self,
        key: bytes,
        range_end: bytes = b"",
        start_revision: int = 0,
        *,
        prev_kv: bool = True,
        progress_notify: bool = True,
        purpose: str = "watch",
    ) -> WatchStream:
        """Return a stream for one watch, which opens with the first read. Close it, or use `async with`."""
        request = rpc.WatchCreateRequest(
            key=key, range_end=range_end, start_revision=start_revision,
            prev_kv=prev_kv, progress_notify=progress_notify, fragment=True,
        )  # fmt: skip
        return WatchStream(self._transport, request, purpose)

    async def _small(
        self, method: Rpc, request: Message, response: Message, purpose: str, read: Callable[[Message], T]
    ) -> T:
        """Send an RPC without keys; return what `read` takes from its answer (a `response`)."""

        async def decode(raw: bytes) -> Decoded[T]:
            answer = response.FromString(raw)
            return Decoded(read(answer), answer.header)

        return await self._transport.call(method, request, decode, other_text, purpose)

    async def _txn(self, request: rpc.TxnRequest, purpose: str) -> TxnResult:
        return await self._transport.call(types.TXN, request, _txn_result, txn_text, purpose)


async def _range_result(raw: bytes) -> Decoded[RangeResult]:
    answer, kvs = await decode_range(raw)
    header = answer.header
    return Decoded(RangeResult(kvs, answer.count, answer.more, header.revision, len(raw)), header, len(kvs))


async def _txn_result(raw: bytes) -> Decoded[TxnResult]:
    answer = rpc.TxnResponse.FromString(raw)
    found = [kv for op in answer.responses for kv in op.response_range.kvs]
    kv = kv_of(found[0]) if found else None
    return Decoded(TxnResult(answer.succeeded, answer.header.revision, kv), answer.header, len(found))


def _unmodified(key: bytes, mod_revision: int) -> rpc.Compare:
    return rpc.Compare(key=key, target=rpc.Compare.MOD, result=rpc.Compare.EQUAL, mod_revision=mod_revision)


def _put(key: bytes, value: bytes, lease: int) -> rpc.RequestOp:
    return rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value, lease=lease))


def _get(key: bytes) -> rpc.RequestOp:
    return rpc.RequestOp(request_range=rpc.RangeRequest(key=key))
