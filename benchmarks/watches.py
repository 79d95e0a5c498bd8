"""Measure how fast events reach many watchers, each of which receives every event."""

from __future__ import annotations

import asyncio
import time

import grpc.aio
from aetcd import rpc

from benchmarks.figures import Figure
from benchmarks.http import unverified
from benchmarks.pods import PREFIX, name_of, namespace_of, template
from benchmarks.server import TOKEN, Serving

WATCHERS, EVENTS, BURSTS = 100, 200, 3
WRITES = 32  # at a time: with few, etcd's disk sets the pace
_HEAD_END = b"\r\n\r\n"
_EVENT = b'{"type":"MODIFIED"'
_LAST_CHUNK = b"\r\n0\r\n\r\n"


async def fan_out(server: Serving) -> Figure:
    """Return the best of BURSTS."""
    return max([await _burst(server) for _ in range(BURSTS)], key=lambda figure: figure.value)


async def _burst(server: Serving) -> Figure:
    """Measure events delivered per second, from the first write to the last event read by this client."""
    rv = await asyncio.to_thread(_rv, server)
    watches = await asyncio.gather(*(_open(server.port, rv) for _ in range(WATCHERS)))
    reading = [asyncio.create_task(_read(reader)) for reader, _ in watches]
    started = time.perf_counter()
    await _write(server.etcd)
    delivered = sum(await asyncio.gather(*reading))
    seconds = time.perf_counter() - started
    for _, writer in watches:
        writer.close()
    lost = WATCHERS * EVENTS - delivered
    note = f"{EVENTS} events each" + (f", {lost:,} lost to slow watchers' ends" if lost > 0 else "")
    return Figure("100 watchers", delivered / seconds, "events/s", note)


def _rv(server: Serving) -> int:
    client = server.client()
    try:
        return client.resource_version()
    finally:
        client.close()


async def _open(port: int, rv: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a WATCH, and return its streams once the response's head is read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=unverified(), limit=1 << 20)
    path = f"/api/v1/pods?watch=1&resourceVersion={rv}"
    head = f"GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.readuntil(_HEAD_END)
    if b" 200 " not in answer.partition(b"\r\n")[0]:
        raise RuntimeError(f"WATCH was answered with {answer[:60]!r}")
    return reader, writer


async def _read(reader: asyncio.StreamReader) -> int:
    """Count events until all have arrived, or the server ends the stream of a slow client.

    The start of an event may be split between two reads.
    """
    seen, rest = 0, b""
    while seen < EVENTS and not rest.endswith(_LAST_CHUNK) and (read := await reader.read(1 << 18)):
        piece = rest + read
        seen += piece.count(_EVENT)
        rest = piece[-(len(_EVENT) - 1) :]
    return seen


async def _write(endpoint: str) -> None:
    """Write one pod repeatedly, with several writes at a time."""
    key = PREFIX + f"{namespace_of(0)}/{name_of(0)}".encode()
    value = template()
    async with grpc.aio.insecure_channel(endpoint.removeprefix("http://")) as channel:
        store, turns = rpc.KVStub(channel), asyncio.Semaphore(WRITES)

        async def put() -> None:
            async with turns:
                await store.Put(rpc.PutRequest(key=key, value=value))

        await asyncio.gather(*(put() for _ in range(EVENTS)))
