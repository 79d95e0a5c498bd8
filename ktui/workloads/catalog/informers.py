"""informers: reflectors that LIST and WATCH, and what each way of losing one's place costs."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import Sequence

from ktui.client.connection import ClientError
from ktui.client.list_stream import ListBody
from ktui.core.format import integer, long_bytes, milliseconds
from ktui.workloads.behaviours.changes import changes_knob, keep_changing
from ktui.workloads.running.account import Account
from ktui.workloads.running.context import FindingsTable, LoadContext
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import Fix, Workload

COLLECTIONS = {
    "pods": "/api/v1/pods",
    "configmaps": "/api/v1/configmaps",
    "leases": "/apis/coordination.k8s.io/v1/leases",
}
LOSSES = ("none", "cut", "old")
WATCH_SECONDS = 600
TOO_OLD = b'"code":410'
INITIAL_END = b"k8s.io/initial-events-end"
_VERSION = re.compile(rb'"resourceVersion":"(\d+)"')
CHUNK_TAIL = 64 * 1024

KNOBS = (
    Knob("informers", 20, "reflectors", least=1, most=400),
    Knob("resource", "pods", "what they watch", tuple(COLLECTIONS)),
    Knob("watchlist", False, "start with a streaming list (WatchList) instead of a LIST"),
    Knob("loss", "cut", "how they lose their place: not, by a cut, by coming back with version 1", LOSSES),
    Knob("every", 10.0, "seconds between two losses", least=1, most=600, unit="s"),
    changes_knob(5.0),
)


class InformerReflector:
    """One informer: its last resourceVersion, and the task of its watch."""

    def __init__(self, context: LoadContext, client: LoadClient) -> None:
        self._context = context
        self._client = client
        self._collection = COLLECTIONS[context.knobs.text("resource")]
        self.version = ""
        self.cut = asyncio.Event()

    async def run(self) -> None:
        """List, watch, and again after every end."""
        while True:
            try:
                if not self.version:
                    await self._begin()
                await self._watch()
            except ClientError:
                self.version = ""
                await asyncio.sleep(1.0)

    async def _begin(self, label: str = "LIST rv=0", query: str = "resourceVersion=0") -> None:
        if self._context.knobs.yes("watchlist"):
            return  # the watch itself begins with the objects
        answer = await self._client.get(f"{self._collection}?{query}", label, keep=True)
        body = ListBody(collection=True)
        body.feed(answer.body)
        self.version = body.envelope().metadata.resource_version if answer.ok else ""

    async def _watch(self) -> None:
        """Until the server or a cut ends it. After a 410 all is listed again, from where it is current."""
        self.cut.clear()
        query = "watch=true&allowWatchBookmarks=true"
        label = "WATCH"
        if self.version:
            query += f"&resourceVersion={self.version}"
        elif self._context.knobs.yes("watchlist"):
            query += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
            label = "WATCH initial"
        path = f"{self._collection}?{query}&timeoutSeconds={WATCH_SECONDS}"
        reading = asyncio.ensure_future(self._read(path, label))
        cut = asyncio.ensure_future(self.cut.wait())
        try:
            await asyncio.wait({reading, cut}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            cut.cancel()
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading

    async def _read(self, path: str, label: str) -> None:
        tail = b""
        async for piece in self._client.watch(path, label):
            tail = (tail + piece)[-CHUNK_TAIL:]
            if TOO_OLD in piece and b'"type":"ERROR"' in tail:
                self._context.count("too_old")
                self.version = ""
                await self._begin("LIST after 410", "limit=500")
                return
            if versions := _VERSION.findall(piece):
                self.version = versions[-1].decode()
                self._context.count("events_seen", piece.count(b"\n"))


async def run(context: LoadContext) -> None:
    """Keep the reflectors running, lose their place now and then, and change objects meanwhile."""
    context.begin("start")
    async with asyncio.TaskGroup() as group:
        reflectors = [
            InformerReflector(context, context.client("informer/v1.36.2"))
            for _ in range(context.knobs.integer("informers"))
        ]
        for reflector in reflectors:
            group.create_task(reflector.run())
        group.create_task(keep_changing(context))
        for number in itertools.count(1):
            await context.pause(context.knobs.number("every"))
            lose(context, reflectors, number)


def lose(context: LoadContext, reflectors: Sequence[InformerReflector], number: int) -> None:
    """Cut all watches; with `old` they come back with resourceVersion 1.

    As far as the event buffer reaches history is replayed to them; beyond it a 410 makes them list again."""
    loss = context.knobs.text("loss")
    if loss == "none":
        return
    context.begin(f"after {loss}")
    context.now = f"loss {number}"
    for reflector in reflectors:
        if loss == "old":
            reflector.version = "1"
        reflector.cut.set()


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    """What each kind of request cost."""
    rows = tuple(
        (
            label,
            integer(figures.requests),
            "".join(sorted(figures.letters)),
            integer(figures.spent.returned),
            long_bytes(figures.spent.encoded_bytes),
            long_bytes(figures.spent.etcd_bytes),
            milliseconds(figures.milliseconds(0.95)),
        )
        for (variant, label), figures in account.labels.items()
        if variant == context.variant
    )
    heads = ("request", "count", "from", "objects", "returned", "out of etcd", "p95 ms")
    note = "LIST after 410: the price of a version that is too old; after a cut the watch just resumes"
    return [FindingsTable("by kind of request", heads, rows, (note,))] if rows else []


WORKLOAD = Workload(
    name="informers",
    sentence="Reflectors LIST and WATCH; the network is cut, or their version is old: what does it cost?",
    own_knobs=KNOBS,
    run=run,
    tables=tables,
    fixes=(
        Fix("the network is cut: watches resume", ("loss=cut",)),
        Fix("an old version: history is replayed, or 410 and a LIST", ("loss=old",)),
        Fix("no losses", ("loss=none",)),
        Fix("streaming lists (WatchList)", ("watchlist=yes",)),
        Fix("plain LISTs", ("watchlist=no",)),
    ),
    writes=True,
)
