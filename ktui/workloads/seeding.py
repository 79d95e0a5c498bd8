"""Fill a server with the demo cluster through its own create path; most objects of a large cluster are
copies."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from ktui.client.blocking_client import Answer, BlockingClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.workloads.demo import apps, cilium, cluster, events
from ktui.workloads.demo.objects import Create
from ktui.workloads.demo.plan import DemoPlan

USER_AGENT = "ktui-seed"
# Threads: enough to keep server and etcd busy, few enough that other clients are served.
WRITERS = 8
COPIES = 50  # stored by one transaction


@dataclass(slots=True)
class SeedProgress:
    """Progress up to now; `existed` counts objects that existed before (a second run adds none)."""

    stage: str = ""
    created: int = 0
    existed: int = 0


def stages(plan: DemoPlan, now: float) -> Iterator[tuple[str, Iterator[Create]]]:
    """Yield (name, objects) in order of dependency: definitions before custom resources, namespaces first."""
    yield "namespaces", cluster.namespaces(plan)
    yield "custom resource definitions", cilium.definitions()
    yield "nodes", cluster.nodes(plan, now)
    yield "node leases", cluster.leases(plan, now)
    yield "configuration", cluster.daemon_configs()
    yield "configuration", apps.configs(plan)
    yield "deployments", apps.deployments(plan)
    yield "services", apps.services(plan)
    yield "pods", cluster.daemon_pods(plan, now)
    yield "pods", apps.pods(plan, now)
    yield "endpoint slices", apps.endpoint_slices(plan)
    yield "Cilium resources", cilium.objects(plan)
    yield "events", events.events(plan, now)


def count_objects(plan: DemoPlan) -> int:
    """Return the number of objects that `seed` creates, by building each once (20 µs per object)."""
    return sum(1 for _, objects in stages(plan, time.time()) for _ in objects)


class Copier(Protocol):
    """Stores copies of objects that the server has stored. Called from several threads."""

    def has_example(self, item: Create) -> bool: ...

    def learn(self, item: Create, answer: bytes) -> None:
        """Use an object, whose creation got this answer, as the example for others."""

    def store(self, items: Sequence[Create]) -> Sequence[Create]:
        """Store copies; return the items that have to be created instead. Raises ClientError."""


async def seed(
    connection: ServerConnection,
    plan: DemoPlan,
    report: Callable[[SeedProgress], None] = lambda _: None,
    copier: Copier | None = None,
) -> SeedProgress:
    """Create every object of the plan; raise ClientError on the first refusal.

    `report` is called from several threads, but never from two at the same time.
    """
    work = _Work(report)
    with ExitStack() as stack:
        clients = [stack.enter_context(BlockingClient(connection, USER_AGENT)) for _ in range(WRITERS)]
        stack.callback(work.stop)  # threads cannot be cancelled: each ends after its current request
        for stage, objects in stages(plan, time.time()):
            work.begin(stage, objects)
            await asyncio.gather(*(asyncio.to_thread(_drain, client, work, copier) for client in clients))
    return work.progress


class _Work:
    """The objects still to be created, shared by the threads that create them."""

    def __init__(self, report: Callable[[SeedProgress], None]) -> None:
        self.progress = SeedProgress()
        self._report = report
        self._objects: Iterator[Create] = iter(())
        self._lock = threading.Lock()

    def begin(self, stage: str, objects: Iterator[Create]) -> None:
        self.progress.stage, self._objects = stage, objects

    def stop(self) -> None:
        with self._lock:
            self._objects = iter(())

    def take(self) -> Create | None:
        """Return the next object, None if there is none."""
        with self._lock:
            return next(self._objects, None)

    def done(self, existed: bool) -> None:
        with self._lock:
            self.progress.existed += existed
            self.progress.created += not existed
            self._report(self.progress)


def _drain(client: BlockingClient, work: _Work, copier: Copier | None) -> None:
    copies: list[Create] = []
    try:
        while (item := work.take()) is not None:
            if copier is None or not copier.has_example(item):
                _create(client, work, copier, item)
                continue
            copies.append(item)
            if len(copies) == COPIES:
                _copy(client, work, copier, copies)
                copies = []
        if copier is not None and copies:
            _copy(client, work, copier, copies)
    except ClientError:
        work.stop()
        raise


def _copy(client: BlockingClient, work: _Work, copier: Copier, items: Sequence[Create]) -> None:
    rest = copier.store(items)
    for _ in range(len(items) - len(rest)):
        work.done(existed=False)
    for item in rest:
        _create(client, work, None, item)


def _create(client: BlockingClient, work: _Work, copier: Copier | None, item: Create) -> None:
    """Create an object with its status, unless it exists."""
    created = client.write("POST", item.path, item.body)
    # An existing Service's cluster IP is in use, which is reported before its name.
    if created.status == 409 or (created.status == 422 and _exists(client, item)):
        work.done(existed=True)
        return
    _require_success(created, item)
    if item.status is not None:
        status = {"status": item.status}
        response = client.write("PATCH", f"{item.object_path}/status", status, "application/merge-patch+json")
        _require_success(response, item)
    if copier is not None and item.alike:
        copier.learn(item, created.body)
    work.done(existed=False)


def _exists(client: BlockingClient, item: Create) -> bool:
    return client.write("PATCH", item.object_path, {}, "application/merge-patch+json").success


def _require_success(response: Answer, item: Create) -> None:
    if not response.success:
        raise ClientError(f"{item.object_path} was refused: {response.status} {response.message}")
