"""Fill a server with the demo cluster through its own create path; with a copier, most objects are copies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

from ktui.client.connection import ClientError, ServerConnection
from ktui.kube.access_pattern import JSON
from ktui.supervision import stop
from ktui.workloads.demo import cluster
from ktui.workloads.demo.plan import DAEMONS, DemoPlan
from ktui.workloads.demo.pods import MERGE, Create, Json
from ktui.workloads.running.fleet import MOST_LIST, Fleet, LoadAnswer

USER_AGENT = "ktui-seed"
WRITERS = 8  # requests in flight: enough to keep server and etcd busy, few enough that others are served
COPIES = 50  # stored by one transaction


@dataclass(slots=True)
class SeedProgress:
    """Progress up to now; `existed` counts objects that existed before (a second run adds none)."""

    stage: str = ""
    created: int = 0
    existed: int = 0

    @property
    def done(self) -> int:
        return self.created + self.existed


class SeedStage(NamedTuple):
    """Objects that are created before those of the next stage; `size` is their number."""

    name: str
    size: int
    objects: Iterator[Create]


LAST_FOR_CLIENTS = "pods"  # the demo's clients read and write what exists after this stage


def stages(plan: DemoPlan, now: float) -> Iterator[SeedStage]:
    """Yield the stages in order of dependency: definitions before custom resources, namespaces first."""
    spaces, nodes, each, pods = (len(plan.namespaces), len(plan.nodes), len(plan.apps), plan.app_pod_count)
    daemons = len(DAEMONS)
    yield SeedStage("namespaces", spaces, cluster.namespaces(plan))
    yield SeedStage("custom resource definitions", len(cluster.KINDS), cluster.definitions())
    yield SeedStage("nodes", nodes, cluster.nodes(plan, now))
    yield SeedStage("node leases", nodes, cluster.leases(plan, now))
    yield SeedStage("configuration", daemons, cluster.daemon_configs())
    yield SeedStage("configuration", spaces + 2 * each, cluster.configs(plan))
    yield SeedStage("deployments", 2 * each, cluster.deployments(plan))
    all_pods = chain(cluster.daemon_pods(plan, now), cluster.pods(plan, now))
    yield SeedStage(LAST_FOR_CLIENTS, daemons * nodes + pods, all_pods)
    yield SeedStage("services", each, cluster.services(plan))
    yield SeedStage("endpoint slices", each, cluster.endpoint_slices(plan))
    yield SeedStage("Cilium resources", nodes + each + pods + len(plan.teams) + 1, cluster.objects(plan))
    yield SeedStage("events", -(-pods // cluster.PODS_PER_EVENT), cluster.events(plan, now))


def count_objects(plan: DemoPlan) -> int:
    return sum(stage.size for stage in stages(plan, 0.0))


class Copier(Protocol):
    """Stores copies of objects that the server has stored."""

    def has_example(self, item: Create) -> bool: ...

    async def learn(self, item: Create, answer: bytes) -> None:
        """Use an object, whose creation got this answer, as the example for others."""

    async def store(self, items: Sequence[Create]) -> Sequence[Create]:
        """Store copies; return the items that have to be created instead. Raises ClientError."""


async def seed(
    connection: ServerConnection, plan: DemoPlan, report: Callable[[SeedProgress], None] = lambda _: None,
    copier: Copier | None = None, clients_may_start: Callable[[], None] = lambda: None,
) -> SeedProgress:  # fmt: skip
    """Create every object of the plan; raise ClientError on the first refusal.

    `clients_may_start` is called once, as soon as the objects exist that the demo's clients need.
    """
    fleet, progress = Fleet(connection), SeedProgress()
    try:
        for stage in stages(plan, time.time()):
            progress.stage = stage.name
            writer = _Writer(fleet, copier, progress, report)
            tasks = [asyncio.create_task(writer.write(stage.objects)) for _ in range(WRITERS)]
            try:
                await asyncio.gather(*tasks)
            finally:
                await stop(*tasks)
            if stage.name == LAST_FOR_CLIENTS:
                clients_may_start()
    finally:
        await fleet.close()
    return progress


@dataclass(frozen=True, slots=True)
class _Writer:
    """Creates objects, or has them copied."""

    fleet: Fleet
    copier: Copier | None
    progress: SeedProgress
    report: Callable[[SeedProgress], None]

    async def write(self, objects: Iterator[Create]) -> None:
        """Write the objects that are left, which other tasks write too."""
        copies: list[Create] = []
        for item in objects:
            if self.copier is None or not self.copier.has_example(item):
                await self._create(item, self.copier)
                continue
            copies.append(item)
            if len(copies) == COPIES:
                await self._copy(self.copier, copies)
                copies = []
        if self.copier is not None and copies:
            await self._copy(self.copier, copies)

    async def _copy(self, copier: Copier, items: Sequence[Create]) -> None:
        rest = await copier.store(items)
        for _ in range(len(items) - len(rest)):
            self._done(existed=False)
        for item in rest:
            await self._create(item, None)

    async def _create(self, item: Create, copier: Copier | None) -> None:
        """Create an object with its status, unless it exists; `copier` learns from it."""
        created, path = await self._send("POST", item.path, item.body), item.object_path
        # An existing Service's cluster IP is in use, which is reported before its name.
        if created.status == 409 or (created.status == 422 and (await self._send("PATCH", path, {})).ok):
            self._done(existed=True)
            return
        answers = [created]
        if created.ok and item.status is not None:
            answers.append(await self._send("PATCH", f"{path}/status", {"status": item.status}))
        for answer in answers:
            if not answer.ok:
                raise ClientError(f"{path} was refused: {answer.status} {answer.message}")
        if copier is not None and item.alike:
            await copier.learn(item, created.body)
        self._done(existed=False)

    async def _send(self, method: str, path: str, body: Json) -> LoadAnswer:
        headers = {"User-Agent": USER_AGENT, "Content-Type": MERGE if method == "PATCH" else JSON}
        return await self.fleet.send(method, path, headers, body=body, keep=MOST_LIST)

    def _done(self, *, existed: bool) -> None:
        self.progress.existed += existed
        self.progress.created += not existed
        self.report(self.progress)
