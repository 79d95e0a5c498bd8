"""The MCP server of `ktui mcp`, over standard input and output, by the SDK `mcp`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from ktui import __version__
from ktui.cli.agents.answers import Document, ToolProblem

INSTRUCTIONS = (
    "Where Kubernetes reads are served from (the watch cache or etcd), why, and what they cost. All tools "
    "are read-only; answers are JSON of at most 4 KB, with `left_out` if something did not fit. Names of a "
    "cluster are masked, unless they are allowed: the same word is the same name."
)


async def serve(
    described: list[tuple[str, str, Document]], call: Callable[[str, object], Awaitable[str]]
) -> None:
    """Serve tools, each with its name, a description and the schema of its arguments; `call` runs one."""

    async def list_tools(_: Any, __: mcp_types.PaginatedRequestParams | None) -> mcp_types.ListToolsResult:
        safe = mcp_types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
        tools = [
            mcp_types.Tool(name=name, description=about, input_schema=schema, annotations=safe)
            for name, about, schema in described
        ]
        return mcp_types.ListToolsResult(tools=tools)

    async def call_tool(_: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        try:
            text, failed = await call(params.name, params.arguments), False
        except ToolProblem as problem:
            text, failed = str(problem), True
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(type="text", text=text)], is_error=failed
        )

    server: Server[Any] = Server(
        "ktui", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools,
        on_call_tool=call_tool,
    )  # fmt: skip
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
