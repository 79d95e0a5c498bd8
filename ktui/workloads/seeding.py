"""Fill a server with the demo cluster, through its own create path."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.workloads.demo import apps, cilium, cluster, events
from ktui.workloads.demo.objects import Create
from ktui.workloads.demo.plan import Plan

# Enough to keep server and etcd busy, few enough to leave other clients their turn.
CONCURRENCY = 24


@dataclass(slots=True)
class SeedProgress:
    """What has been done so far; `existed` were there already (a second run adds nothing)."""

    stage: str = ""
    created: int = 0
    existed: int = 0


def stages(plan: Plan, now: float) -> Iterator[tuple[str, Iterator[Create]]]:
    """(name, objects) in the order of dependence: definitions before custom resources, namespaces first."""
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


async def seed(
    client: ApiClient, plan: Plan, report: Callable[[SeedProgress], None] = lambda _: None
) -> SeedProgress:
    """Create every object of the plan. Raises ClientError on the first refusal."""
    progress = SeedProgress()
    for stage, objects in stages(plan, time.time()):
        progress.stage = stage
        queue = iter(objects)
        async with asyncio.TaskGroup() as group:
            for _ in range(CONCURRENCY):
                group.create_task(_drain(client, queue, progress, report))
    return progress


async def _drain(
    client: ApiClient, queue: Iterator[Create], progress: SeedProgress, report: Callable[[SeedProgress], None]
) -> None:
    for item in queue:
        response = await client.request("POST", item.path, item.body)
        if response.status_code == 409:
            progress.existed += 1
        elif not response.is_success:
            raise ClientError(f"{item.object_path} was refused: {response.status_code} {response.text[:300]}")
        else:
            progress.created += 1
            if item.status is not None:
                await put_status(client, item)
        report(progress)


async def put_status(client: ApiClient, item: Create) -> None:
    """Report a status as the owner of the object does, by its subresource."""
    await client.send_json(
        "PATCH", f"{item.object_path}/status", {"status": item.status}, "application/merge-patch+json"
    )
