"""`ktui kubeconfig`: print the path of a kubeconfig for the running server."""

from __future__ import annotations

import argparse

from ktui.cli.exit_codes import OK, fail
from ktui.cli.output import emit


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "kubeconfig",
        help="print the path of a kubeconfig for the running server",
        description="Print the path of a kubeconfig (mode 0600) for the running server; "
        "the newest one's if there are several.",
        epilog="example:\n  KUBECONFIG=$(ktui kubeconfig) kubectl get pods -A\n\n"
        "exit status: 0 printed, 2 usage, 3 no server of yours runs",
    )
    parser.add_argument("--attach", metavar="URL", help="of the server at URL, when several run")


def run(args: argparse.Namespace) -> int:
    from ktui.client.running import (
        find_by_url,
        find_running,
        write_kubeconfig,  # start-up time
    )

    server = find_by_url(args.attach) if args.attach else next(iter(find_running()), None)
    if server is None:
        where = f"at {args.attach}" if args.attach else "on this machine"
        return fail(f"no ktui server of yours runs {where}; start one with `ktui` or `ktui serve`")
    if not server.kubeconfig.exists():
        write_kubeconfig(server.connection, server.kubeconfig)
    emit(str(server.kubeconfig))
    return OK
