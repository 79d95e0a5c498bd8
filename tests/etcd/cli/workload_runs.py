"""Runs of a workload that end as soon as they have shown what a test waits for.

Of every run the figures on screen and those of the summary have to equal the growth of the server's /metrics.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.metrics_page import samples_of
from ktui.workloads.registry import find_workload
from ktui.workloads.running.knobs import assign
from ktui.workloads.running.runner import Run
from ktui.workloads.running.summary import live_second, summary_of


def run_with(client: ApiClient, name: str, *settings: str, **more: Any) -> Run:
    """A run of the workload with these knobs."""
    found = find_workload(name)
    knobs = found.settings()
    assign(knobs, settings)
    return Run(found, [knobs], client, real=False, **more)


async def go_until(
    run: Run, holds: Callable[[Run], bool], meanwhile: Callable[[Run], Awaitable[None]] | None = None
) -> None:
    """Run until it `holds` after what is done `meanwhile`, or the run has completed."""

    async def stop() -> None:
        if meanwhile is not None:
            await meanwhile(run)
        while not holds(run):
            await asyncio.sleep(0.01)  # a run gives no signal
        run.stop()

    await run.go(100.0, stop)  # on a busy machine, too
    assert run.ended in ("stopped", "complete")


async def stopped(server: ServerConnection, holds: Callable[[Run], bool], name: str, *settings: str) -> Run:
    """A run that is stopped as soon as it is as wanted."""
    client = ApiClient(server)
    run = run_with(client, name, *settings)
    try:
        await go_until(run, holds)
    finally:
        await client.close()
    assert run.ended == "stopped"
    return run


def sent_by(run: Run) -> Counter[tuple[str, str]]:
    total = Counter[tuple[str, str]]()
    for figures in run.account.phases.values():
        total.update(figures.verb_routes)
    return total


async def summary_when(
    server: ServerConnection, name: str, holds: Callable[[Run], bool], *settings: str, names: int = 2
) -> dict[str, Any]:
    """The summary of a run that is stopped once `holds`, or has completed.

    Before it begins it lists the names of nodes, namespaces and what else it needs: `names` LISTs.
    """
    client = ApiClient(server)
    run = run_with(client, name, *settings)
    try:
        before = await requests_by_verb(client)
        await go_until(run, holds)
        grown = await requests_by_verb(client) - before
    finally:
        await client.close()
    summary = summary_of(run)
    total = summary["variants"][0]["total"]
    counted, verbs = grown - Counter(LIST=names), Counter(total["verbs"])
    verbs["DELETE"] += verbs.pop(
        "DELETECOLLECTION", 0
    )  # the counter has the method of a collection's deletion
    assert counted == +verbs, (counted, verbs)
    # No test has taken live figures yet: all seconds are in one.
    shown = live_second(run, 0.0)
    errors = shown.routes.pop("!", 0)
    assert sum(shown.routes.values()) == total["requests"] and errors == total["failed"] + total["rejected"]
    assert (shown.etcd_rpcs, shown.etcd_bytes) == (total["etcd_rpcs"], total["etcd_bytes"])
    assert summary["remarks"] == []
    return summary


async def requests_by_verb(client: ApiClient) -> Counter[str]:
    """Requests for resources that the server has answered, by its own counter."""
    found = Counter[str]()
    page = (await client.request("GET", "/metrics")).content
    for _, labels, value in samples_of(page, "apiserver_request_total"):
        if labels.get("resource"):
            verb = labels["verb"].replace("APPLY", "PATCH")  # telemetry names the method
            found[verb] += int(value)
    return found


def table_of(summary: dict[str, Any], title: str) -> list[dict[str, str]]:
    """The rows of one of the run's own tables."""
    tables = summary["variants"][0]["tables"]
    rows: list[dict[str, str]] = next(table["rows"] for table in tables if table["title"].startswith(title))
    return rows
