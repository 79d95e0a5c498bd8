"""informers: reflectors that LIST and WATCH, and the cost of each way of losing the watch."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

from ktui.contract.faults import Fault
from ktui.core.format import integer, long_bytes, milliseconds
from ktui.workloads.behaviours.changes import changes_knob, keep_living
from ktui.workloads.behaviours.client_reflector import InformerReflector, LossCounts
from ktui.workloads.running.account import Account
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

COLLECTIONS = {
    "configmaps": "/api/v1/configmaps",
    "pods": "/api/v1/pods",
    "leases": "/apis/coordination.k8s.io/v1/leases",
}
LOSSES = {
    "none": "they do not lose it",
    "cut": "the network is cut: the watch resumes where it was",
    "old": "they come back with resourceVersion 1",
    "overrun": "they come back with a version just before the event buffer",
    "compaction": "etcd is cut off until it compacts: the cache is filled again",
    "restart": "the server is killed, and its caches are filled again",
    "slow": "they stop reading: the server ends the watch of a slow client",
}
CUT_SECONDS, COMPACT_AFTER = 3.0, 1.0

KNOBS = (
    Knob("informers", 20, "reflectors", least=1, most=400),
    Knob("resource", "configmaps", "what they watch", tuple(COLLECTIONS)),
    Knob("watchlist", False, "start with a streaming list (WatchList) instead of a LIST"),
    Knob(
        "loss", "cut", f"how they lose their place: {'; '.join(map(': '.join, LOSSES.items()))}",
        tuple(LOSSES),
    ),
    Knob("loss_interval", 10.0, "seconds between two losses", least=1, most=600, unit="s", former="every"),
    Knob("deleted_rv", "new", "old: a DELETED has its version from before, as up to 1.9.2", ("new", "old")),
    changes_knob(5.0),
    Knob("size", 100, "bytes of data in each ConfigMap that is changed", most=200_000, unit="B"),
)  # fmt: skip


async def run(context: LoadContext) -> None:
    """Run the reflectors, make them lose their watch from time to time, and change objects meanwhile."""
    context.begin("start")
    by_loss: dict[str, LossCounts] = context.memory.setdefault("losses", {})
    collection = COLLECTIONS[context.knobs.text("resource")]
    async with asyncio.TaskGroup() as group:
        reflectors = [
            InformerReflector(context, context.client("informer/v1.36.2"), collection)
            for _ in range(context.knobs.integer("informers"))
        ]
        for reflector in reflectors:
            group.create_task(reflector.run())
        group.create_task(keep_living(context))
        for number in itertools.count(1):
            await context.pause(context.knobs.number("loss_interval"))
            loss = context.knobs.text("loss")
            if loss == "none":
                continue
            context.begin(f"after {loss}")
            context.now = f"loss {number}"
            counts = by_loss.setdefault(loss, LossCounts())
            counts.lost += len(reflectors)
            for reflector in reflectors:
                reflector.counts = counts
            await lose(context, reflectors, loss)


async def lose(context: LoadContext, reflectors: Sequence[InformerReflector], loss: str) -> None:
    if loss == "compaction":
        await context.inject(Fault("cut", CUT_SECONDS))
        await asyncio.sleep(COMPACT_AFTER)
        await context.inject(Fault("compact"))
        await asyncio.sleep(CUT_SECONDS)  # the next loss begins after this one has ended
        return
    if loss == "restart":
        await context.inject(Fault("kill"))
        return
    if loss == "slow":
        for reflector in reflectors:
            reflector.reading.clear()
        await context.pause(context.knobs.number("loss_interval"))
        for reflector in reflectors:
            reflector.reading.set()
        return
    version = {"old": 1, "overrun": _before_the_buffer(context)}.get(loss)
    if version == 0:
        context.count("buffer_reaches_all")
        return
    for reflector in reflectors:
        if version is not None:
            reflector.comes_back_with = str(version)
        reflector.cut.set()


def _before_the_buffer(context: LoadContext) -> int:
    """Return the newest version that is too old for a watch, by the server's telemetry; 0 if there is none.

    An event buffer grows while its oldest event is younger than 75 s, and then drops none.
    """
    resource = COLLECTIONS[context.knobs.text("resource")].rpartition("/")[2]
    cache = next((cache for name, cache in context.account.caches.items() if name.startswith(resource)), None)
    return max(0, cache.oldest_rv - 2) if cache is not None else 0


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    losses = tuple(
        (
            loss, *map(integer, (counts.lost, counts.resumed, counts.too_old, counts.lists)),
            long_bytes(counts.listed_bytes), *map(integer, (counts.replayed, counts.failed)),
        )
        for loss, counts in context.memory.get("losses", {}).items()
    )  # fmt: skip
    rows = tuple(
        (
            label, integer(figures.requests), "".join(sorted(figures.letters)),
            integer(figures.spent.returned), long_bytes(figures.spent.encoded_bytes),
            long_bytes(figures.spent.etcd_bytes), milliseconds(figures.milliseconds(0.95)),
        )
        for (variant, label), figures in account.labels.items()
        if variant == context.variant
    )  # fmt: skip
    heads = ("loss", "informers", "resumed", "410", "LISTs", "listed", "replayed", "failed")
    notes = ("replayed: events that the informer had already seen", "failed: attempts refused or broken")
    by_loss = FindingsTable("what followed from each loss", heads, losses, notes)
    titles = ("request", "count", "from", "objects", "returned", "out of etcd", "p95 ms")
    return [table for table in (by_loss, FindingsTable("by kind of request", titles, rows)) if table.rows]


WORKLOAD = Workload(
    name="informers",
    sentence="Reflectors LIST and WATCH, and lose their place in six ways: what does each cost?",
    own_knobs=KNOBS, run=run, tables=tables,
    fixes=(
        *(Fix(f"{loss}: {about}", (f"loss={loss}",)) for loss, about in LOSSES.items() if loss != "restart"),
        Fix("streaming lists (WatchList)", ("watchlist=yes",)),
        Fix("a DELETED with the old version (1.7.0 to 1.9.2)", ("deleted_rv=old",)),
    ),
    writes=True,
)  # fmt: skip
