"""Create, change and delete ConfigMaps of the run, so that watches have every type of event."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time

from ktui.client.connection import ClientError
from ktui.workloads.behaviours.changes import CHANGED, MERGE_PATCH, delete_all
from ktui.workloads.running.context import LoadContext

OBJECTS = 10  # created and deleted together
CHANGES = 3  # of each object, between its creation and its deletion


async def keep_living(context: LoadContext) -> None:
    """Write at the rate of the knob `changes`, each object with `size` bytes; delete all at the end."""
    client = context.client(f"{context.workload}-writer/v1")
    prefix = f"ktui-workload-{context.run}{context.variant.lower()}"
    try:
        for number in itertools.count():
            rate = context.knobs.number("changes")
            await asyncio.sleep(1 / rate if rate else 1.0)
            if not rate:
                continue
            name, step = f"{prefix}-{number % OBJECTS}", number // OBJECTS % (CHANGES + 2)
            body = {
                "metadata": {"name": name},
                "data": {"at": str(time.time()), "fill": "x" * context.knobs.integer("size")},
            }
            with contextlib.suppress(ClientError):
                if step == 0:
                    await client.write("POST", CHANGED, body, "create")
                elif step <= CHANGES:
                    await client.write("PATCH", f"{CHANGED}/{name}", body, "change", content_type=MERGE_PATCH)
                else:
                    await client.write("DELETE", f"{CHANGED}/{name}", None, "delete")
    finally:
        await delete_all(client, [f"{prefix}-{number}" for number in range(OBJECTS)])
