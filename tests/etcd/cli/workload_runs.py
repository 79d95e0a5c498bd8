"""Runs of a workload that end as soon as they have shown what a test waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.workloads.registry import find_workload
from ktui.workloads.running.knobs import assign
from ktui.workloads.running.runner import Run
from ktui.workloads.running.summary import summary_of


async def summary_when(
    server: ServerConnection, name: str, holds: Callable[[Run], bool], *settings: str
) -> dict[str, Any]:
    """The summary of a run that is stopped once `holds`, or has completed."""
    client = ApiClient(server)
    found = find_workload(name)
    knobs = found.settings()
    assign(knobs, settings)
    run = Run(found, [knobs], client, real=False)

    async def stop() -> None:
        while not holds(run):
            await asyncio.sleep(0.01)  # findings change without a signal
        run.stop()

    try:
        await run.go(60.0, stop)
    finally:
        await client.close()
    assert run.ended in ("stopped", "complete")
    return summary_of(run)


def table_of(summary: dict[str, Any], title: str) -> list[dict[str, str]]:
    """The rows of one of the run's own tables."""
    tables = summary["variants"][0]["tables"]
    rows: list[dict[str, str]] = next(table["rows"] for table in tables if table["title"].startswith(title))
    return rows
