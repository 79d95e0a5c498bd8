"""Measure what the dashboard costs: first frame, keys in a storm, CPU time, memory.

Every figure is measured with the real program in a pseudo-terminal of 120 × 40 cells. Targets are those
of docs/speed.md. On a busy machine, elapsed times say more about the machine, so each line has the load
average.

    python -m benchmarks.ui                      all but the long runs
    python -m benchmarks.ui start idle           some of them
    python -m benchmarks.ui workloads            each workload in turn, on its screen
    python -m benchmarks.ui cluster soak         against 100,000 pods; ten minutes of the demo
"""

from __future__ import annotations

import argparse
import compileall
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import ktui
from benchmarks.figures import Figure, machine
from benchmarks.ui import cluster, idle, keys, memory, start, workloads
from benchmarks.ui.processes import load
from benchmarks.ui.program import own_directories
from benchmarks.ui.table import HEAD, row

Measure = Callable[[dict[str, str]], Iterator[Figure]]
_LONG = ("cluster", "soak", "workloads")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ui",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5, help="starts of each program (default 5)")
    parser.add_argument("--keys", type=int, default=160, help="keys of each kind (default 160)")
    parser.add_argument("--seconds", type=float, default=30, help="how long to be idle (default 30)")
    parser.add_argument("--minutes", type=float, default=10, help="how long to soak (default 10)")
    parser.add_argument("--pods", type=int, default=100_000, help="of the cluster (default 100,000)")
    parser.add_argument("--attach", metavar="URL", help="workloads: the server that they load (KTUI_TOKEN)")
    parser.add_argument("--small", action="store_true", help="each for a few seconds, to see that it runs")
    parser.add_argument(
        "what", nargs="*", metavar="WHAT", help="start, keys, idle, memory, cluster, soak, workloads"
    )
    args = parser.parse_args()
    measures = _small_measures() if args.small else _measures(args)
    wanted = args.what or [name for name in measures if args.small or name not in _LONG]
    if unknown := [name for name in wanted if name not in measures]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(measures)}")
    return _report(measures[name] for name in wanted)


def _measures(args: argparse.Namespace) -> dict[str, Measure]:
    return {
        "start": lambda environment: _start(environment, args.rounds),
        "keys": lambda environment: keys.in_a_storm(environment, args.keys),
        "idle": lambda environment: idle.at_rest(environment, args.seconds),
        "memory": memory.after_an_hour,
        "cluster": lambda environment: cluster.keys_beside(environment, args.pods, args.keys),
        "workloads": lambda environment: workloads.keys_beside_each(
            environment, args.keys, args.seconds, ("--attach", args.attach) if args.attach else ()
        ),
        "soak": lambda environment: memory.in_real_time(environment, args.minutes),
    }


def _small_measures() -> dict[str, Measure]:
    return {
        "start": lambda environment: _start(environment, 1),
        "keys": lambda environment: keys.in_a_storm(environment, 4, warm_up=1.0),
        "idle": lambda environment: idle.at_rest(environment, 0.5, settle=0.0, seeding=0.5),
        "memory": lambda environment: memory.after_an_hour(environment, 0.5),
        "cluster": lambda environment: cluster.keys_beside(environment, 200, 4, settle=0.2, rate=100),
        "workloads": lambda environment: workloads.keys_beside_each(
            environment, 4, 1.0, most=1, fill=1.0, stop=0.5
        ),
        "soak": lambda environment: memory.in_real_time(environment, 0.02),
    }


def _start(environment: dict[str, str], rounds: int) -> Iterator[Figure]:
    yield from start.first_frames(environment, rounds)
    yield from start.first_data(environment, rounds)


def _report(measures: Iterator[Measure]) -> int:
    """Print each figure once it is known; return 1 if a target was missed."""
    # Compile as for an installed program; otherwise PYTHONDONTWRITEBYTECODE would compile at each start.
    compileall.compile_dir(Path(ktui.__file__).parent, quiet=1)
    print(f"{machine()}\n{HEAD}", flush=True)
    missed = False
    with own_directories() as environment:
        os.environ.update(environment)
        for measure in measures:
            for figure in measure(environment):
                missed |= figure.met is False
                print(row(figure, load()), flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
