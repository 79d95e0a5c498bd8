"""`ktui mcp`: explain, list, audit and observe as tools for agents (Model Context Protocol)."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from ktui import install_command
from ktui.cli.agents.answers import Masks
from ktui.cli.agents.tools import Agent
from ktui.cli.exit_codes import OK, USAGE, fail


def run(args: argparse.Namespace) -> int:
    missing = [path for path in args.logs if not Path(path).exists()]
    if missing:
        return fail(f"--logs {missing[0]}: there is no such file or folder", USAGE)
    try:
        from ktui.cli.agents.mcp_server import serve  # start-up time
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        return fail(f"`ktui mcp` needs the MCP SDK: {install_command('mcp')}", USAGE)
    logs = tuple(Path(path).resolve() for path in args.logs)
    asyncio.run(serve(Agent(args.kubeconfig, args.context, logs, Masks(allow=args.allow_names))))
    return OK
