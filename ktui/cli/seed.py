"""`ktui seed`: create a demo cluster of any size in the running server."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ktui.cli.exit_codes import OK, fail
from ktui.cli.options import add_demo_size
from ktui.cli.output import emit, replace_line, tell, warn
from ktui.core.format import duration, integer, many

if TYPE_CHECKING:
    from ktui.cli.seed_progress import SeedReporter, ServerSeedReporter
    from ktui.client.connection import ServerConnection
    from ktui.supervision import Supervisor
    from ktui.workloads.demo.plan import DemoPlan
    from ktui.workloads.seeding import SeedProgress


FAILING = "failing clients: "  # a line of standard error for the server: a JSON list of sentences follows


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ktui.cli.attach import add_attach_arguments  # start-up time

    parser = subparsers.add_parser(
        "seed",
        help="fill the running server with a demo cluster",
        description="Create a demo cluster through the server's API. What exists already is left alone. "
        "In an embedded etcd most of more than 5,000 pods, and their related objects, are written as copies.",
        epilog="examples:\n  ktui seed --pods 20000 --nodes 500 --namespaces 40\n"
        "  ktui seed --traffic                                 until interrupted\n\n"
        "exit status: 0 done, 2 usage, 3 no connection, or the server refused an object",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_demo_size(parser)
    add_attach_arguments(parser)
    parser.add_argument(
        "--traffic", action="store_true", help="keep a gentle traffic going until interrupted"
    )
    parser.add_argument("--silent", action="store_true", help="print nothing but errors")
    parser.add_argument("--progress", action="store_true", help=argparse.SUPPRESS)  # of `serve --demo`
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    from ktui.cli.attach import require_connection  # start-up time
    from ktui.cli.crash import keep_quiet
    from ktui.cli.parent_process import die_with_parent
    from ktui.client.connection import ClientError
    from ktui.workloads.demo.plan import DemoSize, make_plan

    if args.parent:
        die_with_parent(args.parent)
    keep_quiet()
    try:
        connection = require_connection(args)
        plan = make_plan(DemoSize(args.pods, args.nodes, args.namespaces, args.seed))
        asyncio.run(_run(connection, plan, args))
    except ClientError as error:
        return fail(str(error))
    return OK


async def _run(connection: ServerConnection, plan: DemoPlan, args: argparse.Namespace) -> None:
    """Create the demo cluster; with `--traffic` clients then read and kubelets write."""
    from ktui.supervision import Supervisor  # start-up time
    from ktui.workloads.traffic import start_kubelets, start_readers

    supervisor = Supervisor(lambda: _report_failures(supervisor, to_server=bool(args.parent)))
    try:
        await _seed(connection, plan, args)
        if args.traffic:
            start_readers(supervisor, connection, plan)
            start_kubelets(supervisor, connection, plan)
            await asyncio.Event().wait()
    finally:
        await supervisor.stop()


def _report_failures(supervisor: Supervisor, *, to_server: bool) -> None:
    """Print which clients fail on standard error, for users or for `ktui serve --demo`."""
    failing = [str(failure) for failure in supervisor.failures]
    if to_server:
        tell(FAILING + json.dumps(failing))
        return
    for text in failing:
        warn(text)


def read_failing(line: str) -> list[str]:
    """Return the sentences in a line that begins with FAILING."""
    with contextlib.suppress(ValueError):
        return [str(text) for text in json.loads(line.removeprefix(FAILING))]
    return []


async def _seed(connection: ServerConnection, plan: DemoPlan, args: argparse.Namespace) -> None:
    from ktui.cli.seed_copies import seed_quickly  # start-up time
    from ktui.cli.seed_progress import SeedReporter, ServerSeedReporter

    reporters: list[SeedReporter | ServerSeedReporter] = [ServerSeedReporter()] if args.parent else []
    if args.progress:
        reporters.append(SeedReporter(0))
    if reporters:
        await _seed_with_progress(connection, plan, reporters)
        return
    started = time.perf_counter()
    progress = await seed_quickly(connection, plan, (lambda _: None) if args.silent else _report)
    if not args.silent:
        seconds = time.perf_counter() - started
        if sys.stdout.isatty():
            replace_line("")
        emit(
            f"created {many(progress.created, 'object')} in {duration(seconds)} "
            f"({integer(progress.existed)} existed)"
        )


async def _seed_with_progress(
    connection: ServerConnection, plan: DemoPlan, reporters: Sequence[SeedReporter | ServerSeedReporter]
) -> None:
    """Create the objects and report the progress.

    Counting them first would take seconds for a large cluster.
    """
    from ktui.cli.seed_copies import seed_quickly  # start-up time
    from ktui.workloads.seeding import SeedProgress, count_objects

    progress = SeedProgress()

    def report(now: SeedProgress) -> None:
        nonlocal progress
        progress = now
        for reporter in reporters:
            reporter(now)

    async def count() -> None:
        total = await asyncio.to_thread(count_objects, plan)
        for reporter in reporters:
            reporter.total = total

    try:
        await asyncio.gather(count(), seed_quickly(connection, plan, report))
    finally:
        for reporter in reporters:
            reporter.finish(progress)


def _report(progress: SeedProgress) -> None:
    done = progress.created + progress.existed
    if done % 50 == 0 and sys.stdout.isatty():
        replace_line(f"{done:>9,}  {progress.stage}")
