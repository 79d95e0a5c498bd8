"""Send N malformed requests from a seed to a server, together with a well-behaved client.

Prints the answers by kind and status, the latency of the well-behaved client (a GET every few
milliseconds, sometimes a small write), the longest blocks of the server's event loop, and the
memory of the server and of its parsers. Exits 1 after a crash or an internal error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.hostile.client import Client
from tools.hostile.requests import MAPS, PODS, Generator, Request

INTERNAL = b"the server log has the details"
PAUSE_SECONDS = 0.01
BESIDE = "/api/v1/namespaces/beside/configmaps/well-behaved"


@dataclass(slots=True)
class Results:
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    internal: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)  # 5xx as kube-apiserver answers too
    slowest: list[tuple[float, str]] = field(default_factory=list)
    beside_ms: list[float] = field(default_factory=list)
    memory: list[tuple[int, int, int]] = field(default_factory=list)  # requests, bytes, bytes of parsers
    sent: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.hostile.malformed", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=8, help="that send them at the same time")
    parser.add_argument("--large", type=float, default=0.01, help="share of bodies of up to megabytes")
    args = parser.parse_args()
    words = [
        sys.executable,
        "-m",
        "tools.hostile.server",
        "--insecure-http",
        "--listen=127.0.0.1:0",
        "--warm=none",
    ]
    server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = next((int(line.rpartition(":")[2]) for line in server.stdout if line.startswith("serving ")), 0)
    try:
        results = asyncio.run(run(args, port, server.pid))
        crashed = server.poll() is not None
    finally:
        server.terminate()
        heartbeat = server.stdout.readline()
        server.wait()
    report(results, json.loads(heartbeat or "{}"), crashed=crashed)
    return 1 if crashed or results.internal else 0


async def run(args: argparse.Namespace, port: int, pid: int) -> Results:
    results = Results()
    await _prepare(port)
    generator = Generator(args.seed, args.large)
    beside = [asyncio.create_task(work) for work in (_behave(port, results), _watch_memory(pid, results))]
    await asyncio.gather(*(_send(port, generator, args.requests, results) for _ in range(args.clients)))
    for task in beside:
        if task.done():
            task.result()  # raises its error: it must not end on its own
        task.cancel()
    await asyncio.sleep(5)
    results.memory.append((results.sent, *_memory(pid)))
    return results


async def _prepare(port: int) -> None:
    client = Client("127.0.0.1", port)
    json_type = (("Content-Type", "application/json"),)
    for path, body in (
        ("/api/v1/namespaces", {"metadata": {"name": "default"}}),
        ("/api/v1/namespaces", {"metadata": {"name": "beside"}}),
        (BESIDE.rpartition("/")[0], {"metadata": {"name": "well-behaved"}, "data": {"a": "b"}}),
        (MAPS, {"metadata": {"name": "x"}, "data": {"a": "b"}}),
        (PODS, {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS),
    ):
        status, text = await client.send(Request("", "POST", path, json_type, json.dumps(body).encode()))
        assert status in (201, 409), text
    client.close()


WIDGETS = {
    "metadata": {"name": "widgets.example.io"},
    "spec": {
        "group": "example.io",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


async def _send(port: int, generator: Generator, most: int, results: Results) -> None:
    client = Client("127.0.0.1", port)
    while results.sent < most:
        results.sent += 1
        request = generator.next()
        began = time.perf_counter()
        status, body = await client.send(request)
        name = f"{request.label} {request.method} {request.target[:80]} {len(request.body)} bytes"
        results.statuses[request.label, status] += 1
        results.slowest = sorted([*results.slowest, (time.perf_counter() - began, name)])[-5:]
        if status >= 500 and INTERNAL in body:
            results.internal.append(name)
        elif status >= 500:
            results.refusals.append(f"{name}: {body[:200]!r}")
    client.close()


async def _behave(port: int, results: Results) -> None:
    """Send GETs, and a small write every tenth time."""
    client = Client("127.0.0.1", port)
    path = BESIDE
    headers = (("Content-Type", "application/merge-patch+json"),)
    for number in range(1 << 62):
        request = Request("", "GET", path)
        if number % 10 == 9:
            body = json.dumps({"data": {"n": str(number)}}).encode()
            request = Request("", "PATCH", path, headers, body)
        began = time.perf_counter()
        status, text = await client.send(request)
        results.beside_ms.append((time.perf_counter() - began) * 1000)
        assert status == 200, (status, text)
        await asyncio.sleep(PAUSE_SECONDS)


async def _watch_memory(pid: int, results: Results) -> None:
    while True:
        results.memory.append((results.sent, *_memory(pid)))
        await asyncio.sleep(2)


def _memory(pid: int) -> tuple[int, int]:
    """Return the resident bytes of the server, and of its parser processes."""
    parsers = 0
    for task in Path("/proc").glob("[0-9]*"):
        try:
            if int((task / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                parsers += _resident(task) if b"parsing" in (task / "cmdline").read_bytes() else 0
        except (OSError, IndexError):
            continue
    return _resident(Path(f"/proc/{pid}")), parsers


def _resident(task: Path) -> int:
    return int((task / "statm").read_text().split()[1]) * 4096


def report(results: Results, heartbeat: dict[str, Any], *, crashed: bool) -> None:
    for (label, status), count in sorted(results.statuses.items()):
        print(f"{label:16} {status:4} {count:8,}")
    beside = sorted(results.beside_ms)
    if beside:
        at = {share: beside[min(int(len(beside) * share), len(beside) - 1)] for share in (0.5, 0.99, 0.999)}
        shown = ", ".join(f"p{share * 100:g} {ms:.1f} ms" for share, ms in at.items())
        print(f"well-behaved client: {len(beside):,} requests, {shown}, longest {beside[-1]:.1f} ms")
    steps = max(len(results.memory) // 10, 1)
    for sent, server, parsers in [*results.memory[::steps], results.memory[-1]]:
        print(f"memory after {sent:8,} requests: {server >> 20:5} MB, parsers {parsers >> 20:4} MB")
    print("longest between two beats of the event loop, ms:", heartbeat.get("wall_ms"))
    for ms, place in heartbeat.get("busy", []):
        print(f"  {ms:6.1f} ms of CPU time on the loop, at {place}")
    for seconds, name in results.slowest:
        print(f"slow: {seconds:.2f} s {name}")
    for name in results.refusals[:10]:
        print("answered as kube-apiserver does:", name)
    for name in results.internal[:20]:
        print("internal error:", name)
    print("the server crashed" if crashed else f"{len(results.internal)} internal errors")


if __name__ == "__main__":
    sys.exit(main())
