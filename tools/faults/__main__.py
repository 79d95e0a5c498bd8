"""`python -m tools.faults`: run schedules of faults, one seed after the other, and check each."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import uvloop

from ktui.etcd.binary import Binary, find_binary
from tools.faults.records import clock
from tools.faults.schedule import Outcome, Plan, keep, run
from tools.faults.selftest import self_test
from tools.faults.soak import soak


def main() -> int:
    return uvloop.run(_run(_parser().parse_args()))


async def _run(args: argparse.Namespace) -> int:
    etcd = await find_binary(args.etcd)
    if args.self_test:
        return await self_test(etcd)
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(10**8)
    args.out.mkdir(parents=True, exist_ok=True)
    print(f"etcd {etcd.version}, {args.seconds:.0f} s from seed {seed}; violations go to {args.out}")
    if args.soak:
        return await soak(etcd, args.seconds, seed, args.out)
    return await _schedules(etcd, args.seconds, seed, args.schedules, args.out)


async def _schedules(etcd: Binary, seconds: float, seed: int, most: int, out: Path) -> int:
    """Run schedules; return the exit status: 1 for a violation, 2 if no schedule could be carried out."""
    verified, kinds = Counter[str](), Counter[str]()
    schedules, failed, slowest, end = 0, 0, 0.0, clock() + seconds
    while clock() < end and (not most or schedules < most):
        plan, began = Plan.of(seed + schedules), clock()
        with tempfile.TemporaryDirectory(prefix="ktui-faults-") as directory:
            outcome = await run(plan, etcd.path, Path(directory), out / "violations.ndjson")
            if outcome.violations.all:
                keep(Path(directory), out / f"seed-{plan.seed}", outcome)
        schedules += 1
        verified += outcome.verified
        kinds += outcome.violations.kinds
        failed += bool(outcome.harness)
        slowest = max(slowest, outcome.recovered or 0.0)
        print(_line(plan, outcome, clock() - began), flush=True)
    print(f"\n{schedules} schedules, {failed} of them not carried out; slowest recovery {slowest:.1f} s")
    print("verified: " + ", ".join(f"{number:,} {what}" for what, number in verified.items()))
    print(f"violations: {kinds.total()}" + "".join(f"\n  {n} × {kind}" for kind, n in kinds.items()))
    return 1 if kinds else 2 if failed == schedules else 0


def _line(plan: Plan, outcome: Outcome, seconds: float) -> str:
    recovered = f"{outcome.recovered:.1f} s" if outcome.recovered is not None else "not"
    verdict = "; ".join(f"{n} × {kind}" for kind, n in outcome.violations.kinds.items()) or "ok"
    if outcome.harness:
        verdict = f"{verdict}; not carried out: {outcome.harness}"
    excused = f", {outcome.excused} events excused" if outcome.excused else ""
    slow = f", this process stood still for {outcome.stood_still:.1f} s" if outcome.stood_still > 1 else ""
    return (
        f"seed {plan.seed}: {plan.members} members, kube {plan.version}, {seconds:.0f} s, "
        f"{outcome.verified['writes']} writes, {outcome.verified['events']} events, "
        f"recovered {recovered}{excused}{slow}: {verdict}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="start no schedule after so long (600)")
    parser.add_argument("--schedules", type=int, default=0, metavar="N", help="at most this many")
    parser.add_argument("--seed", type=int, help="of the first schedule (random)")
    parser.add_argument("--etcd", type=Path, metavar="FILE", help="the etcd to run (the newest one found)")
    parser.add_argument("--out", type=Path, default=Path("faults-out"), metavar="DIR", help="for violations")
    parser.add_argument("--soak", action="store_true", help="one server all the time, which must not grow")
    parser.add_argument("--self-test", action="store_true", help="whether planted violations are found")
    return parser


if __name__ == "__main__":
    sys.exit(main())
