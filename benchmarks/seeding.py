"""Measure how long creating the demo cluster takes, and the CPU time of server and client.

usage: python -m benchmarks.seeding [--pods N]

`ktui seed` fills a `ktui serve` with an embedded etcd, as at the demo's first start.
"""

import argparse
import asyncio
import os
import time

from benchmarks.server import cpu_of
from ktui.cli.child import ServerChild
from ktui.workloads.demo.plan import DemoSize, make_plan
from ktui.workloads.seeding import seed


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pods", type=int, default=DemoSize().pods, help="how many (default %(default)s)")
    load = os.getloadavg()[0]
    print(f"{asyncio.run(_measure(parser.parse_args().pods))}; load average {load:.1f} beforehand")


async def _measure(pods: int) -> str:
    child = ServerChild([])
    connection = await child.start()
    try:
        spent, own, started = cpu_of(child.pid), time.process_time(), time.perf_counter()
        done = await seed(connection, make_plan(DemoSize(pods=pods)))
        elapsed = time.perf_counter() - started
        server, client = (cpu_of(child.pid) - spent) / 1000, time.process_time() - own
    finally:
        await child.stop()
    rate = done.created / elapsed
    cpu = f"processor time {server:.1f} s of the server, {client:.1f} s of the client"
    return f"{done.created:,} objects in {elapsed:.1f} s, {rate:,.0f} a second; {cpu}"


if __name__ == "__main__":
    main()
