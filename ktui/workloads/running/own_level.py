"""A priority level for only the clients of a run, as an administrator would create against overload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.core.format import integer, milliseconds
from ktui.workloads.running.account import Account
from ktui.workloads.running.knobs import Knob, WorkloadError
from ktui.workloads.running.users import LoadUser
from ktui.workloads.running.workload import FindingsTable, LoadContext

FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"
LEVELS, SCHEMAS = f"{FLOW}/prioritylevelconfigurations", f"{FLOW}/flowschemas"
PRECEDENCE = 50  # before upstream's schemas, except the mandatory `exempt` and `probes`
QUEUING = {"queues": 64, "handSize": 6, "queueLengthLimit": 50}  # as upstream's `system`
TRIES, AGAIN_SECONDS = 100, 0.1
REPORTED_SECONDS = 5.0  # a shorter run would end before the server has reported the level's seats


def shares_knob(clients: str) -> Knob:
    about = f"nominalConcurrencyShares of a priority level for {clients} alone; 0: upstream's level"
    return Knob("seat_shares", 0, about, most=1_000, former="shares")


@asynccontextmanager
async def own_level(context: LoadContext, user: LoadUser) -> AsyncIterator[None]:
    """While the block runs, serve `user` in its own level with `seat_shares`, which neither lends nor borrows
    seats.

    A group is served together. 0 shares create no level. Raises WorkloadError or ClientError.
    """
    shares = context.knobs.integer("seat_shares")
    if not shares:
        yield
        return
    if not context.fleet.impersonates:
        raise WorkloadError("seat_shares: flow control is changed only at a server of ktui; leave it out")
    name = f"workload-{context.run}{context.variant.lower()}"
    client = context.cluster.client
    try:
        for collection, spec in ((LEVELS, _level(shares)), (SCHEMAS, _schema(name, user))):
            answer = await client.request("POST", collection, {"metadata": {"name": name}, "spec": spec})
            if (status := answer.status_code) != 201:
                raise WorkloadError(f"shares: the server refused POST {collection} with HTTP {status}")
        await _in_force(client, name)
        await context.account.know_level(name, REPORTED_SECONDS)
        yield
    finally:
        for collection in (SCHEMAS, LEVELS):
            with suppress(ClientError):
                await client.request("DELETE", f"{collection}/{name}")


async def _in_force(client: ApiClient, name: str) -> None:
    """Wait until the server applies a FlowSchema, to which it then gives its condition."""
    for _ in range(TRIES):
        if b'"Dangling"' in (await client.request("GET", f"{SCHEMAS}/{name}")).content:
            return
        await asyncio.sleep(AGAIN_SECONDS)
    raise WorkloadError("shares: the server does not follow the FlowSchema that was created")


def _level(shares: int) -> dict[str, Any]:
    queue = {"type": "Queue", "queuing": QUEUING}
    limited = {"nominalConcurrencyShares": shares, "lendablePercent": 0, "borrowingLimitPercent": 0}
    return {"type": "Limited", "limited": {**limited, "limitResponse": queue}}


def _schema(name: str, user: LoadUser) -> dict[str, Any]:
    subject = {"kind": "Group", "group": {"name": user.group}}
    if user.name:
        subject = {"kind": "User", "user": {"name": user.name}}
    every = {name: ["*"] for name in ("verbs", "apiGroups", "resources", "namespaces")}
    rule = {"subjects": [subject], "resourceRules": [{**every, "clusterScope": True}]}
    return {
        "priorityLevelConfiguration": {"name": name}, "matchingPrecedence": PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"}, "rules": [rule],
    }  # fmt: skip


def levels_table(context: LoadContext, account: Account) -> FindingsTable:
    rows = tuple(
        (
            label, level, integer(held.requests), integer(held.queued),
            milliseconds(held.waits.percentile(0.99) / 1000), integer(held.rejected),
            milliseconds(figures.milliseconds(0.99)),
        )
        for (variant, label), figures in sorted(account.labels.items())
        if variant == context.variant
        for level, held in sorted(figures.levels.items())
    )  # fmt: skip
    heads = ("request", "level", "sent", "queued", "p99 wait", "429", "p99 ms")
    notes = (
        "queued: waited for seats of the level (p99 wait: ms of those); p99 ms: from arrival to the end",
        "429: rejected by flow control",
    )
    return FindingsTable("requests by priority level", heads, rows, notes)
