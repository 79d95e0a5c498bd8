"""A reflector of the informers: where it continues, and that it ends at its first cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.workloads.behaviours.client_reflector import InformerReflector
from ktui.workloads.catalog.informers import COLLECTIONS, WORKLOAD
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import Fleet
from ktui.workloads.running.knobs import Knobs
from ktui.workloads.running.workload import Cluster, LoadContext

pytestmark = pytest.mark.anyio
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"


@asynccontextmanager
async def watches() -> AsyncIterator[tuple[str, asyncio.Queue[bytes]]]:
    """A server whose WATCHes stay open, and where it puts the head of each request for one."""
    opened: asyncio.Queue[bytes] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):  # connected, and cancelled before its request
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(STREAM)
            opened.put_nowait(head)
            await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", opened


@asynccontextmanager
async def reflecting(version: str) -> AsyncIterator[tuple[InformerReflector, asyncio.Queue[bytes]]]:
    """A reflector of pods that continues at `version`, and the requests that its server gets."""
    async with watches() as (url, opened):
        connection = ServerConnection(url)
        fleet, cluster = Fleet(connection), Cluster(ApiClient(connection), (), ())
        context = LoadContext("informers", "r", "", Knobs(WORKLOAD.knobs), cluster, fleet, Account("r"))
        reflector = InformerReflector(context, context.client("informer/v1"), COLLECTIONS["pods"])
        reflector.version = version
        try:
            yield reflector, opened
        finally:
            await fleet.close()
            await cluster.client.close()


@pytest.mark.parametrize("turns", range(8))
async def test_a_cancellation_while_a_cut_watch_closes_is_not_lost(turns: int) -> None:
    async with reflecting("1") as (reflector, opened):
        task = asyncio.create_task(reflector.run())
        await opened.get()
        reflector.cut.set()
        for _ in range(turns):  # of the event loop: the watch is at another step of closing
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=60)
        assert done and task.cancelled()


async def test_it_comes_back_with_the_version_it_is_given_whatever_it_reads_meanwhile() -> None:
    async with reflecting("7") as (reflector, opened):
        task = asyncio.create_task(reflector.run())
        first = await opened.get()
        reflector.comes_back_with = "1"
        reflector.cut.set()
        reflector.version = "8"  # of an event that was being read
        second = await opened.get()
        task.cancel()
        await asyncio.wait({task})
    assert b"resourceVersion=7&" in first and b"resourceVersion=1&" in second
