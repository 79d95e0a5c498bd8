"""`ktui seed`: a demo cluster of any size in the running server."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from typing import TYPE_CHECKING

from ktui.cli.exits import OK, fail
from ktui.cli.options import add_demo_size

if TYPE_CHECKING:
    from ktui.client.connection import Connection
    from ktui.workloads.demo.plan import Plan
    from ktui.workloads.seeding import SeedProgress


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from ktui.cli.attach import add_attach_arguments

    parser = subparsers.add_parser(
        "seed",
        help="fill the running server with a demo cluster",
        description="Create a demo cluster through the server's own create path. "
        "What exists already is left alone.",
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
    from ktui.cli.attach import require_connection
    from ktui.cli.parent import die_with_parent
    from ktui.client.connection import ClientError
    from ktui.workloads.demo.plan import DemoSize, make_plan

    if args.parent:
        die_with_parent(args.parent)
    try:
        connection = require_connection(args)
        plan = make_plan(DemoSize(args.pods, args.nodes, args.namespaces, args.seed))
        asyncio.run(_run(connection, plan, args))
    except ClientError as error:
        return fail(str(error))
    except ExceptionGroup as group:  # from the tasks that create side by side; each says the same
        refused, others = group.split(ClientError)
        if refused is None or others is not None:
            raise
        return fail(str(refused.exceptions[0]))
    return OK


async def _run(connection: Connection, plan: Plan, args: argparse.Namespace) -> None:
    """Seed; with `--traffic` clients read from the first moment on, and kubelets write when it is done."""
    from ktui.workloads.traffic import run_kubelets, run_readers

    async with asyncio.TaskGroup() as group:
        if args.traffic:
            group.create_task(run_readers(connection, plan))
        await _seed(connection, plan, args)
        if args.traffic:
            group.create_task(run_kubelets(connection, plan))


async def _seed(connection: Connection, plan: Plan, args: argparse.Namespace) -> None:
    from ktui.cli.seed_progress import SeedTeller
    from ktui.workloads.seeding import count_objects, seed

    if args.progress:
        teller = SeedTeller(await asyncio.to_thread(count_objects, plan))
        teller.finish(await seed(connection, plan, teller))
        return
    started = time.perf_counter()
    progress = await seed(connection, plan, (lambda _: None) if args.silent else _report)
    if not args.silent:
        seconds = time.perf_counter() - started
        erased = "\r\033[K" if sys.stdout.isatty() else ""
        print(
            f"{erased}created {progress.created:,} objects in {seconds:.1f} s ({progress.existed:,} existed)"
        )


def _report(progress: SeedProgress) -> None:
    done = progress.created + progress.existed
    if done % 50 == 0 and sys.stdout.isatty():
        print(f"\r\033[K{done:>9,}  {progress.stage}", end="", flush=True)
