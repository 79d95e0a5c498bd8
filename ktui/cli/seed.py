"""`ktui seed`: create a demo cluster of any size in the running server."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ktui.cli.exit_codes import OK
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
    from ktui.cli.targets import add_attach_arguments  # start-up time

    parser = subparsers.add_parser(
        "seed",
        help="fill the running server with a demo cluster",
        description="Create a demo cluster through the server's API. What exists already is left alone. "
        "In an embedded etcd most objects are written as copies of the first ones that the server stored.",
        epilog="examples:\n  ktui seed --pods 20000 --nodes 500 --namespaces 40\n"
        "  ktui seed --traffic                                 until interrupted\n\n"
        "exit status: 0 done, 2 usage, 3 no connection, or the server refused an object",
    )
    add_demo_size(parser)
    add_attach_arguments(parser)
    parser.add_argument(
        "--traffic", action="store_true", help="keep a gentle traffic going until interrupted"
    )
    parser.add_argument("--silent", action="store_true", help="print nothing but errors")
    parser.add_argument("--progress", action="store_true", help=argparse.SUPPRESS)  # of `serve --demo`
    # The server that starts this process; it writes its URL to standard input once it serves.
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    from ktui.cli.child import die_with_parent  # start-up time
    from ktui.cli.crash import keep_quiet
    from ktui.cli.targets import require_connection  # start-up time
    from ktui.workloads.demo.plan import DemoSize, make_plan

    keep_quiet()
    if args.parent:
        die_with_parent(args.parent)
        _import_clients()  # while the server starts
        args.attach = sys.stdin.readline().strip()
    connection = require_connection(args)
    plan = make_plan(DemoSize(args.pods, args.nodes, args.namespaces, args.seed))
    asyncio.run(_run(connection, plan, args))
    return OK


def _import_clients() -> None:
    import ktui.cli.seed_copies  # start-up time
    import ktui.workloads.demo.light_traffic  # noqa: F401


async def _run(connection: ServerConnection, plan: DemoPlan, args: argparse.Namespace) -> None:
    """Create the demo cluster; with `--traffic` clients read and kubelets write once their objects exist."""
    from ktui.supervision import Supervisor  # start-up time
    from ktui.workloads.demo.light_traffic import start_kubelets, start_readers

    supervisor = Supervisor(lambda: _report_failures(supervisor, to_server=bool(args.parent)))

    def start_clients() -> None:
        start_readers(supervisor, connection, plan)
        start_kubelets(supervisor, connection, plan)

    try:
        await _seed(connection, plan, args, start_clients if args.traffic else lambda: None)
        if args.traffic:
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


async def _seed(
    connection: ServerConnection,
    plan: DemoPlan,
    args: argparse.Namespace,
    clients_may_start: Callable[[], None],
) -> None:
    from ktui.cli.seed_copies import seed_quickly  # start-up time
    from ktui.cli.seed_progress import SeedReporter, ServerSeedReporter
    from ktui.workloads.seeding import count_objects

    total = count_objects(plan)
    reporters: list[SeedReporter | ServerSeedReporter] = [ServerSeedReporter(total)] if args.parent else []
    if args.progress:
        reporters.append(SeedReporter(total))
    if reporters:
        await _seed_with_progress(connection, plan, reporters, clients_may_start)
        return
    started = time.perf_counter()
    report = (lambda _: None) if args.silent else _report
    progress = await seed_quickly(connection, plan, report, clients_may_start)
    if not args.silent:
        seconds = time.perf_counter() - started
        if sys.stdout.isatty():
            replace_line("")
        emit(
            f"created {many(progress.created, 'object')} in {duration(seconds)} "
            f"({integer(progress.existed)} existed)"
        )


async def _seed_with_progress(
    connection: ServerConnection,
    plan: DemoPlan,
    reporters: Sequence[SeedReporter | ServerSeedReporter],
    clients_may_start: Callable[[], None],
) -> None:
    """Create the objects and report the progress."""
    from ktui.cli.seed_copies import seed_quickly  # start-up time
    from ktui.workloads.seeding import SeedProgress

    progress = SeedProgress()

    def report(now: SeedProgress) -> None:
        nonlocal progress
        progress = now
        for reporter in reporters:
            reporter(now)

    try:
        await seed_quickly(connection, plan, report, clients_may_start)
    finally:
        for reporter in reporters:
            reporter.finish(progress)


def _report(progress: SeedProgress) -> None:
    done = progress.created + progress.existed
    if done % 50 == 0 and sys.stdout.isatty():
        replace_line(f"{done:>9,}  {progress.stage}")
