"""Resident memory of the server and of its etcd, as reported in their /metrics."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import httpx

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.client.list_counters import lines_of
from ktui.workloads.running.context import LoadContext

EVERY_SECONDS = 0.5
RESIDENT = "process_resident_memory_bytes"


def resident_bytes(metrics: bytes) -> int:
    """Return the bytes that a /metrics page reports, 0 if it does not."""
    for line in lines_of(metrics, RESIDENT):
        return int(float(line.rpartition(" ")[2]))
    return 0


async def sample_memory(context: LoadContext, took: Callable[[int, int], None]) -> None:
    """Call `took` with the bytes of server and etcd twice a second; 0 for one that does not answer."""
    server = context.cluster.client
    etcd = (await KtuiApi(server).info()).endpoints[0]
    async with httpx.AsyncClient(base_url=etcd, timeout=EVERY_SECONDS * 4, trust_env=False) as http:
        while True:
            found = [0, 0]
            with contextlib.suppress(ClientError):
                found[0] = resident_bytes((await server.request("GET", "/metrics")).content)
            with contextlib.suppress(httpx.HTTPError):
                found[1] = resident_bytes((await http.get("/metrics")).content)
            took(*found)
            await asyncio.sleep(EVERY_SECONDS)
