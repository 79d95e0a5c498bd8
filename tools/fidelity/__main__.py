"""Replay recorded answers of real kube-apiservers, and count how many of ktui's agree.

Each part starts its own `ktui serve` over an embedded etcd with the recorded cluster; nothing else is needed.
Prints the counts of docs/fidelity.md and exits 1 if one is below what is written there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from ktui.etcd.errors import EtcdError
from tools.fidelity import case_replay, known_load, recordings, span_routes, step_replay
from tools.fidelity.recordings import FUZZ, ORACLE, Profile
from tools.fidelity.server import ServerError, serving
from tools.fidelity.tally import Outcome

PARTS = {
    "profiles": "recorded reads, watches and writes, in one setting of the server (about 4 minutes)",
    "reads": "random reads, watches, paths and methods (about 6 minutes, with or without `writes`)",
    "writes": "random writes, and the objects as stored afterwards",
    "traces": "routes that `ktui audit` finds in spans and logs (seconds)",
    "live": "figures that `ktui observe` finds in metrics (seconds)",
}
GROUPS = {"reads": ("reads", "interleaved", "paths"), "writes": ("writes", "stored")}
EVERY = "all"
DEFAULT_PROFILE = "1.36-default"


def main() -> int:
    profiles = recordings.profiles()
    args = _parser(profiles).parse_args()
    if args.profile not in (EVERY, *profiles):
        print(f"no profile {args.profile!r}; there are {', '.join(profiles)}, and {EVERY}", file=sys.stderr)
        return 2
    chosen = list(profiles.values()) if args.profile == EVERY else [profiles[args.profile]]
    began = time.monotonic()
    try:
        outcomes = asyncio.run(_replay(args.parts or list(PARTS), chosen, args.sample, args.show))
    except (ServerError, EtcdError) as error:
        print(error, file=sys.stderr)
        return 3
    print(f"{time.monotonic() - began:.0f} s")
    if args.json is not None:
        documents = [outcome.tally.document() for outcome in outcomes]
        args.json.write_text(json.dumps(documents, indent=1) + "\n")
    return 0 if all(outcome.reached for outcome in outcomes) else 1


def _parser(profiles: Collection[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fidelity",
        description=__doc__,
        epilog="parts: " + "; ".join(f"{name}: {says}" for name, says in PARTS.items()),
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help="default: all parts")
    parser.add_argument(
        *("--profile", "-p"),
        default=DEFAULT_PROFILE,
        help=f"of `profiles`: {', '.join(profiles)}, or {EVERY}",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="of `profiles`: N quick reads only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write counts and differences to FILE")
    parser.add_argument("--show", type=int, default=10, metavar="N", help="print N differences of each count")
    return parser


async def _replay(
    parts: Collection[str], profiles: Collection[Profile], sample: int | None, shown: int
) -> list[Outcome]:
    found = []
    async for outcome in _outcomes(parts, profiles, sample):
        print(outcome, flush=True)
        for disagreement in outcome.tally.disagreements[:shown]:
            print(disagreement)
        found.append(outcome)
    return found


async def _outcomes(
    parts: Collection[str], profiles: Collection[Profile], sample: int | None
) -> AsyncIterator[Outcome]:
    if "profiles" in parts:
        for profile in profiles:
            for outcome in await of_profile(profile, sample):
                yield outcome
    groups = [group for part, of_part in GROUPS.items() if part in parts for group in of_part]
    if groups:
        async with serving(FUZZ / "base.snapshot.db.gz", ("--assume-watch-progress",)) as target:
            tallies = await asyncio.to_thread(step_replay.replay, target, groups)
        for group, tally in tallies.items():
            if group != step_replay.BYTES:
                yield Outcome(tally, recordings.generated()[group])
            elif len(groups) == len(step_replay.CATEGORIES):
                yield Outcome(tally, recordings.same_bytes(), sampled=True)
    if "traces" in parts:
        yield Outcome(await asyncio.to_thread(span_routes.replay))
    if "live" in parts:
        yield Outcome(await asyncio.to_thread(known_load.replay))


async def of_profile(profile: Profile, sample: int | None = None) -> list[Outcome]:
    """Replay a profile over a server of its own; return the outcomes of answers and, if counted, of costs."""
    async with serving(ORACLE / "cluster.snapshot.db.gz", profile.options) as target:
        answers, costs = await asyncio.to_thread(case_replay.replay, target, profile, sample)
    found = [Outcome(answers, profile.answers, sampled=sample is not None)]
    if profile.costs is not None:
        found.append(Outcome(costs, profile.costs, sampled=sample is not None))
    return found


if __name__ == "__main__":
    sys.exit(main())
