"""defrag-stall: etcd's watch stalls for longer than a consistent LIST waits (kubernetes#138494)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.client.metrics_page import samples_of
from ktui.contract.faults import Fault
from ktui.contract.paths import Rules
from ktui.core.format import integer, long_bytes, milliseconds
from ktui.supervision import stop
from ktui.workloads.behaviours.changes import changes_knob, keep_changing
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

EVERY_SECONDS = 0.5
RESIDENT = "process_resident_memory_bytes"


async def sample_memory(context: LoadContext, took: Callable[[int, int], None]) -> None:
    """Call `took` with the bytes of server and etcd twice a second; 0 for one that does not answer."""
    server = context.cluster.client
    etcd = ApiClient(ServerConnection((await KtuiApi(server).info()).endpoints[0]))
    try:
        while True:
            took(await _resident(server), await _resident(etcd))
            await asyncio.sleep(EVERY_SECONDS)
    finally:
        await etcd.close()


async def _resident(client: ApiClient) -> int:
    with contextlib.suppress(ClientError, TimeoutError):
        async with asyncio.timeout(EVERY_SECONDS * 4):
            page = (await client.request("GET", "/metrics")).content
            return next((int(sample.value) for sample in samples_of(page, RESIDENT)), 0)
    return 0


PODS = "/api/v1/pods"
MOST_OPEN = 400  # LISTs that may wait at the same time
AFTER_SECONDS = 3.0  # LISTs continue for this long after the stall
ENDED_SECONDS = 60.0  # time for the LISTs that still wait then
TRIES, QUICK_MS = 30, 500.0
SKIP_FALLBACK = "ConsistentListFromCacheSkipTimeoutFallback"
ALL = "all"


class Policy(NamedTuple):
    """The LIST to send, and the version and gates to follow; "" keeps the server's version."""

    about: str
    path: str
    version: str = ""
    gates: Mapping[str, bool] = {}


POLICIES = {
    "fallback": Policy("1.36: a consistent LIST waits 3 s for its cache, then reads etcd", PODS, "1.36"),
    "429": Policy(f"1.37 with {SKIP_FALLBACK}: it is rejected instead", PODS, "1.37", {SKIP_FALLBACK: True}),
    "rv=0": Policy("1.30, resourceVersion=0: whatever the cache has", f"{PODS}?resourceVersion=0", "1.30"),
    "server": Policy("a consistent LIST under the rules of the server, or of the knob version", PODS),
}
COMPARED = ("fallback", "429", "rv=0")

KNOBS = (
    Knob("policy", ALL, f"{ALL}: {', '.join(COMPARED)} one after the other", (ALL, *POLICIES)),
    Knob("lists", 5.0, "LISTs of all pods a second", least=0.1, most=100, unit="/s", former="rate"),
    Knob("stall", 6.0, "seconds for which etcd's watches deliver nothing", least=0.5, most=60, unit="s"),
    Knob("calm", 3.0, "seconds before", least=0.5, most=60, unit="s"),
    changes_knob(10.0),
)


async def run(context: LoadContext) -> None:
    """Run one pass for each policy; again after a changed knob, until the run ends."""
    peaks: dict[str, list[int]] = context.memory.setdefault("peaks", {})

    def took(server: int, etcd: int) -> None:
        before = peaks.setdefault(context.phase, [0, 0])
        peaks[context.phase] = [max(before[0], server), max(before[1], etcd)]

    helpers = [asyncio.create_task(keep_changing(context)), asyncio.create_task(sample_memory(context, took))]
    try:
        for number in itertools.count():
            chosen = context.knobs.text("policy")
            for name in COMPARED if chosen == ALL else (chosen,):
                await _pass(context, name)
            if number == 0 and chosen == ALL:
                return
    finally:
        await stop(*helpers)


async def _pass(context: LoadContext, name: str) -> None:
    """Send LISTs at a rate, before, during and after a stall of the watches."""
    policy = POLICIES[name]
    if policy.version:
        await context.follow_rules(Rules(policy.version, dict(policy.gates)))
    over = asyncio.Event()
    lists = asyncio.create_task(_lists(context, policy.path, over))
    try:
        context.begin(f"{name} before")
        await asyncio.sleep(context.knobs.number("calm"))
        context.begin(f"{name} stall")
        seconds = context.knobs.number("stall")
        await context.inject(Fault("stall", seconds))
        await asyncio.sleep(seconds)
        context.begin(f"{name} after")
        await asyncio.sleep(AFTER_SECONDS)
        over.set()
        await lists
    finally:
        await stop(lists)
    await _recovered(context)


async def _lists(context: LoadContext, path: str, over: asyncio.Event) -> None:
    """Send LISTs at their rate even if earlier ones are not answered, as independent clients do.

    Once `over` is set no more are sent, and those that wait are awaited.
    """
    client = context.client("list-storm/v1")
    open_lists: set[asyncio.Task[None]] = set()
    try:
        while not over.is_set():
            if len(open_lists) < MOST_OPEN:
                task = asyncio.create_task(_list(client, path))
                open_lists.add(task)
                task.add_done_callback(open_lists.discard)
            else:
                context.count("not_sent")
            context.now = f"{len(open_lists)} LISTs wait"
            await asyncio.sleep(1 / context.knobs.number("lists"))
        if open_lists:
            await asyncio.wait(open_lists, timeout=ENDED_SECONDS)
    finally:
        await context.drain(open_lists)


async def _recovered(context: LoadContext) -> None:
    """Wait until a consistent LIST is fast again, so that one policy does not affect the next."""
    context.begin("recovery")
    client = context.client("list-storm/v1")
    for _ in range(TRIES):
        with contextlib.suppress(ClientError):
            answer = await client.get(f"{PODS}?limit=1", "recovered?")
            if answer.ok and answer.ms < QUICK_MS:
                return
        await asyncio.sleep(1.0)


async def _list(client: LoadClient, path: str) -> None:
    with contextlib.suppress(ClientError):
        await client.get(path, "LIST pods")


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    peaks = context.memory.get("peaks", {})
    rows = []
    for (variant, phase), figures in account.phases.items():
        if variant != context.variant or not figures.requests or " " not in phase:
            continue
        routes = sorted(
            (route, count) for (verb, route), count in figures.verb_routes.items() if verb == "LIST"
        )
        rows.append(
            (
                phase, integer(figures.verbs["LIST"]),
                " ".join(f"{route} {integer(count)}" for route, count in routes), integer(figures.rejected),
                milliseconds(figures.milliseconds(0.95)), long_bytes(figures.spent.etcd_bytes),
                *map(long_bytes, peaks.get(phase, (0, 0))),
            )
        )  # fmt: skip
    heads = ("pass", "LISTs", "from", "429", "p95 ms", "out of etcd", "server", "etcd")
    notes = (
        *(f"{name}: {policy.about}" for name, policy in POLICIES.items() if name in COMPARED),
        "server, etcd: the most resident memory of each process within the phase",
    )
    title = "consistent LISTs while etcd's watch stalls"
    return [FindingsTable(title, heads, tuple(rows), notes)] if rows else []


WORKLOAD = Workload(
    name="defrag-stall",
    sentence="etcd's watches stall while consistent LISTs arrive: do they all fall back to etcd?",
    own_knobs=KNOBS, run=run, tables=tables,
    fixes=tuple(Fix(f"{name}: {policy.about}", (f"policy={name}",)) for name, policy in POLICIES.items()),
    writes=True, faults=("stall",),
)  # fmt: skip
