"""Decode range responses without blocking the event loop."""

from __future__ import annotations

import asyncio
import time

from aetcd import rpc

from ktui.etcd.types import KV

SLICE_SECONDS = 0.004
_AT_ONCE = 1 << 20  # bytes; protobuf parses this in well under a millisecond
_KVS_TAG = 0x12  # RangeResponse.kvs = 2, length-delimited


def kv_of(message: rpc.KeyValue) -> KV:
    return KV(
        message.key,
        message.value,
        message.create_revision,
        message.mod_revision,
        message.version,
        message.lease,
    )


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


def _varint(raw: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
