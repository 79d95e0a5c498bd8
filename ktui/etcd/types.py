"""etcd's API: the RPCs that ktui uses, its answers read from their messages, and requests as text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from aetcd import rpc

from ktui.etcd.errors import ReadOnlyError


class KV(NamedTuple):
    """One key at one revision. `lease` is 0 for none. A DELETE event has only key and mod_revision."""

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int


@dataclass(frozen=True, slots=True)
class RangeResult:
    """The answer to a Range: `count` keys in the range, etcd's `revision` at the read, `bytes` received."""

    kvs: Sequence[KV]
    count: int
    more: bool
    revision: int
    bytes: int = 0


class Put(NamedTuple):
    """A key to write."""

    key: bytes
    value: bytes
    lease: int = 0


@dataclass(frozen=True, slots=True)
class TxnResult:
    """The result of a transaction on one key. If it failed, `kv` is the current value (None: no key)."""

    succeeded: bool
    revision: int
    kv: KV | None = None


class WatchEvent(NamedTuple):
    """A change of one key. `prev_kv` is None for a created key, or if the previous value is compacted."""

    type: Literal["PUT", "DELETE"]
    kv: KV
    prev_kv: KV | None


class WatchBatch(NamedTuple):
    """Events of one or more revisions, in order; `is_progress`: no event up to `revision`."""

    revision: int
    events: Sequence[WatchEvent]
    is_progress: bool


@dataclass(frozen=True, slots=True)
class EtcdStatus:
    """One member's response to Status; `revision` is its current revision."""

    version: str
    db_size: int
    db_in_use: int
    revision: int
    errors: tuple[str, ...] = ()


SLICE_SECONDS = 0.004
_AT_ONCE = 1 << 20  # bytes; protobuf parses this in well under a millisecond
_STREAMED_TAG = 0x0A  # RangeStreamResponse.range_response = 1, length-delimited
_KVS_TAG = 0x12  # RangeResponse.kvs = 2, length-delimited


def kv_of(kv: rpc.KeyValue) -> KV:
    return KV(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease)


async def decode_range(raw: bytes) -> tuple[rpc.RangeResponse, list[KV]]:
    """The response and its keys. A large response is decoded key by key, and the loop runs every few ms."""
    if len(raw) <= _AT_ONCE:
        response = rpc.RangeResponse.FromString(raw)
        return response, [kv_of(message) for message in response.kvs]
    return await _decode_sliced(raw)


async def _decode_sliced(raw: bytes) -> tuple[rpc.RangeResponse, list[KV]]:
    view, position, end = memoryview(raw), 0, len(raw)
    parse = rpc.KeyValue.FromString
    kvs: list[KV] = []
    rest = bytearray()  # header, more, count: small parts that protobuf parses
    deadline = time.perf_counter() + SLICE_SECONDS
    while position < end:
        begin = position
        tag = raw[position]
        size, position = _varint(raw, position + 1)
        if tag & 7 == 2:
            if tag == _KVS_TAG:
                kvs.append(kv_of(parse(view[position : position + size])))
                begin = position + size
            position += size
        rest += raw[begin:position]
        if time.perf_counter() > deadline:
            await asyncio.sleep(0)
            deadline = time.perf_counter() + SLICE_SECONDS
    return rpc.RangeResponse.FromString(bytes(rest)), kvs


def streamed_range(raw: bytes) -> bytes:
    """Return the RangeResponse inside a RangeStreamResponse, its only field (1); b"" for an empty message.

    aetcd's messages are of an etcd before 3.7. Raises ValueError for anything else.
    """
    if not raw:
        return b""
    size, start = _varint(raw, 1)
    if raw[0] != _STREAMED_TAG or start + size != len(raw):
        raise ValueError("not a RangeStreamResponse")
    return raw[start:]


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def quote_key(key: bytes) -> str:
    """Return a quoted key, with non-printable and non-ASCII bytes in octal, as in protobuf's text form."""
    return '"' + "".join(_BYTES[byte] for byte in key) + '"'


_NAMED = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 92: "\\\\"}
_BYTES = [_NAMED.get(at, chr(at) if 0x20 <= at < 0x7F else f"\\{at:03o}") for at in range(256)]


def _members(message: Message, numbers: tuple[str, ...], flags: tuple[str, ...]) -> str:
    parts = [f"key:{quote_key(message.key)}"]
    if message.range_end:
        parts.append(f"range_end:{quote_key(message.range_end)}")
    parts += [f"{name}:{value}" for name in numbers if (value := getattr(message, name))]
    return " ".join(parts + [f"{name}:true" for name in flags if getattr(message, name)])


def range_text(request: rpc.RangeRequest) -> str:
    """Return `key:"/registry/pods/" range_end:"/registry/pods0" limit:500 revision:7`."""
    return _members(request, ("limit", "revision"), ("keys_only", "count_only"))


def txn_text(request: rpc.TxnRequest) -> str:
    """`compare:<target:MOD key:"…" mod_revision:0 > success:<request_put:<key:"…" value_size:9 >> …`."""
    compared = " ".join(
        f"compare:<target:MOD key:{quote_key(c.key)} mod_revision:{c.mod_revision} >" for c in request.compare
    )
    success = " ".join(_op_text(op) for op in request.success)
    failure = " ".join(_op_text(op) for op in request.failure)
    return f"{compared} success:<{success}> failure:<{failure}>"


def _op_text(op: rpc.RequestOp) -> str:
    if op.HasField("request_put"):
        put = op.request_put
        lease = f" lease:{put.lease}" if put.lease else ""
        return f"request_put:<key:{quote_key(put.key)} value_size:{len(put.value)}{lease} >"
    if op.HasField("request_delete_range"):
        return f"request_delete_range:<key:{quote_key(op.request_delete_range.key)} >"
    return f"request_range:<{range_text(op.request_range)} >"


def watch_text(request: rpc.WatchRequest) -> str:
    """Return `create_request:<key:"…" range_end:"…" start_revision:9 progress_notify:true prev_kv:true >`."""
    if request.HasField("progress_request"):
        return "progress_request:<>"
    flags = ("progress_notify", "prev_kv", "fragment")
    return f"create_request:<{_members(request.create_request, ('start_revision',), flags)} >"


def other_text(request: object) -> str:
    """Return a small request (lease, compaction) in protobuf's own text form, on one line."""
    return " ".join(str(request).split())


@dataclass(frozen=True, slots=True)
class Rpc:
    """A method of etcd. `harmless`: it changes nothing; `linearizable`: no earlier answer is newer."""

    op: str  # its name in telemetry
    path: str
    harmless: bool
    timeout: float = 60.0  # seconds
    linearizable: bool = False

    def check(self, read_only: bool) -> None:
        """Raise ReadOnlyError unless the RPC may be sent."""
        if read_only and not self.harmless:
            raise ReadOnlyError(
                f"{self.op} is not sent: ktui only reads this etcd; --allow-writes lifts that."
            )


RANGE = Rpc("range", "/etcdserverpb.KV/Range", harmless=True, linearizable=True)
# etcd 3.7 and later; a read of gigabytes may take long, and is ended by its own reader.
RANGE_STREAM = Rpc("range_stream", "/etcdserverpb.KV/RangeStream", harmless=True, timeout=600.0)
STATUS = Rpc("status", "/etcdserverpb.Maintenance/Status", harmless=True, timeout=5.0)
WATCH = Rpc("watch_create", "/etcdserverpb.Watch/Watch", harmless=True)
AUTHENTICATE = Rpc("authenticate", "/etcdserverpb.Auth/Authenticate", harmless=True, timeout=5.0)
TXN = Rpc("txn", "/etcdserverpb.KV/Txn", harmless=False, linearizable=True)
COMPACT = Rpc("compact", "/etcdserverpb.KV/Compact", harmless=False)
LEASE_GRANT = Rpc("lease_grant", "/etcdserverpb.Lease/LeaseGrant", harmless=False)
ALARM = Rpc("alarm", "/etcdserverpb.Maintenance/Alarm", harmless=False)
# It only reads, but a read-only connection sends only Range, Watch and Status.
LEASE_TTL = Rpc("lease_ttl", "/etcdserverpb.Lease/LeaseTimeToLive", harmless=False)

Metadata = tuple[tuple[str, str], ...]
Message = Any  # a protobuf message: aetcd ships no types
