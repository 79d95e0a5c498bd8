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

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
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


def indexed(name: str, value: str) -> bytes:
    """A header that the peer's table keeps."""
    size = len(value)
    long = b"\x7f" + bytes([(size - 127) & 127 | 128, (size - 127) >> 7]) if size > 127 else bytes([size])
    return b"\x40" + bytes([len(name)]) + name.encode() + long + value.encode()


LAST_INDEXED = b"\xbe"  # the header that was indexed last, one byte


@case("heads whose 16 KB are 60 MB of headers once they are decoded, for 3 s", within=20)
async def decoded_heads(target: Target) -> str:
    first = request(MAPS) + indexed("x-a", "b" * 4000)
    bomb = request(MAPS) + LAST_INDEXED * 15_000

    def piece(sent: int) -> bytes:
        return frame(HEADERS, END_STREAM | END_HEADERS, sent * 2 + 1, bomb if sent else first)

    return f"{await flood(target, piece, 3):,} heads"


@case("heads of 1 MB in one HTTP/2 request", within=20)
async def large_heads(target: Target) -> str:
    closed = 0
    for _ in range(10):
        reader, writer = await connected(target)
        ended = asyncio.create_task(_until_closed(reader))
        with contextlib.suppress(OSError):
            writer.write(frame(HEADERS, END_STREAM, 1, request(MAPS)))
            for number in range(64):
                last = END_HEADERS if number == 63 else 0
                writer.write(frame(CONTINUATION, last, 1, (literal("x-a", "b" * 120) * 128)[:16_000]))
                await writer.drain()
        await asyncio.wait([ended], timeout=2)
        closed += ended.done()
        ended.cancel()
        writer.transport.abort()
    return f"{closed} of 10 connections closed"


@case("SETTINGS, PRIORITY and window updates for 2 s each", within=30)
async def small_frames(target: Target) -> str:
    sent = []
    for piece in (
        frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100)) * 100,
        frame(PRIORITY, 0, 1, struct.pack(">IB", 0, 1)) * 100,
        frame(WINDOW, 0, 0, struct.pack(">I", 1)) * 100,
    ):
        sent.append(await flood(target, lambda _, piece=piece: piece, 2))  # type: ignore[misc]
    return f"{[100 * count for count in sent]} frames"


@case("frames of no content: CONTINUATION and DATA, for 2 s each", within=30)
async def empty_frames(target: Target) -> str:
    begin = frame(HEADERS, END_STREAM, 1, request(MAPS))
    opened = frame(HEADERS, END_HEADERS, 1, request(MAPS))
    heads = await flood(target, lambda n: frame(CONTINUATION, 0, 1) * 100 if n else begin, 2)
    bodies = await flood(target, lambda n: frame(DATA, 0, 1) * 100 if n else opened, 2)
    return f"{heads * 100:,} and {bodies * 100:,} frames"


def wrong_frames() -> dict[str, bytes]:
    """Sequences that violate RFC 9113, each after a valid preface."""
    head, both = request(MAPS), END_STREAM | END_HEADERS
    host = literal(":method", "GET") + literal(":scheme", "https") + literal(":authority", "localhost")
    return {
        "a head on stream 0": frame(HEADERS, both, 0, head),
        "a head on an even stream": frame(HEADERS, both, 2, head),
        "a lower stream after a higher": frame(HEADERS, both, 5, head) + frame(HEADERS, both, 3, head),
        "data on an idle stream": frame(DATA, END_STREAM, 7, b"x"),
        "a continuation without a head": frame(CONTINUATION, END_HEADERS, 1, head),
        "a head within a head": frame(HEADERS, END_STREAM, 1, head) + frame(HEADERS, both, 3, head),
        "a frame of 17 MB": struct.pack(">I", 0xFFFFFF)[1:] + bytes([HEADERS, both]) + struct.pack(">I", 1),
        "padding beyond the frame": frame(HEADERS, both | PADDED, 1, b"\xff" + head),
        "a window of nothing": frame(WINDOW, 0, 0, struct.pack(">I", 0)),
        "a window too large": frame(WINDOW, 0, 0, struct.pack(">I", 0x7FFFFFFF)),
        "settings of 5 bytes": frame(SETTINGS, 0, 0, b"12345"),
        "settings of a stream": frame(SETTINGS, 0, 1, b""),
        "a frame size of 1": frame(SETTINGS, 0, 0, struct.pack(">HI", 5, 1)),
        "a ping of 7 bytes": frame(PING, 0, 0, bytes(7)),
        "a push": frame(PUSH, END_HEADERS, 1, struct.pack(">I", 2) + head),
        "an unknown frame": frame(99, 255, 1, b"x" * 100),
        "an index that nothing has": frame(HEADERS, both, 1, b"\xff\xff\xff\xff\x0f"),
        "a table of 4 GB": frame(HEADERS, both, 1, b"\x3f\xff\xff\xff\xff\x0f" + head),
        "a text that does not end": frame(HEADERS, both, 1, b"\x00\x7f\xff\xff\xff\x7f"),
        "wrong Huffman code": frame(HEADERS, both, 1, b"\x00\x84\xff\xff\xff\xff\x01a"),
        "no path": frame(HEADERS, both, 1, host),
        "two paths": frame(HEADERS, both, 1, head + literal(":path", "/")),
        "a name in capitals": frame(HEADERS, both, 1, head + literal("X-A", "b")),
        "a connection header": frame(HEADERS, both, 1, head + literal("connection", "close")),
        "a line break in a value": frame(HEADERS, both, 1, head + literal("x-a", "b\r\nc: d")),
        "another length than announced": frame(HEADERS, END_HEADERS, 1, head + literal("content-length", "9"))
        + frame(DATA, END_STREAM, 1, b"x"),
        "a goodbye, then a request": frame(GOAWAY, 0, 0, bytes(8)) + frame(HEADERS, both, 1, head),
        "HTTP/1.1 after the preface": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    }


@case("28 sequences of frames that HTTP/2 does not allow", within=60)
async def malformed_frames(target: Target) -> str:
    """A connection that has violated the protocol is closed, or its stream is; the server goes on."""
    open_still = []
    for name, frames in wrong_frames().items():
        reader, writer = await connected(target)
        writer.write(frames)
        ended = asyncio.create_task(_until_closed(reader))
        await asyncio.wait([ended], timeout=0.5)
        if not ended.done():
            open_still.append(name)
        ended.cancel()
        writer.transport.abort()
        answer = await target.send("GET", "/readyz", user="")
        target.expect(answer.status == 200, f"after {name}: {answer}")
    return f"{len(wrong_frames()) - len(open_still)} connections closed; open: {', '.join(open_still)}"
