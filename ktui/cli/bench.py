"""`ktui bench`: measure what the LISTs of a client plan cost the control plane."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.cli.exit_codes import OK, SERVER_ERROR, USAGE, fail
from ktui.cli.options import count
from ktui.cli.output import emit, emit_json, progress
from ktui.cli.targets import add_target_arguments, ask_before, target, target_conflict

if TYPE_CHECKING:
    from ktui.workloads.benchmark import Bench
    from ktui.workloads.plans import ClientPlan

EPILOG = """built-in plans: cilium-agent, controller-manager, helm, informer-restart, kube-proxy,
kubectl-user, kubelet. A file of your own: see docs/bench.md.

examples:
  ktui bench                                          the nine LISTs of a booting cilium-agent
  ktui bench kubelet --markdown
  ktui bench cilium-agent --agents 5000 --nodes 5000  and what that means for 5,000 of them
  ktui bench my-agent.toml --kubeconfig ~/.kube/config --repeat 1 --json

{node} and {namespace} of a plan become the server's first node and namespace.
exit status: 0 measured, 1 the server answered nothing but errors, 2 usage, 3 no connection"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure the LISTs of a client, with and without their selectors",
        description="Send the LISTs of a plan, each with and without its selector, and print what the "
        "control plane had to process for them and what came back, most expensive first. Without a running "
        "server one is started on an embedded etcd with a demo cluster.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "plan",
        metavar="PLAN|FILE.toml",
        nargs="?",
        default="cilium-agent",
        help="a built-in plan or a file (default: %(default)s)",
    )
    add("--plan", dest="named_plan", metavar="PLAN|FILE.toml", default="", help="the same as an option")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="one JSON document, for programs")
    output.add_argument("--markdown", action="store_true", help="a table for an issue or a README")
    add(
        "--repeat",
        type=count,
        metavar="N",
        help="send each LIST N times and take the median run (default: 3; 1 at a real kube-apiserver)",
    )
    add(
        "--without",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also send each LIST without its selector, to compare (default: yes)",
    )
    add("--agents", type=count, default=0, metavar="N", help="extrapolate to N such clients")
    add("--nodes", type=count, default=0, metavar="M", help="extrapolate to a cluster of M nodes")
    add("--node", metavar="NAME", default="", help="what {node} stands for")
    add("--namespace", metavar="NAME", default="", help="what {namespace} stands for")
    add_target_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from ktui.workloads.plans import find_plan  # start-up time

    if problem := target_conflict(args):
        return fail(problem, USAGE)
    bench = asyncio.run(_measure(args, find_plan(args.named_plan or args.plan)))
    _print(args, bench)
    return OK if bench.answered else SERVER_ERROR


async def _measure(args: argparse.Namespace, plan: ClientPlan) -> Bench:
    from ktui.workloads.benchmark import Bench, extrapolation, fill, run_bench  # start-up time

    async with target(args, f"ktui/{__version__}") as found:
        server = await found.assumptions()
        plan, node, namespace = await fill(found, plan, args.node, args.namespace)
        many = await extrapolation(found, plan, args.agents, args.nodes)
        paths = [planned.path for planned in plan.lists]
        twins = [planned.without for planned in plan.lists if args.without and planned.without]
        await ask_before(found, [*paths, *dict.fromkeys(twins)], server, yes=args.yes)
        repeat = args.repeat or (1 if found.real else 3)
        report = _progress if sys.stderr.isatty() else lambda _: None
        rows = await run_bench(found, plan, repeat=repeat, without=args.without, report=report)
        report("")
        return Bench(plan, rows, found.client.connection.url, node, namespace, server.behaviour.version, many)


def _progress(path: str) -> None:
    progress(path[:100])


def _print(args: argparse.Namespace, bench: Bench) -> None:
    if args.json:
        emit_json(bench.document())
        return
    from ktui.cli import bench_text  # start-up time

    if args.markdown:
        emit(bench_text.markdown(bench))
    else:
        bench_text.print_table(bench)
