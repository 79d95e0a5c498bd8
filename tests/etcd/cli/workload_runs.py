"""Runs of a workload that end as soon as they have shown what a test waits for.

Of every run the figures on screen and those of the summary have to equal the growth of the server's /metrics.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.list_counters import lines_of
from ktui.workloads.registry import find_workload
from ktui.workloads.running.knobs import assign
from ktui.workloads.running.run_lines import live_second
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
        before = await requests_by_verb(client)
        await run.go(60.0, stop)
        grown = await requests_by_verb(client) - before
    finally:
        await client.close()
    assert run.ended in ("stopped", "complete")
    summary = summary_of(run)
    total = summary["variants"][0]["total"]
    # The run itself lists the names of nodes and namespaces before it begins.
    counted = dict(grown - Counter(LIST=2))
    assert counted == total["verbs"], (counted, total["verbs"])
    # No test has taken live figures yet: all seconds are in one.
    shown = live_second(run, 0.0)
    errors = shown.routes.pop("!", 0)
    assert sum(shown.routes.values()) == total["requests"] and errors == total["failed"] + total["rejected"]
    assert (shown.etcd_rpcs, shown.etcd_bytes) == (total["etcd_rpcs"], total["etcd_bytes"])
    assert summary["remarks"] == []
    return summary


_LABELS = re.compile(r'[{,](resource|verb)="([^"]*)"')


async def requests_by_verb(client: ApiClient) -> Counter[str]:
    """Requests for resources that the server has answered, by its own counter."""
    found = Counter[str]()
    for line in lines_of((await client.request("GET", "/metrics")).content, "apiserver_request_total"):
        labels = dict(_LABELS.findall(line))
        if labels.get("resource"):
            verb = labels["verb"].replace("APPLY", "PATCH")  # telemetry names the method
            found[verb] += int(float(line.rpartition(" ")[2]))
    return found


def table_of(summary: dict[str, Any], title: str) -> list[dict[str, str]]:
    """The rows of one of the run's own tables."""
    tables = summary["variants"][0]["tables"]
    rows: list[dict[str, str]] = next(table["rows"] for table in tables if table["title"].startswith(title))
    return rows
