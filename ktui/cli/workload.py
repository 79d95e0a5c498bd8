"""`ktui workload`: run client behaviours as programs, and measure what they cost a control plane."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING

from ktui.cli import options
from ktui.cli.exit_codes import INTERRUPTED, OK, SERVER_ERROR, USAGE, fail
from ktui.cli.options import count
from ktui.cli.output import emit_json, emit_json_text, progress
from ktui.cli.targets import add_target_arguments, target_conflict
from ktui.contract.faults import KINDS, TimedFault, timed_fault

if TYPE_CHECKING:
    from ktui.workloads.running.knobs import Knobs
    from ktui.workloads.running.runner import Run
    from ktui.workloads.running.workload import Workload

SECONDS = 60.0
MOST_SECONDS = 3_600.0
PROGRESS_SECONDS = 0.5

EPILOG = """examples:
  ktui workload list
  ktui workload list agent-boot                                    its knobs
  ktui workload run agent-boot --set agents=200 --for 30s
  ktui workload run agent-boot --kube-version 1.24 --set rv=unset --json
  ktui workload run profile.yaml                                   a LoadProfile of kperf: specs are phases
  ktui workload run agent-boot --set rv=0 --set rv=unset --compare  two policies in turn, and the difference

Without --attach or --kubeconfig a server is started for the run, over an etcd of its own with a demo
cluster. Figures are the server's own: they equal the differences of its /metrics.
Ctrl-C ends a run early: what was measured until then is printed.
exit status: 0 done, 1 no request was answered, 2 usage, 3 no connection, 130 ended by Ctrl-C"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "workload",
        help="run client behaviours and measure what they cost",
        description="Run client behaviours as programs at a server: agents that boot together, kubelets, "
        "informers. Each is bounded in requests and time, and ends with a summary by phase.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("action", choices=("list", "run"), help="list the workloads, or run one")
    add("workload", metavar="NAME|FILE", nargs="?", default="", help="a workload, or a load profile")
    add(
        "--set",
        dest="settings",
        metavar="KNOB=VALUE",
        action="append",
        default=[],
        help="change a knob; repeat for others",
    )
    add(
        "--for",
        dest="seconds",
        type=seconds,
        default=SECONDS,
        metavar="TIME",
        help="the longest that it may run: 30s, 5m (default: 60s, at most 1h)",
    )
    add(
        "--fault",
        dest="faults",
        metavar="KIND@T[:DURATION]",
        type=fault,
        action="append",
        default=[],
        help=f"disturb an etcd that ktui started, T seconds after the beginning: pause@10s:5s; "
        f"kinds: {', '.join(KINDS)}",
    )
    add(
        "--compare",
        metavar="FILE.toml",
        nargs="*",
        help="run two sets of knobs in turn: two files with a [knobs] table, or a knob given twice by --set",
    )
    add("--json", action="store_true", help="one JSON document, for programs")
    add("--stream", action="store_true", help=argparse.SUPPRESS)  # of the dashboard
    embedded = parser.add_argument_group("server of its own")
    embedded.add_argument("--kube-version", metavar="V", default="", help="Kubernetes minor to behave as")
    embedded.add_argument(
        "--pods", type=count, default=0, metavar="N", help="pods of its demo (default: 600)"
    )
    embedded.add_argument("--nodes", type=count, default=0, metavar="N", help="nodes (default: 20)")
    embedded.add_argument("--record", metavar="FILE", help="write its telemetry, for `ktui --replay`")
    add_target_arguments(parser)


def seconds(text: str) -> float:
    """Parse `90`, `60s`, `5m`, `1h` as seconds. Raises ArgumentTypeError."""
    value = options.seconds(text)
    if value > MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r}: a run takes at most 1h")
    return value


def fault(text: str) -> TimedFault:
    """Parse a fault with its time: `pause@10s:5s`. Raises ArgumentTypeError."""
    try:
        return timed_fault(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(args: argparse.Namespace) -> int:
    if problem := target_conflict(args):
        return fail(problem, USAGE)
    return _list(args) if args.action == "list" else _run(args)


def _list(args: argparse.Namespace) -> int:
    from ktui.cli import workload_text  # start-up time
    from ktui.workloads.registry import WORKLOADS, find_workload

    chosen = [find_workload(args.workload)] if args.workload else list(WORKLOADS.values())
    if args.json:
        emit_json(workload_text.described(chosen))
    elif args.workload:
        workload_text.print_knobs(chosen[0])
    else:
        workload_text.print_list(chosen)
    return OK


def _run(args: argparse.Namespace) -> int:
    from ktui.cli.workload_server import variants_of  # start-up time
    from ktui.workloads.registry import find_workload
    from ktui.workloads.running.knobs import WorkloadError

    if not args.workload:
        raise WorkloadError("name a workload: `ktui workload list` shows them")
    workload = find_workload(args.workload)
    run = asyncio.run(_go(args, workload, variants_of(workload, args.settings, args.compare)))
    from ktui.workloads.running.summary import summary_of  # start-up time

    summary = summary_of(run)
    if args.stream:
        from ktui.workloads.running.summary import Finished, encoded  # start-up time

        emit_json_text(encoded(Finished(summary)), flush=True)
    elif args.json:
        emit_json(summary)
    else:
        from ktui.cli import workload_text  # start-up time

        workload_text.print_summary(summary)
    if run.ended == "stopped" and not args.stream:
        return INTERRUPTED
    return OK if any(variant["total"]["requests"] for variant in summary["variants"]) else SERVER_ERROR


async def _go(args: argparse.Namespace, workload: Workload, variants: list[Knobs]) -> Run:
    from ktui.cli.workload_server import ask_before_load, load_target, replica_of  # start-up time
    from ktui.workloads.running.runner import Run

    killed = any(fault.kind == "kill" for _, fault in args.faults)
    killed |= any("restart" in knobs.values().values() for knobs in variants)
    async with load_target(args, killed=killed) as found, AsyncExitStack() as stack:
        ask_before_load(found.target, workload, args)
        replica = await stack.enter_async_context(replica_of(found.target)) if workload.replica else None
        run = Run(
            workload,
            variants,
            found.target.client,
            real=found.target.real,
            faults=args.faults,
            revive=found.revive,
            replica=replica,
        )
        if args.stream:
            await run.go(args.seconds, lambda: _stream(run))
            return run
        shown = sys.stderr.isatty() and not args.json
        with _stops_at_ctrl_c(run):
            await run.go(args.seconds, (lambda: _show(run)) if shown else None)
        if shown:
            progress("")
        return run


@contextmanager
def _stops_at_ctrl_c(run: Run) -> Iterator[None]:
    """While the block runs, the first Ctrl-C ends the run, with its summary; a second one ends ktui."""
    loop = asyncio.get_running_loop()

    def press() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        progress("stopping: the server ends its requests (Ctrl-C again: without a summary)")
        run.stop()

    loop.add_signal_handler(signal.SIGINT, press)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def _stream(run: Run) -> None:
    """Print lines of JSON for the dashboard each second, and follow its commands on standard input."""
    from ktui.cli.child import lines_of  # start-up time
    from ktui.workloads.running.summary import (
        SECOND,
        Refused,
        encoded,
        follow_commands,
        live_second,
        live_tables,
    )

    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    def refuse(message: str) -> None:
        emit_json_text(encoded(Refused(message)), flush=True)

    commands = asyncio.create_task(follow_commands(run, lines_of(reader), refuse))
    try:
        while True:
            await asyncio.sleep(SECOND)
            emit_json_text(encoded(live_second(run, time.time())), flush=True)
            emit_json_text(encoded(live_tables(run)), flush=True)
    finally:
        commands.cancel()


async def _show(run: Run) -> None:
    """Show the progress. It is polled, since it changes hundreds of times a second."""
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        context = run.current.context
        if context is not None:
            name = f"{run.current.name} " if run.current.name else ""
            progress(f"{run.workload.name} {name}· {context.phase} · {context.now}"[:100])
