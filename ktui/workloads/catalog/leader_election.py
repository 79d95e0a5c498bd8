"""leader-election: Leases are renewed during many LISTs, with and without a priority level of their own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ktui.client.connection import ClientError
from ktui.core.format import integer, milliseconds
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.supervision import stop
from ktui.workloads.catalog.repeated import PODS
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import LoadAnswer, LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.own_level import levels_table, own_level, shares_knob
from ktui.workloads.running.users import LoadUser
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
# kube-controller-manager's and kube-scheduler's defaults, in seconds.
LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD = 15, 10.0, 2.0
REQUEST_TIMEOUT = RENEW_DEADLINE / 2  # client-go's timeout of one request (seconds)
MICROSECONDS = "%Y-%m-%dT%H:%M:%S.%fZ"

STORM = LoadUser("system:serviceaccount:default:list-storm", "system:serviceaccounts")
# Users by `level`: "own" matches the flow schema system-leader-election, "shared" that of the LISTs.
USERS = {"own": LoadUser("system:kube-controller-manager", "system:authenticated"), "shared": STORM}

KNOBS = (
    Knob("holders", 3, "leaders, each with a Lease that it renews every 2 s", least=1, most=50),
    Knob("storm", 50, "clients that LIST all pods without a pause", most=400),
    Knob("storm_read", "consistent", "their LIST: without resourceVersion, or with 0", ("consistent", "rv=0"),
         former="read"),
    Knob("renewal_level", "own", "priority level of the renewals: their own, or that of the storm",
         tuple(USERS), former="level"),
    shares_knob("the storm"),
    Knob("calm", 6.0, "seconds before the storm, and after it", least=0.1, most=300, unit="s"),
    Knob("storm_lasts", 20.0, "seconds of the storm", least=2, most=600, unit="s", former="lasts"),
)  # fmt: skip


@dataclass(slots=True)
class Renewals:
    """Renewals of one phase. `late`: after the retry period; `missed`: refused, failed or timed out.

    `lost`: leaders that step down because their last renewal is older than the renew deadline.
    """

    done: int = 0
    late: int = 0
    missed: int = 0
    lost: int = 0
    times: LatencyHistogram = field(default_factory=LatencyHistogram)


async def run(context: LoadContext) -> None:
    knobs = context.knobs
    by_phase: dict[str, Renewals] = context.memory.setdefault("renewals", {})
    async with own_level(context, STORM):
        holders = [
            asyncio.create_task(_hold(context, by_phase, number))
            for number in range(knobs.integer("holders"))
        ]
        try:
            context.begin("calm")
            await asyncio.sleep(knobs.number("calm"))
            context.begin(f"storm, {knobs.text('renewal_level')} level")
            over = asyncio.Event()
            storm = [asyncio.create_task(_storm(context, over)) for _ in range(knobs.integer("storm"))]
            try:
                await asyncio.sleep(knobs.number("storm_lasts"))
            finally:
                over.set()
                await context.drain(storm)  # a LIST that is given up in its queue would count as a 429
            context.begin("after")
            await asyncio.sleep(knobs.number("calm"))
        finally:
            await stop(*holders)


async def _storm(context: LoadContext, over: asyncio.Event) -> None:
    client = context.client("list-storm/v1", STORM)
    while not over.is_set():
        query = "?resourceVersion=0" if context.knobs.text("storm_read") == "rv=0" else ""
        with contextlib.suppress(ClientError):
            await client.get_with_retries(f"{PODS}{query}", "LIST pods")


async def _hold(context: LoadContext, by_phase: dict[str, Renewals], number: int) -> None:
    """Run one leader: create its Lease, renew it until cancelled, and delete it."""
    name = f"ktui-workload-{context.run}{context.variant.lower()}-{number}"
    clients = {level: context.client("leader/v1", user) for level, user in USERS.items()}
    client = clients[context.knobs.text("renewal_level")]
    renewed = time.monotonic()
    try:
        with contextlib.suppress(ClientError):
            await client.write("POST", LEASES, _lease(name), "create")
        while True:
            await asyncio.sleep(RETRY_PERIOD)
            counts = by_phase.setdefault(context.phase, Renewals())
            client = clients[context.knobs.text("renewal_level")]
            began = time.monotonic()
            done = await _renewed(client, name)
            took = time.monotonic() - began
            counts.times.add(round(took * 1_000_000))
            if done:
                counts.done += 1
                counts.late += took > RETRY_PERIOD
                renewed = time.monotonic()
            else:
                counts.missed += 1
            if time.monotonic() - renewed > RENEW_DEADLINE:
                counts.lost += 1
                context.count("leaders_lost")
                renewed = time.monotonic()  # another leader is elected
            context.now = f"{context.found.get('leaders_lost', 0)} leaders lost"
    finally:
        with contextlib.suppress(ClientError):
            await client.write("DELETE", f"{LEASES}/{name}", None, "delete")


async def _renewed(client: LoadClient, name: str) -> bool:
    """Read the Lease and update its time, as client-go's elector does; return False if that failed."""
    path = f"{LEASES}/{name}"
    try:
        async with asyncio.timeout(REQUEST_TIMEOUT):
            found = await client.get(path, "GET lease", keep=True)
        if not found.ok:
            return False
        async with asyncio.timeout(REQUEST_TIMEOUT):
            put = await client.write("PUT", path, _lease(name, found), "PUT lease")
    except (ClientError, TimeoutError):
        return False
    return put.ok


def _lease(name: str, found: LoadAnswer | None = None) -> dict[str, Any]:
    metadata = {"name": name}
    if found is not None:
        metadata["resourceVersion"] = found.metadata.resource_version
    now = datetime.now(UTC).strftime(MICROSECONDS)
    spec = {"holderIdentity": name, "leaseDurationSeconds": LEASE_DURATION, "renewTime": now}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    rows = tuple(
        (
            phase, *map(integer, (counts.done, counts.late, counts.missed, counts.lost)),
            *(milliseconds(counts.times.percentile(share) / 1000) for share in (0.5, 0.95, 0.99)),
            milliseconds(counts.times.max / 1000),
        )
        for phase, counts in context.memory.get("renewals", {}).items()
    )  # fmt: skip
    heads = ("renewals", "done", "late", "missed", "lost", "p50 ms", "p95", "p99", "most")
    notes = (
        "late: took longer than the retry period of 2 s; missed: refused, failed or timed out;",
        "lost: no renewal for the renew deadline of 10 s: the leader steps down",
        "own: seats that the storm cannot take; processor time is shared by all levels of ktui's server",
    )
    if not rows:
        return []
    renewals = FindingsTable("renewals of Leases, as their clients saw them", heads, rows, notes)
    return [renewals, levels_table(context, account)]


WORKLOAD = Workload(
    name="leader-election",
    sentence="Leases are renewed while a storm of LISTs goes on: do the leaders keep their Leases?",
    own_knobs=KNOBS, run=run, tables=tables,
    fixes=(
        Fix("the storm reads with resourceVersion=0", ("storm_read=rv=0",)),
        Fix("the storm reads without resourceVersion", ("storm_read=consistent",)),
        Fix("renewals in the priority level of the storm", ("renewal_level=shared",)),
        Fix("renewals in their own priority level", ("renewal_level=own",)),
        Fix("the storm in a level of its own, with few seats", ("seat_shares=1",)),
        Fix("the rules of Kubernetes 1.30: LISTs read etcd", ("version=1.30",)),
    ),
    writes=True,
)  # fmt: skip
