"""Many connections, and connections that say nothing."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import quote

from tools.hostile.case import case
from tools.hostile.target import ADMIN, BESIDE, BYSTANDER, MALLORY, Target

FEW = 300  # connections of a server that has few
MAPS = f"/api/v1/namespaces/{MALLORY}/configmaps"
# Thousands of TLS handshakes compete with everything else for the processor.
OPENING = {"other_ms": 10_000.0, "healthz_ms": 10_000.0}
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@contextlib.asynccontextmanager
async def _opened(
    target: Target, count: int, sent: bytes | Callable[[int], bytes] = b"", *, tls: bool = True
) -> AsyncIterator[list[Stream]]:
    """Open connections, as many as are taken, and send something on each (by its number)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    streams: list[Stream] = []

    async def open_some(number: int) -> None:
        for _ in range(number):
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(10):
                    context = target.tls if tls else None
                    stream = await asyncio.open_connection("127.0.0.1", target.port, ssl=context)
                streams.append(stream)
                stream[1].write(sent if isinstance(sent, bytes) else sent(len(streams)))

    try:
        await asyncio.gather(*(open_some(count // 50) for _ in range(50)))
        yield streams
    finally:
        for _, writer in streams:
            writer.transport.abort()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _selecting(number: int) -> bytes:
    """A WATCH with a selector of its own, all of whose requirements are met."""
    selector = quote(",".join(f"!k{number}x{n}" for n in range(2000)))
    path = f"{MAPS}?watch=1&resourceVersion=0&timeoutSeconds=60&labelSelector={selector}"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {MALLORY}\r\n\r\n".encode()


def _watch(user: str, seconds: int = 120) -> bytes:
    path = f"{MAPS}?watch=1&resourceVersion=0&timeoutSeconds={seconds}"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {user}\r\n\r\n".encode()


async def _answers(streams: list[Stream]) -> int:
    """Return how many streams have got an answer 200."""

    async def answered(reader: asyncio.StreamReader) -> bool:
        try:
            return (await asyncio.wait_for(reader.readline(), 20)).startswith(b"HTTP/1.1 200")
        except (OSError, TimeoutError):
            return False

    return sum(await asyncio.gather(*(answered(reader) for reader, _ in streams)))


async def _warm(target: Target) -> None:
    while (await target.send("GET", f"{MAPS}?resourceVersion=0")).status != 200:
        await asyncio.sleep(0.1)


@case(
    "2,000 watches of one user, whose object changes 10 times a second", within=90, memory_mb=400, **OPENING
)
async def two_thousand_watches(target: Target) -> str:
    await _warm(target)
    async with _opened(target, 2000, _watch(MALLORY)) as streams:
        answered = await _answers(streams)
        target.expect(answered == 2000, f"{answered} of 2,000 watches are answered")
        changing = asyncio.create_task(_change(target))
        latencies = []
        for _ in range(300):
            answer = await target.send("GET", BESIDE, user=BYSTANDER)
            target.expect(answer.status == 200, answer)
            latencies.append(answer.seconds * 1000)
        changing.cancel()
        latencies.sort()
        target.expect(latencies[-4] < 500, f"p99 of another user's GETs: {latencies[-4]:.0f} ms")
        return f"another user's GETs: median {latencies[150]:.0f} ms, p99 {latencies[-4]:.0f} ms"


async def _change(target: Target) -> None:
    body = {"metadata": {"name": "changing"}}
    await target.send("POST", MAPS, body, user=MALLORY)
    for number in range(1 << 30):
        change = {"data": {"a": str(number)}}
        kind = "application/merge-patch+json"
        await target.send("PATCH", f"{MAPS}/changing", change, user=MALLORY, content_type=kind)
        await asyncio.sleep(0.1)


@case(
    "100 watches with 2,000 requirements each, on an object that changes",
    within=120,
    memory_mb=600,
    **OPENING,
)
async def watches_that_select(target: Target) -> str:
    await _warm(target)
    async with _opened(target, 100, _selecting) as streams:
        answered = await _answers(streams)
        target.expect(answered == 100, f"{answered} of 100 watches are answered")
        began = target.cpu_seconds()
        changing = asyncio.create_task(_change(target))
        await asyncio.sleep(3)
        changing.cancel()
        return f"{target.cpu_seconds() - began:.1f} s of CPU time in 3 s of changes"


@case(
    "1,100 watches over plain connections with TLS, 2,500 silent ones beside",
    within=60,
    memory_mb=400,
    **OPENING,
)
async def silent_beside_watches(target: Target) -> str:
    await _warm(target)
    async with _opened(target, 2500, tls=False), _opened(target, 1100, _watch(MALLORY)) as streams:
        answered = await _answers(streams)
        target.expect(answered == 1100, f"{answered} of 1,100 watches are answered")
        answer = await target.send("GET", "/version")
        target.expect(answer.status == 200, answer)
    return f"a new client: {answer.status} after {answer.seconds * 1000:.0f} ms"


@case(f"watches on all of {FEW} connections", within=30, options=(f"--max-connections={FEW}",), other_ms=9e9)
async def all_connections_watch(target: Target) -> str:
    """The canary's kept connection is one of them; its new ones, for /healthz, come from this machine."""
    await _warm(target)
    async with _opened(target, FEW, _watch(MALLORY)) as streams:
        await _answers(streams)
        refused = await target.send("GET", "/version")
        target.expect(refused.status == 429, refused)
        target.expect(refused.seconds < 2, refused)
        health = await target.send("GET", "/readyz", user="")
        target.expect(health.status == 200, health)
    return f"another: {refused.status} after {refused.seconds * 1000:.0f} ms; /readyz {health.status}"


@case(
    "silent connections, more than the server takes",
    within=40,
    options=(f"--max-connections={FEW}",),
    other_ms=9e9,
)
async def silent_on_all_connections(target: Target) -> str:
    async with _opened(target, FEW * 2, tls=True):
        began = time.perf_counter()
        while (answer := await target.send("GET", "/version")).status != 200:
            target.expect(time.perf_counter() - began < 15, answer)
            await asyncio.sleep(0.2)
        return f"a new client is served after {time.perf_counter() - began:.1f} s"


@case("50 requests whose bodies come a byte a second, for 20 s", within=40)
async def slow_bodies(target: Target) -> str:
    """600 of them would hold all seats of their priority level, as in kube-apiserver."""
    head = f"POST {MAPS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {MALLORY}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    async with _opened(target, 50, head.encode()) as streams:
        for _ in range(20):
            for reader, writer in streams:
                if not reader.at_eof():
                    writer.write(b" ")
            await asyncio.sleep(1)
        answer = await target.send("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "a"}}, user=MALLORY)
        target.expect(answer.status == 201, answer)
    return f"another write of the user: {answer.status} after {answer.seconds:.2f} s"


@case("heads that never end, a header every second on 200 connections", within=60)
async def slow_heads(target: Target) -> str:
    before = _open_files(target)
    async with _opened(target, 200, b"GET /version HTTP/1.1\r\nHost: localhost\r\n") as streams:
        for number in range(35):
            for reader, writer in streams:
                if not reader.at_eof():
                    writer.write(b"X-%d: a\r\n" % number)
            await asyncio.sleep(1)
        left = _open_files(target) - before
        target.expect(left < 20, f"{left} of 200 are still open after 35 s")
    answer = await target.send("GET", "/version", user=ADMIN)
    return f"closed within 35 s; a new client: {answer.status}"


def _open_files(target: Target) -> int:
    return len(list(Path(f"/proc/{target.pid}/fd").iterdir()))
