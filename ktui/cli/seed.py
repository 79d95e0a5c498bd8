"""`ktui seed`: create a demo cluster of any size in the running server."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import TextIO

from ktui.cli.child import die_with_parent
from ktui.cli.crash import keep_quiet
from ktui.cli.output import OK, emit, replace_line, tell, warn
from ktui.cli.seed_copies import seed_quickly
from ktui.cli.server.demo import FAILING, FILLING
from ktui.cli.targets import require_connection
from ktui.client.connection import ServerConnection
from ktui.core.format import duration, integer, many
from ktui.supervision import Supervisor
from ktui.workloads.demo.light_traffic import start_kubelets, start_readers
from ktui.workloads.demo.plan import DemoPlan, DemoSize, make_plan
from ktui.workloads.running.fleet import Fleet
from ktui.workloads.seeding import SeedProgress, count_objects

EVERY_SECONDS = 3.0  # on a terminal
FOR_SERVER_SECONDS = 0.5
LEAST_SHARE = 0.05  # done before the time left is estimated
STEPS = 10  # lines in total if it is no terminal, so that a log does not fill up


class SeedReporter:
    """Prints the progress for users; called for each object that exists now.

    `total` is the final number of objects. Objects of a previous run count as done.
    """

    head_start = 0.0  # seconds that count as passed at the begin

    def __init__(
        self, total: int, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total, self._out, self._clock = total, out, clock
        self._terminal = (out or sys.stderr).isatty()
        self._began = clock()
        self._reported = self._began - self.head_start
        self._step = 0

    def __call__(self, progress: SeedProgress) -> None:
        if progress.done >= self.total:
            return
        step, before = progress.done * STEPS // self.total, self._step
        self._step = step
        due = self._has_passed(EVERY_SECONDS) if self._terminal else step > before
        if due:
            share = f"{progress.done * 100 // self.total} %, {integer(progress.done)}"
            what = f"{share} of {many(self.total, 'object')} ({progress.stage})"
            tell(f"demo cluster: {what}", self._out)

    def finish(self, progress: SeedProgress) -> None:
        """Print the last line: the number of objects, and how long it took."""
        took = duration(self._clock() - self._began)
        tell(f"demo cluster: complete, {many(progress.done, 'object')} in {took}", self._out)

    def _has_passed(self, seconds: float) -> bool:
        now = self._clock()
        if now - self._reported < seconds:
            return False
        self._reported = now
        return True


class ServerSeedReporter(SeedReporter):
    """Prints the progress for the server that started this process; the last line is empty."""

    head_start = FOR_SERVER_SECONDS

    def __call__(self, progress: SeedProgress) -> None:
        if self._has_passed(FOR_SERVER_SECONDS):
            done = progress.done
            share = f"{done * 100 // self.total} %, {integer(done)} of {integer(self.total)} objects"
            tell(f"{FILLING} {share}, now {progress.stage}{self._left(done)}", self._out)

    def _left(self, done: int) -> str:
        """Return `, 12s left` at the average pace so far; "" at the beginning."""
        if done < LEAST_SHARE * self.total or done >= self.total:
            return ""
        left = (self._reported - self._began) * (self.total - done) / done
        return f", {duration(max(1.0, left))} left"

    def finish(self, _progress: SeedProgress) -> None:
        """Print the end: the demo cluster is complete, or its creation has failed."""
        tell(FILLING, self._out)


def run(args: argparse.Namespace) -> int:
    keep_quiet()
    if args.parent:
        die_with_parent(args.parent)
        args.attach = sys.stdin.readline().strip()
    connection = require_connection(args)
    plan = make_plan(DemoSize(args.pods, args.nodes, args.namespaces, args.seed))
    asyncio.run(_run(connection, plan, args))
    return OK


async def _run(connection: ServerConnection, plan: DemoPlan, args: argparse.Namespace) -> None:
    """Create the demo cluster; with `--traffic` clients read and kubelets write once their objects exist."""

    def report_failures() -> None:
        failing = [str(failure) for failure in supervisor.failures]
        if args.parent:
            tell(FAILING + json.dumps(failing))
            return
        for text in failing:
            warn(text)

    supervisor, fleet = Supervisor(report_failures), Fleet(connection)

    def start_clients() -> None:
        start_readers(supervisor, fleet, plan)
        start_kubelets(supervisor, fleet, plan)

    try:
        await _seed(connection, plan, args, start_clients if args.traffic else lambda: None)
        if args.traffic:
            await asyncio.Event().wait()
    finally:
        await supervisor.stop()
        await fleet.close()


async def _seed(
    connection: ServerConnection, plan: DemoPlan, args: argparse.Namespace,
    clients_may_start: Callable[[], None],
) -> None:  # fmt: skip
    total, progress = count_objects(plan), SeedProgress()
    reporters: list[SeedReporter] = [ServerSeedReporter(total)] if args.parent else []
    if args.progress:
        reporters.append(SeedReporter(total))
    plain = not reporters and not args.silent
    shown = plain and sys.stdout.isatty()
    started = time.perf_counter()

    def report(now: SeedProgress) -> None:
        nonlocal progress
        progress = now
        for reporter in reporters:
            reporter(now)
        if shown and now.done % 50 == 0:
            replace_line(f"{now.done:>9,}  {now.stage}")

    try:
        progress = await seed_quickly(connection, plan, report, clients_may_start)
    finally:
        for reporter in reporters:
            reporter.finish(progress)
    if shown:
        replace_line("")
    if plain:
        took, existed = duration(time.perf_counter() - started), integer(progress.existed)
        emit(f"created {many(progress.created, 'object')} in {took} ({existed} existed)")
