"""Measure memory in a storm: full LISTs by several clients during steady writes, and the memory afterwards.

Every client repeatedly reads all pods, some stop reading in the middle of an answer, and
every write changes a pod as a kubelet does. Sizes are the server's resident memory, also as a
ratio to its size at rest: ready, and every pod listed once.

    python -m benchmarks.storm [--pods N] [--clients N] [--stalled N] [--seconds N]
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import sys
import threading
import time
from contextlib import ExitStack
from types import TracebackType

import uvloop

from benchmarks.figures import machine
from benchmarks.listers import full_lists_by, stalled_lists
from benchmarks.reads import ALL
from benchmarks.server import Serving, serving
from benchmarks.writes import KEYS_A_TXN, RATE, steady_writes

_SAMPLE_SECONDS = 0.1
_PRINT_SECONDS = 5.0
# The time within which memory has to be released, and the ratio to reach.
_BACK_SECONDS = 90.0
_BACK = 1.05


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.storm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pods", type=int, default=20_000, help="default 20000; the target is for 100000")
    parser.add_argument("--clients", type=int, default=6, help="clients that list everything (default 6)")
    parser.add_argument("--stalled", type=int, default=2, help="clients that stop reading (default 2)")
    parser.add_argument("--seconds", type=float, default=75, help="length of the storm (default 75)")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        lines = runner.run(_measure(args))
    print(f"{machine()}, load average {load:.1f} beforehand; {args.pods:,} pods, {args.clients} clients, ")
    print(f"{args.stalled} that stop reading, {RATE:,} writes/s for {args.seconds:.0f} s.\n")
    print("\n".join(lines))
    return 0


async def _measure(args: argparse.Namespace) -> list[str]:
    async with serving(args.pods) as server:
        return await asyncio.to_thread(_storm, server, args)


def _storm(server: Serving, args: argparse.Namespace) -> list[str]:
    ready = server.memory()
    client = server.client()
    client.get(ALL)
    client.close()
    rest = server.memory()
    spent = server.cpu()
    with Sizes(server) as sizes:
        lists, written = _rage(server, args)
    spent = (server.cpu() - spent) / 1000
    back, left = _await_release(server, rest * _BACK)
    moments = {
        "ready": ready,
        "at rest: every pod listed once": rest,
        "peak in the storm": sizes.peak,
        "lowest afterwards": left,
    }
    return [
        "| moment | resident memory | × at rest |",
        "|---|---:|---:|",
        *(f"| {name} | {size:,.0f} MB | {size / rest:.2f} |" for name, size in moments.items()),
        "",
        f"{lists} full LISTs were read, {written:,.0f} writes/s seen by the cache, by {spent:.0f} s of the "
        f"server's processor time. Within {_BACK:.2f} × "
        + (f"after {back:.0f} s." if back is not None else f"never in {_BACK_SECONDS:.0f} s."),
    ]


def _rage(server: Serving, args: argparse.Namespace) -> tuple[int, float]:
    """Run the storm; return the number of full LISTs read, and the writes per second."""
    with ExitStack() as storm:
        before, started = _revision(server), time.perf_counter()
        storm.enter_context(steady_writes(server.etcd, args.pods, changing=True))
        storm.enter_context(stalled_lists(server.port, args.stalled))
        counts = storm.enter_context(full_lists_by(server.port, args.clients))
        time.sleep(args.seconds)  # the length of the storm
    written = (_revision(server) - before) * KEYS_A_TXN / (time.perf_counter() - started)
    return sum(counts), written


def _revision(server: Serving) -> int:
    client = server.client()
    try:
        return client.resource_version()
    finally:
        client.close()


class Sizes:
    """A context manager that samples the server's memory every tenth of a second; `peak` is the largest."""

    def __init__(self, server: Serving) -> None:
        self.peak = 0.0
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Sizes:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        started = printed = time.perf_counter()
        while not self._over.wait(_SAMPLE_SECONDS):
            size, now = self._server.memory(), time.perf_counter()
            self.peak = max(self.peak, size)
            if now >= printed + _PRINT_SECONDS:
                printed = now
                print(f"… {now - started:3.0f} s: {size:,.0f} MB", file=sys.stderr, flush=True)


def _await_release(server: Serving, below: float) -> tuple[float | None, float]:
    """Return the seconds until the memory is `below` (None if never), and the smallest size until then."""
    started, smallest = time.perf_counter(), math.inf
    while (elapsed := time.perf_counter() - started) < _BACK_SECONDS:
        smallest = min(smallest, server.memory())
        if smallest <= below:
            return elapsed, smallest
        time.sleep(_SAMPLE_SECONDS)  # the kernel sends no signal when a process shrinks
    return None, smallest


if __name__ == "__main__":
    sys.exit(main())
