"""`ktui mcp`: explain, list, audit and observe as tools for agents (Model Context Protocol)."""

from __future__ import annotations

import argparse

from ktui import install_command
from ktui.cli.exit_codes import OK, USAGE, fail
from ktui.cli.live_options import add_kubeconfig_arguments

EPILOG = """examples:
  ktui mcp                                              the current context of your kubeconfig
  ktui mcp --context prod --logs /var/log/kubernetes    audit logs below this folder too

in an agent's configuration: {"mcpServers": {"ktui": {"command": "ktui", "args": ["mcp"]}}}

tools: explain_request, compare_versions (no server), estimate_list, cluster_findings (the cluster),
rank_clients (logs below --logs). All of them only read; an answer is JSON of at most 4 KB and says what it
leaves out. Names of namespaces, objects, nodes, users and clients are masked unless --allow-names.

exit status: 0 standard input ended, 2 usage, or the SDK is missing"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "mcp",
        help="tools for agents: explain, estimate, rank, findings (MCP over stdio)",
        description="Serve read-only tools to an agent by the Model Context Protocol, over standard input "
        "and output.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add_kubeconfig_arguments(parser)
    add("--logs", metavar="PATH", action="append", default=[],
        help="a log file or folder that rank_clients may read; repeatable (default: none)")  # fmt: skip
    add("--allow-names", action="store_true",
        help="do not mask names; those of Secrets, addresses and tokens are hidden all the same")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    import asyncio  # start-up time
    from pathlib import Path

    missing = [path for path in args.logs if not Path(path).exists()]
    if missing:
        return fail(f"--logs {missing[0]}: there is no such file or folder", USAGE)
    try:
        from ktui.cli.agents.mcp_server import serve  # start-up time
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        return fail(f"`ktui mcp` needs the MCP SDK: {install_command('mcp')}", USAGE)
    from ktui.cli.agents.answers import Masks  # start-up time
    from ktui.cli.agents.tools import Agent

    logs = tuple(Path(path).resolve() for path in args.logs)
    asyncio.run(serve(Agent(args.kubeconfig, args.context, logs, Masks(allow=args.allow_names))))
    return OK
