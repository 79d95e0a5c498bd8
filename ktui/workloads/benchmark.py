"""Measure a plan: each LIST with and without its selector, and the extrapolation to many agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

from ktui.client.connection import ClientError
from ktui.client.measure import ApiRequest
from ktui.client.repeated_runs import Runs, run_often
from ktui.client.target import Target, collection_size
from ktui.core.lab.measured import Measured
from ktui.workloads.plans import NAMESPACE, NODE, ClientPlan, PlannedList
from ktui.workloads.running.workload import names_in

Report = Callable[[str], None]

RETRIES = 5


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Not a measurement: `agents` clients of a cluster whose collections are `growth` times as large."""

    agents: int
    nodes: int
    growth: float


@dataclass(frozen=True, slots=True)
class Total:
    """Bytes and requests of many agents; `processed` is None if it is unknown for one of them."""

    requests: int
    processed: int | None
    received: int

    def document(self) -> dict[str, Any]:
        """Return the total as JSON, with its caveat."""
        names = ("requests", "processed_bytes", "received_bytes")
        return {"measured": False, **dict(zip(names, astuple(self), strict=True))}


@dataclass(frozen=True, slots=True)
class Row:
    """One measured LIST; `without` is the same LIST without its selector."""

    planned: PlannedList
    runs: Runs
    without: Runs | None = None

    @property
    def measured(self) -> Measured:
        return self.runs.measured

    def times(self, many: Extrapolation) -> Total:
        """Return the row for many agents.

        A LIST of one node (`{node}` in its path) does not grow with the cluster. The bytes read for it grow,
        unless an index or a name limits the read to the returned objects.
        """
        measured, of_one_node = self.measured, self.planned.of_one_node
        narrowed = of_one_node and measured.counters.get("fetched", -1) == measured.items
        received = measured.body_bytes * (1.0 if of_one_node else many.growth)
        processed = measured.processed_bytes
        if processed is not None:
            processed = round(processed * (1.0 if narrowed else many.growth) * many.agents)
        return Total(measured.pages * many.agents, processed, round(received * many.agents))

    def document(self, many: Extrapolation | None) -> dict[str, Any]:
        return {
            **self.runs.document(),
            "client": self.planned.client,
            "note": self.planned.note,
            "without_selector": None if self.without is None else self.without.document(),
            "extrapolated": None if many is None else self.times(many).document(),
        }


@dataclass(frozen=True, slots=True)
class Bench:
    """A plan's rows, the most expensive for the control plane first."""

    plan: ClientPlan
    rows: tuple[Row, ...]
    url: str
    node: str
    namespace: str
    kube_version: str
    many: Extrapolation | None = None

    @property
    def answered(self) -> bool:
        return any(row.measured.ok for row in self.rows)

    def document(self) -> dict[str, Any]:
        many = self.many
        return {
            "plan": self.plan.name, "about": self.plan.about,
            "server": {"url": self.url, "kube_version": self.kube_version}, "node": self.node,
            "namespace": self.namespace, "lists": [row.document(many) for row in self.rows],
            "extrapolated": None if many is None else {
                "agents": many.agents, "nodes": many.nodes, "growth": round(many.growth, 3),
                **total_of(self.rows, many).document(),
            },
        }  # fmt: skip


def total_of(rows: tuple[Row, ...], many: Extrapolation) -> Total:
    totals = [row.times(many) for row in rows]
    known = [total.processed for total in totals if total.processed is not None]
    return Total(
        sum(total.requests for total in totals),
        sum(known) if known else None,
        sum(total.received for total in totals),
    )


async def fill(
    target: Target, plan: ClientPlan, node: str = "", namespace: str = ""
) -> tuple[ClientPlan, str, str]:
    """Return the plan with its placeholders filled: this server's first node and namespace, unless given."""
    if plan.needs(NODE):
        node = node or await _first(target, "nodes", "--node")
    if plan.needs(NAMESPACE):
        namespace = namespace or await _first(target, "namespaces", "--namespace")
    lists = tuple(planned.filled(node, namespace) for planned in plan.lists)
    return ClientPlan(plan.name, lists, plan.about, plan.per_node), node, namespace


async def extrapolation(target: Target, plan: ClientPlan, agents: int, nodes: int) -> Extrapolation | None:
    """Return the factors; None if neither `agents` nor `nodes` is requested (0).

    Without `agents` there is one on every node of a `per_node` plan; without `nodes` the cluster keeps its
    size.
    """
    if not (agents or nodes):
        return None
    present, _ = await collection_size(target.client, "/api/v1/nodes")
    if nodes and not present:
        raise ClientError("the server has no nodes, so that nothing can be extrapolated to more of them")
    nodes = nodes or present
    agents = agents or (nodes if plan.per_node else 1)
    return Extrapolation(agents, nodes, nodes / present if present else 1.0)


async def run_bench(
    target: Target, plan: ClientPlan, *, repeat: int, without: bool, report: Report = lambda _: None
) -> tuple[Row, ...]:
    """Measure a filled plan, one request at a time. Raises ClientError."""
    twins: dict[tuple[str, str], Runs] = {}
    rows = []
    for planned in plan.lists:
        report(planned.path)
        row = await _with_retries(target, ApiRequest(planned.path, planned.pages, planned.client), repeat)
        twin = None
        if without and planned.without:
            key = planned.without, planned.client
            if key not in twins:
                report(planned.without)
                asked = ApiRequest(planned.without, planned.pages, planned.client)
                twins[key] = await _with_retries(target, asked, repeat)
            twin = twins[key]
        rows.append(Row(planned, row, twin))

    def burden(row: Row) -> tuple[int, int, float]:
        measured = row.measured
        return measured.processed_bytes or 0, measured.body_bytes, measured.total_ms

    return tuple(sorted(rows, key=burden, reverse=True))


async def _with_retries(target: Target, request: ApiRequest, repeat: int) -> Runs:
    """Repeat a request after 429 (while a cache is being filled), as client-go does."""
    for _ in range(RETRIES):
        runs = await run_often(target, request, repeat)
        if runs.measured.status != 429:
            return runs
        await asyncio.sleep(max(1, runs.measured.retry_after))
    return await run_often(target, request, repeat)


async def _first(target: Target, plural: str, option: str) -> str:
    """Return the name of the first object, with a limit of 1; resourceVersion=0 would return all objects."""
    names = await names_in(target.client, f"/api/v1/{plural}", 1)
    if not names:
        raise ClientError(f"the server has no {plural}; name one with {option}")
    return names[0][1]
