"""`ktui ci`: run a command against a server of its own, and judge what it sent by budgets."""

from __future__ import annotations

import argparse

from ktui.cli.budgets.budget_options import add_budget_arguments, check_options
from ktui.cli.exit_codes import USAGE, fail
from ktui.cli.options import add_version_arguments, behaviour_from, count

EPILOG = """examples:
  ktui ci -- kubectl get pods -A                       what did it send, and what did that read?
  ktui ci --pods 2000 --write-budget budgets.toml -- make e2e
  ktui ci --pods 2000 --budget budgets.toml --junit ktui.xml -- make e2e
  ktui ci --budget budgets.toml --markdown "$GITHUB_STEP_SUMMARY" -- go test ./test/e2e/...

The command gets KUBECONFIG, the kubeconfig of a new server over an etcd of its own with all rights; the
variables of a pod (KUBERNETES_SERVICE_HOST) are removed. Requests are judged as the server recorded them.
Signals are passed on to the command.

exit status: 0 within the budgets, 1 a budget is exceeded, 2 usage, 3 the server could not start or ended,
4 the command failed (its own status is in the report), 5 it sent no request for a resource, 128+N ended by
signal N"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "ci",
        help="run a command, and judge its requests by budgets",
        description="Run a command (an e2e or envtest suite) against a server of its own, with a real etcd, "
        "and judge\nthe requests that it sent: how many, from cache or etcd, how many objects and bytes.",
        epilog=EPILOG,
        usage="%(prog)s [options] -- COMMAND …",
    )
    add = parser.add_argument
    add("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="what to run, with its arguments")
    add_budget_arguments(parser)
    add("--markdown", metavar="FILE", default="", help="write a table for a pull request")
    add(
        "--json",
        action="store_true",
        help="one JSON document; then the command's output is on standard error",
    )
    server = parser.add_argument_group("server of its own")
    add_version_arguments(server, "A=true,…")
    server.add_argument(
        "--pods", type=count, default=0, metavar="N", help="fill it with a demo cluster of N pods first"
    )
    server.add_argument("--nodes", type=count, default=0, metavar="N", help="its nodes (default 20)")
    server.add_argument(
        "--record", metavar="FILE", default="", help="keep the recording, for `ktui --replay`"
    )


def run(args: argparse.Namespace) -> int:
    import shutil  # start-up time

    from ktui.cli.budgets.run import run_and_judge

    if args.command[:1] == ["--"]:
        del args.command[0]
    if not args.command:
        return fail("name a command: ktui ci [options] -- COMMAND …", USAGE)
    behaviour_from(args)
    budgets = check_options(args, args.markdown, args.record)
    if shutil.which(args.command[0]) is None:
        return fail(f"cannot run {args.command[0]!r}: there is no such command", USAGE)
    return run_and_judge(args, budgets)
