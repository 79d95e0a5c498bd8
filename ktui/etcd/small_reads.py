"""Reads of single keys over an HTTP/2 connection of their own, at a fifth of grpc.aio's processor time.

Each GET, consistent LIST and write waits for such a read of etcd. grpc.aio takes 95 to 300 µs of processor
time for one and passes it through two threads; this takes 17 to 60 µs on the loop. It knows one answer only:
one message, then grpc-status 0. Whatever else comes (an error, GOAWAY, a broken or silent connection) raises
NotAnsweredError, and the caller repeats the read over gRPC, which reports errors and moves to other
endpoints. So it is for reads alone. Frames are RFC 9113's; header blocks (none is decoded) RFC 7541's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from ktui.etcd.client_config import Endpoint
from ktui.etcd.types import RANGE, Metadata

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
RETRY_SECONDS = 5.0  # after a connection broke or could not be made
SILENT_SECONDS = 3.0  # without a byte while a read waits: the connection is given up
SLOW_SECONDS = 10.0  # for one read while others are answered
_GREATEST = (1 << 31) - 1  # of a window, and of a stream's number
_FRAME = 1 << 14  # bytes of a frame's payload, the least that both sides must accept
_RENEW = 1 << 24  # received bytes after which the connection's window is opened again
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
_END_STREAM = _ACK = 1
_END_HEADERS = 4
_MAX_STREAMS, _CANCEL = 3, 8
# grpc-status: 0, then with an empty grpc-message, as Go's servers encode them without a dynamic table.
_STATUS_0 = bytes.fromhex("00889acac8b21234da8f0130")
_OK = (_STATUS_0, _STATUS_0 + bytes.fromhex("00899acac8b5254207317f00"))
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")


class NotAnsweredError(Exception):
    """The read has no answer that is understood here; it may be repeated over gRPC."""


@dataclass(slots=True)
class _Read:
    answer: asyncio.Future[bytes]
    since: float  # the loop's time
    parts: list[bytes] = field(default_factory=list)


class SmallReads(asyncio.Protocol):
    """The connection to one endpoint, made when the first read wants it; that one does not wait for it."""

    def __init__(
        self, endpoint: Endpoint, context: Callable[[], ssl.SSLContext], server_name: str = ""
    ) -> None:
        """`context` returns what TLS needs; `server_name` is checked instead of the endpoint's host."""
        self._endpoint = endpoint
        self._context = context
        self._server_name = server_name
        self._transport: asyncio.Transport | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._retry_at = 0.0
        if not endpoint.loopback and any(
            os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES
        ):
            self._retry_at = float("inf")  # gRPC goes through the proxy
        self._timer: asyncio.TimerHandle | None = None
        self._reads: dict[int, _Read] = {}
        self._head: tuple[Metadata | None, bytes] = (None, b"")
        self._begin()

    def _begin(self) -> None:
        """A connection's state before the server's SETTINGS have come."""
        self._ready = False
        self._rest = b""
        self._next = 1
        self._streams = 100  # until SETTINGS name or leave out a limit
        self._window = (1 << 16) - 1
        self._received = 0
        self._heard_at = 0.0

    @property
    def in_use(self) -> bool:
        return bool(self._reads)

    async def read(self, body: bytes, metadata: Metadata) -> bytes:
        """Return the raw answer to a Range of one key. Raises NotAnsweredError."""
        loop = asyncio.get_running_loop()
        if (
            not self._ready
            and self._connecting is None
            and self._transport is None
            and loop.time() > self._retry_at
        ):
            self._connecting = loop.create_task(self._connect())
        if self._head[0] != metadata:
            self._head = metadata, _head(self._endpoint, self._server_name, metadata)
        head, size, number = self._head[1], len(body) + 5, self._next
        room = self._window >= size <= _FRAME >= len(head) and len(self._reads) < self._streams
        if not (self._ready and room and number < _GREATEST) or self._transport is None:
            raise NotAnsweredError
        self._next, self._window = number + 2, self._window - size
        data = size.to_bytes(3) + b"\0\1" + number.to_bytes(4) + b"\0" + len(body).to_bytes(4)
        self._transport.write(_frame(_HEADERS, _END_HEADERS, number, head) + data + body)
        read = self._reads[number] = _Read(loop.create_future(), loop.time())
        if self._timer is None:
            self._timer = loop.call_later(SILENT_SECONDS, self._look)
        try:
            return await read.answer
        finally:
            if self._reads.pop(number, None) is not None:  # its reader has left
                self._reset(number)

    async def _connect(self) -> None:
        loop, target = asyncio.get_running_loop(), self._endpoint.target
        host, _, port = target.rpartition(":")
        host = host.strip("[]")
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                tls = await asyncio.to_thread(self._context) if self._endpoint.tls else None
                name = (self._server_name or host or "localhost") if tls else None
                if target.startswith("unix:"):
                    path = target.removeprefix("unix:")
                    await loop.create_unix_connection(lambda: self, path, ssl=tls, server_hostname=name)
                else:
                    await loop.create_connection(lambda: self, host, int(port), ssl=tls, server_hostname=name)
        except Exception as error:  # of sockets, TLS or its files, which gRPC reports
            log.debug("etcd %s: no connection for reads of single keys: %s", self._endpoint.text, error)
            self._retry_at = loop.time() + RETRY_SECONDS
        finally:
            self._connecting = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._begin()
        self._transport = cast(asyncio.Transport, transport)
        # No dynamic table for headers; windows that no answer exhausts.
        settings = _setting(1, 0) + _setting(2, 0) + _setting(4, _GREATEST)
        opened = _frame(_WINDOW_UPDATE, 0, 0, (_GREATEST - (1 << 16) + 1).to_bytes(4))
        self._transport.write(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(_SETTINGS, 0, 0, settings) + opened
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._ready, self._transport = False, None
        self._retry_at = max(self._retry_at, asyncio.get_running_loop().time() + RETRY_SECONDS)
        self._fail(list(self._reads))

    def data_received(self, data: bytes) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        while end - at >= 9:
            size = int.from_bytes(data[at : at + 3])
            if size > _FRAME:
                return self._leave()
            if end - at - 9 < size:
                break
            kind, flags, number = data[at + 3], data[at + 4], int.from_bytes(data[at + 5 : at + 9])
            payload = data[at + 9 : at + 9 + size]
            at += 9 + size
            if not self._took(kind, flags, number, payload):
                return self._leave()
        self._rest = data[at:]
        return None

    def _took(self, kind: int, flags: int, number: int, payload: bytes) -> bool:
        """Take one frame; False for one that is never sent to a client that asks for nothing unusual."""
        if kind == _DATA:
            return self._took_data(flags, number, payload)
        if kind == _HEADERS:
            if flags & _END_STREAM:
                self._ended(number, payload)
            return bool(flags & _END_HEADERS)
        if kind == _RST_STREAM:
            self._fail([number])
        elif kind == _SETTINGS and not flags & _ACK:
            return self._took_settings(payload)
        elif kind == _PING and not flags & _ACK:
            self._send(_PING, _ACK, 0, payload)
        elif kind == _GOAWAY:
            self._ready, last = False, int.from_bytes(payload[:4])
            self._fail([number for number in self._reads if number > last])
            return bool(self._reads)
        elif kind == _WINDOW_UPDATE and number == 0:
            self._window += int.from_bytes(payload)
        return kind <= _WINDOW_UPDATE

    def _took_data(self, flags: int, number: int, payload: bytes) -> bool:
        self._received += len(payload)
        if self._received > _RENEW:
            self._send(_WINDOW_UPDATE, 0, 0, self._received.to_bytes(4))
            self._received = 0
        read = self._reads.get(number)
        if read is not None:
            read.parts.append(payload)
        return not flags  # padded, or without trailers: not of gRPC

    def _took_settings(self, payload: bytes) -> bool:
        values = {payload[at : at + 2]: payload[at + 2 : at + 6] for at in range(0, len(payload), 6)}
        limit = values.get(_MAX_STREAMS.to_bytes(2))
        if limit is not None or not self._ready:
            self._streams = int.from_bytes(limit) if limit is not None else _GREATEST
        self._send(_SETTINGS, _ACK, 0, b"")
        self._ready = True
        return len(payload) % 6 == 0

    def _ended(self, number: int, trailers: bytes) -> None:
        """A stream's last frame: of an answer, or of an error without a message."""
        read = self._reads.get(number)
        if read is None:
            return None
        message = b"".join(read.parts)
        if trailers.removeprefix(b"\x20") not in _OK:
            if message:  # another kind of server, whose answers would all be repeated
                self._retry_at = float("inf")
                self._leave()
            return self._fail([number])
        if message[:1] != b"\0" or int.from_bytes(message[1:5]) != len(message) - 5:
            return self._fail([number])
        del self._reads[number]
        if not read.answer.done():
            read.answer.set_result(message[5:])
        return None

    def _look(self) -> None:
        """While reads wait: give up a connection that is silent, and single reads that take too long."""
        self._timer, loop = None, asyncio.get_running_loop()
        if not self._reads:
            return None
        now, first = loop.time(), next(iter(self._reads.values())).since
        if now - max(self._heard_at, first) >= SILENT_SECONDS * 0.99:
            return self._leave()
        slow = [number for number, read in self._reads.items() if now - read.since > SLOW_SECONDS]
        for number in slow:
            self._reset(number)
        self._fail(slow)
        self._timer = loop.call_later(SILENT_SECONDS / 2, self._look)
        return None

    def _fail(self, numbers: list[int]) -> None:
        for number in numbers:
            read = self._reads.pop(number, None)
            if read is not None and not read.answer.done():
                read.answer.set_exception(NotAnsweredError())

    def _reset(self, number: int) -> None:
        self._send(_RST_STREAM, 0, number, _CANCEL.to_bytes(4))

    def _send(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_frame(kind, flags, number, payload))

    def _leave(self) -> None:
        """Drop the connection; waiting reads end at once."""
        self._ready = False
        self._fail(list(self._reads))
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Drop the connection for good."""
        self._retry_at = float("inf")
        self._leave()
        for pending in (self._connecting, self._timer):
            if pending is not None:
                pending.cancel()


def _frame(kind: int, flags: int, number: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + number.to_bytes(4) + payload


def _setting(number: int, value: int) -> bytes:
    return number.to_bytes(2) + value.to_bytes(4)


@lru_cache(maxsize=64)
def _head(endpoint: Endpoint, server_name: str, metadata: Metadata) -> bytes:
    """Return the header block of a Range: literals that enter no table (RFC 7541 §6.2.2)."""
    host = "localhost" if endpoint.target.startswith("unix:") else server_name or endpoint.target
    fixed = {"te": "trailers", "content-type": "application/grpc", "user-agent": "ktui"}
    fields = b"".join(b"\0" + _text(name) + _text(value) for name, value in (*fixed.items(), *metadata))
    scheme = (
        b"\x87" if endpoint.tls else b"\x86"
    )  # indexed: https, http; 0x83: POST; names 1, 4: :authority, :path
    return b"\x83" + scheme + b"\1" + _text(host) + b"\4" + _text(RANGE.path) + fields


def _text(text: str) -> bytes:
    """Return a string as RFC 7541 §5.2 has it without Huffman's code."""
    raw = text.encode()
    size, sizes = len(raw), bytearray()
    if size < 127:
        return bytes((size,)) + raw
    rest = size - 127
    while rest >= 128:
        sizes.append(rest & 127 | 128)
        rest >>= 7
    return b"\x7f" + bytes((*sizes, rest)) + raw
