"""The MCP server of `ktui mcp`, over standard input and output, by the SDK `mcp`."""

from __future__ import annotations

from typing import Any

import mcp_types as mcp
from mcp.server import Server
from mcp.server.stdio import stdio_server

from ktui import __version__
from ktui.cli.agents.answers import ToolProblem
from ktui.cli.agents.tools import TOOLS, Agent, call

INSTRUCTIONS = (
    "Where Kubernetes reads are served from (the watch cache or etcd), why, and what they cost. All tools "
    "are read-only; answers are JSON of at most 4 KB, with `left_out` if something did not fit. Names of a "
    "cluster are masked, unless they are allowed: the same word is the same name."
)


async def serve(agent: Agent) -> None:
    async def list_tools(_: Any, __: mcp.PaginatedRequestParams | None) -> mcp.ListToolsResult:
        safe = mcp.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
        tools = [
            mcp.Tool(name=name, description=tool.about, input_schema=tool.schema(), annotations=safe)
            for name, tool in TOOLS.items()
        ]
        return mcp.ListToolsResult(tools=tools)

    async def call_tool(_: Any, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        try:
            text, failed = await call(params.name, params.arguments, agent), False
        except ToolProblem as problem:
            text, failed = str(problem), True
        return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=text)], is_error=failed)

    server: Server[Any] = Server(
        "ktui", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools,
        on_call_tool=call_tool,
    )  # fmt: skip
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
