"""Measure what reads, LISTs and watches cost, in one command.

Starts an embedded etcd, fills it with pods, starts `ktui serve` over it and
measures what issue reports and README claim: reads over one kept-alive TLS
connection (HTTP/1.1, no compression), the same ones while 2,000 pods a second
are written, full LISTs with GETs beside them, and 100 watchers of everything.
1,000,000 pods (--pods 1000000) take some 15 minutes on two idle cores, 18 GB of
memory (the server 8, etcd with its mapped database 9) and 10 GB of disk.
The codec by itself: python -m benchmarks.codec. Audit logs: python -m benchmarks.audit.
Other forms than JSON: python -m benchmarks.forms.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

import uvloop

from benchmarks import reads
from benchmarks.figures import Figure, report
from benchmarks.http import Timing
from benchmarks.server import Serving, serving
from benchmarks.watches import fan_out
from benchmarks.writes import KEYS_A_TXN, RATE, steady_writes

# A steady stream of writes may make a read this much slower.
_SLOWER = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pods", type=int, default=20_000, help="how many (the targets are for 100,000)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there as well")
    args = parser.parse_args()
    load = os.getloadavg()[0]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        table = report(runner.run(_measure(args.pods)), args.pods, load)
    print(table)
    if args.out:
        args.out.write_text(table + "\n")
    return 0


async def _measure(pods: int) -> list[Figure]:
    _report_step(f"seeding {pods:,} pods")
    async with serving(pods) as server:
        figures = [
            Figure("ready, cold", server.ready_seconds, "s"),
            Figure("memory when ready", server.memory(), "MB"),
        ]
        _report_step("reading")
        figures += await asyncio.to_thread(_reads, server, pods)
        _report_step("watching")
        figures.append(await fan_out(server))
    return figures


def _reads(server: Serving, pods: int) -> list[Figure]:
    client = server.client()
    quiet = reads.small_reads(client)
    full = reads.full_lists(server, client)
    _report_step(f"reading while {RATE:,} pods a second are written")
    with steady_writes(server.etcd, pods):
        started, revision = time.perf_counter(), client.resource_version()
        busy = reads.small_reads(client)
        written = (client.resource_version() - revision) * KEYS_A_TXN
        rate = written / (time.perf_counter() - started)
    client.close()
    return [
        *(Figure(name, timing.total, "ms") for name, timing in quiet.items()),
        *full,
        Figure("writes beside the following", rate, "events/s", "seen by the cache"),
        *(_beside_writes(name, quiet[name], timing) for name, timing in busy.items()),
    ]


def _beside_writes(name: str, quiet: Timing, busy: Timing) -> Figure:
    target = quiet.total * _SLOWER
    return Figure(f"{name}, beside writes", busy.total, "ms", f"{busy.total / quiet.total:.1f}×", target)


def _report_step(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
