"""Send hostile requests to a server, and measure what they do to everybody else.

Prints for each case the worst latency of /healthz and of another user's GET meanwhile (in brackets: just
before it), the longest time that the server's event loop was busy, and the growth of its memory. Exits 1 if
a bound is broken. Without names all cases run; a name is that of a case or of a theme.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from tools.hostile.canary import Canary
from tools.hostile.case import Case, cases
from tools.hostile.target import BESIDE, BYSTANDER, Broken, Target, serving

QUIET_SECONDS = 0.5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAMES", help="cases or themes (default: all)")
    parser.add_argument("--list", action="store_true", help="print the cases and what they send")
    args = parser.parse_args()
    try:
        chosen = cases(args.names)
    except ValueError as error:
        parser.error(str(error))
    if args.list:
        for one in chosen:
            print(f"{one.theme:12} {one.name:34} {one.sent}")
        return 0
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # closed connections are what cases are about
    broken = asyncio.run(_run(chosen))
    print(f"\n{len(chosen)} cases, {broken} broken")
    return 1 if broken else 0


async def _run(chosen: list[Case]) -> int:
    """Run the cases; return how many are broken."""
    broken = 0
    for options, group in _by_server(chosen):
        with tempfile.TemporaryDirectory(prefix="ktui-hostile-") as directory:
            async with serving(Path(directory), *options) as target:
                canary = Canary(target.port, BYSTANDER, BESIDE)
                try:
                    for one in group:
                        broken += await _run_one(one, target, canary)
                finally:
                    canary.end()
                try:
                    target.terminate()
                except Broken as error:
                    broken += 1
                    print(f"BROKEN  after {group[-1].name}: {error}", flush=True)
    return broken


def _by_server(chosen: list[Case]) -> Iterator[tuple[tuple[str, ...], list[Case]]]:
    """Yield a server's options and the cases that it gets."""
    ordered = sorted(chosen, key=lambda one: (one.options, one.fresh))
    for (options, fresh), group in groupby(ordered, key=lambda one: (one.options, one.fresh)):
        if fresh:
            yield from ((options, [one]) for one in group)
        else:
            yield options, list(group)


async def _run_one(one: Case, target: Target, canary: Canary) -> bool:
    """Run a case and print its line; return whether it is broken."""
    if not target.running():
        print(f"BROKEN  {one.name}: the server has ended", flush=True)
        return True
    await asyncio.to_thread(canary.worst)
    await asyncio.sleep(QUIET_SECONDS)
    quiet = await asyncio.to_thread(canary.worst)
    await asyncio.to_thread(target.loop)
    memory, began, problems, told = target.memory_mb(), time.perf_counter(), [], ""
    try:
        async with asyncio.timeout(one.bounds.within * 3):
            told = await one.run(target)
    except Broken as error:
        problems.append(str(error))
    except TimeoutError:
        problems.append("it was given up")
    seconds = time.perf_counter() - began
    if not target.running():
        print(f"BROKEN  {one.name}: the server has ended", flush=True)
        return True
    worst = await asyncio.to_thread(canary.worst)
    busy_ms, place = await asyncio.to_thread(target.loop)
    grown = target.memory_mb() - memory
    for name, found, most in (
        ("seconds", seconds, one.bounds.within),
        ("ms for /healthz", worst["healthz_ms"], one.bounds.healthz_ms),
        ("ms for another user's GET", worst["other_ms"], one.bounds.other_ms),
        ("ms of CPU time without a pause of the loop", busy_ms, one.bounds.loop_ms),
        ("MB more memory", grown, one.bounds.memory_mb),
    ):
        if found > most:
            problems.append(f"{found:,.1f} {name}, more than {most:,g}")
    problems += worst["problems"]
    print(
        f"{'BROKEN' if problems else 'ok':7} {one.name:34} {seconds:6.2f} s, "
        f"/healthz {worst['healthz_ms']:6.0f} ms ({quiet['healthz_ms']:.0f}), "
        f"GET {worst['other_ms']:6.0f} ms ({quiet['other_ms']:.0f}), "
        f"loop {busy_ms:5.1f} ms, {grown:+5} MB: {told}",
        flush=True,
    )
    for problem in problems:
        print(f"        {problem}", flush=True)
    if busy_ms > one.bounds.loop_ms:
        print(f"        the loop was at {place}", flush=True)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
