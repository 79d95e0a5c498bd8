"""Compare `ktui serve` with a kube-apiserver that runs on this machine over the same etcd.

    python -m benchmarks.versus --server PORT --etcd http://127.0.0.1:2379 [--seed N]

The kube-apiserver listens on 127.0.0.1:PORT and accepts the token `benchmark` of a member of system:masters
(`--token-auth-file`). `--seed N` writes N pods into its etcd first; it takes them into its cache meanwhile.
`ktui serve` is started over that etcd. Both speak TLS and HTTP/1.1 over kept-alive connections, requests
alternate, and each ratio divides the medians (of watches the best rounds): time by time, rate by rate. wrk
(`apt install wrk`) sends the small requests, at little cost of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from statistics import median

import uvloop

from benchmarks.figures import machine
from benchmarks.forms import FORMS
from benchmarks.http import Client
from benchmarks.pods import seeded, template
from benchmarks.reads import ALL, SMALL
from benchmarks.server import TOKEN, Serving, fill, serving_over
from benchmarks.watches import BURSTS, EVENTS, WATCHERS, fan_out

_ROUNDS = 3
_SECONDS = 3
_LATENCY = re.compile(r"50%\s+([\d.]+)(us|ms|s)")
_RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
_SMALLEST = {name: path for name, path in SMALL.items() if name.startswith(("GET", "LIST one node"))}

# What, ktui's figure, kube-apiserver's, and their unit.
Row = tuple[str, float, float, str]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.versus",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--server", type=int, required=True, metavar="PORT", help="of the kube-apiserver")
    parser.add_argument("--pid", type=int, default=0, help="of the kube-apiserver, for its memory")
    parser.add_argument("--etcd", required=True, metavar="URL", help="the kube-apiserver's")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="write N pods first")
    parser.add_argument("--only", default="", metavar="WORD", help="only rows with this word")
    args = parser.parse_args()
    if shutil.which("wrk") is None:
        parser.error("wrk is not on PATH: apt install wrk")
    load = os.getloadavg()[0]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(_measure(args))
    print(f"{machine()}, load average {load:.1f} beforehand.\n\n| what | ktui | kube-apiserver | ratio |")
    print("|---|---:|---:|---:|")
    for what, own, other, unit in rows:
        print(f"| {what} | {own:,.4g} {unit} | {other:,.4g} {unit} | {own / other:.2f} |")
    return 0


async def _measure(args: argparse.Namespace) -> list[Row]:
    if args.seed:
        await fill(args.etcd, seeded(template(), args.seed))
    other = Serving(args.server, args.pid or os.getpid(), args.etcd, 0.0)
    async with serving_over(args.etcd) as own:
        rows = await asyncio.to_thread(_reads, own, other, args.only)
        if args.only in "100 watchers":
            ours, theirs = zip(*[(await _events(own), await _events(other)) for _ in range(2)], strict=True)
            best = [max(rate for rate, _ in bursts) for bursts in (ours, theirs)]
            rows.append(("100 watchers of everything", *best, "events/s"))
            if args.pid:
                rows.append(("100 watchers, the server's CPU per event", *_medians(ours, theirs, 1), "µs"))
        if args.pid:
            rows.append(("memory at the end", own.memory(), other.memory(), "MB"))
    return rows


async def _events(server: Serving) -> tuple[float, float]:
    """Return the events delivered per second, and the server's microseconds of CPU time for each.

    The client needs nearly as much time as the server: only the CPU time tells the servers apart.
    """
    before = server.cpu()
    rate = (await fan_out(server)).value
    return rate, (server.cpu() - before) * 1000 / (BURSTS * WATCHERS * EVENTS)


def _reads(own: Serving, other: Serving, only: str) -> list[Row]:
    rows: list[Row] = []
    for name, path in _SMALLEST.items():
        for connections, many in ((1, "1 connection"), (16, "16 connections")):
            if only in name:
                print(f"… {name}, {many}", file=sys.stderr, flush=True)
                both = (own, other)
                rounds = [[_wrk(server.port, path, connections) for server in both] for _ in range(_ROUNDS)]
                ours, theirs = zip(*rounds, strict=True)
                rows.append((f"{name}, {many}", *_medians(ours, theirs, 0), "ms"))
                rows.append((f"{name}, {many}, rate", *_medians(ours, theirs, 1), "/s"))
    lists = {name: (path, {}, 21) for name, path in SMALL.items() if name not in _SMALLEST}
    forms = {"JSON": {}, **{name: headers for name, headers in FORMS.items() if "HTTP/2" not in name}}
    lists |= {f"LIST all, {name}": (ALL, headers, 3) for name, headers in forms.items()}
    clients = own.client(), other.client()
    for name, (path, headers, rounds) in lists.items():
        if only in name:
            print(f"… {name}", file=sys.stderr, flush=True)
            rows.append((name, *_alternating(clients, path, headers, rounds), "ms"))
    return rows


def _medians(
    ours: tuple[tuple[float, ...], ...], theirs: tuple[tuple[float, ...], ...], of: int
) -> tuple[float, float]:
    return median(figures[of] for figures in ours), median(figures[of] for figures in theirs)


def _alternating(
    clients: tuple[Client, Client], path: str, headers: Mapping[str, str], rounds: int
) -> tuple[float, float]:
    """Return the median milliseconds of each, after a first request that may make what is kept."""
    for client in clients:
        client.get(path, headers)
    took = [[client.get(path, headers).total for client in clients] for _ in range(rounds)]
    return median(ours for ours, _ in took), median(theirs for _, theirs in took)


def _wrk(port: int, path: str, connections: int) -> tuple[float, float]:
    """Return the median latency in milliseconds, and requests a second. RuntimeError if any is refused."""
    url, header = f"https://127.0.0.1:{port}{path}", f"Authorization: Bearer {TOKEN}"
    words = ["wrk", "-t1", f"-c{connections}", f"-d{_SECONDS}s", "--latency", "-H", header, url]
    output = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    latency, rate = _LATENCY.search(output), _RATE.search(output)
    if latency is None or rate is None or "Non-2xx" in output:
        raise RuntimeError(f"wrk printed: {output}")
    return float(latency[1]) * _MS[latency[2]], float(rate[1])


if __name__ == "__main__":
    sys.exit(main())
