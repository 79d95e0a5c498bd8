"""A gateway in front of a real etcd that answers RangeStream as etcd 3.7 does.

The embedded etcd is 3.5: each chunk is a Range of it. Chunks have 10 keys first, then twice or half as many,
by their size; header, count and `more` are in the last one (server/etcdserver/v3_server.go of 3.7.1).
"""

from __future__ import annotations

from typing import Any

import grpc
from aetcd import rpc

from ktui.etcd.injection import Gateway

RANGE, RANGE_STREAM = "/etcdserverpb.KV/Range", "/etcdserverpb.KV/RangeStream"
FIRST_CHUNK, TARGET_BYTES = 10, 3 << 19


class StreamingGateway(Gateway):
    """Counts the streams, and remembers the number of keys of each chunk."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.streams = 0
        self.chunks: list[int] = []

    def service(self, details: Any) -> grpc.RpcMethodHandler:
        if details.method == RANGE_STREAM:
            return grpc.unary_stream_rpc_method_handler(self._range_stream)
        return super().service(details)

    async def _range_stream(self, raw: bytes, context: Any) -> None:
        self.streams += 1
        request = rpc.RangeRequest.FromString(raw)
        total, sent, size, header = request.limit or 1 << 62, 0, FIRST_CHUNK, None
        ask = self._channel.unary_unary(RANGE)
        while True:
            request.limit = min(size, total - sent)
            try:
                raw = await ask(request.SerializeToString(), metadata=context.invocation_metadata())
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "")
            found = rpc.RangeResponse.FromString(raw)
            header = header or found.header
            request.revision = request.revision or header.revision
            sent += len(found.kvs)
            self.chunks.append(len(found.kvs))
            chunk = rpc.RangeResponse(kvs=found.kvs)
            done = not found.more or sent == total
            if done:
                chunk.header.CopyFrom(header)
                chunk.more, chunk.count = found.more, sent - len(found.kvs) + found.count
            await context.write(_streamed(chunk))
            if done:
                return
            request.key = found.kvs[-1].key + b"\0"
            if len(raw) < TARGET_BYTES // 2:
                size *= 2
            elif len(raw) > TARGET_BYTES * 2:
                size = max(1, size // 2)


def _streamed(chunk: rpc.RangeResponse) -> bytes:
    body = chunk.SerializeToString()
    size, length = bytearray(), len(body)
    while length >= 0x80:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return b"\x0a" + bytes([*size, length]) + body
