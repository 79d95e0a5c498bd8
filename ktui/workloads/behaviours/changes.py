"""Change a ConfigMap of the run at a rate, so that etcd's revision advances and watches have events."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable

from ktui.client.connection import ClientError
from ktui.workloads.demo.pods import MERGE
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import LoadContext

CHANGED = "/api/v1/namespaces/default/configmaps"
DELETE_SECONDS = 5.0


def changes_knob(rate: float) -> Knob:
    return Knob("changes", rate, "changes a second to a ConfigMap of the run's own", most=200, unit="/s")


async def _at_rate(context: LoadContext) -> AsyncIterator[int]:
    """Yield 0, 1, 2 … at the rate of the knob `changes`; while that is 0, look at it every second."""
    number = 0
    while True:
        rate = context.knobs.number("changes")
        await asyncio.sleep(1 / rate if rate else 1.0)
        if rate:
            yield number
            number += 1


async def keep_changing(context: LoadContext) -> None:
    """Create the ConfigMap, patch it at the rate of the knob `changes`, and delete it at the end."""
    client = context.client(f"{context.workload}-writer/v1")
    name = f"ktui-workload-{context.run}{context.variant.lower()}"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {}}
    try:
        with contextlib.suppress(ClientError):
            await client.write("POST", CHANGED, body, "create")
        async for _ in _at_rate(context):
            patch = {"data": {"at": str(time.time())}}
            with contextlib.suppress(ClientError):
                await client.write("PATCH", f"{CHANGED}/{name}", patch, "change", content_type=MERGE)
    finally:
        await delete_all(client, [name])


async def delete_all(client: LoadClient, names: Iterable[str]) -> None:
    """Delete these ConfigMaps within DELETE_SECONDS, as the run waits for it, whatever the server does."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DELETE_SECONDS):
            for name in names:
                with contextlib.suppress(ClientError):
                    await client.write("DELETE", f"{CHANGED}/{name}", None, "delete")


OBJECTS = 10  # created and deleted together
CHANGES = 3  # of each object, between its creation and its deletion


async def keep_living(context: LoadContext) -> None:
    """Write at the rate of the knob `changes`, each object with `size` bytes; delete all at the end."""
    client = context.client(f"{context.workload}-writer/v1")
    prefix = f"ktui-workload-{context.run}{context.variant.lower()}"
    try:
        async for number in _at_rate(context):
            name, step = f"{prefix}-{number % OBJECTS}", number // OBJECTS % (CHANGES + 2)
            body = {
                "metadata": {"name": name},
                "data": {"at": str(time.time()), "fill": "x" * context.knobs.integer("size")},
            }
            with contextlib.suppress(ClientError):
                if step == 0:
                    await client.write("POST", CHANGED, body, "create")
                elif step <= CHANGES:
                    await client.write("PATCH", f"{CHANGED}/{name}", body, "change", content_type=MERGE)
                else:
                    await client.write("DELETE", f"{CHANGED}/{name}", None, "delete")
    finally:
        await delete_all(client, [f"{prefix}-{number}" for number in range(OBJECTS)])
