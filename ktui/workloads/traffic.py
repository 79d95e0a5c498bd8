"""The demo's gentle traffic: kubelets, informers and pollers, each at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
from collections.abc import Awaitable, Callable

import msgspec

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, Connection
from ktui.workloads.behaviours.informer import run_informer
from ktui.workloads.behaviours.kubelets import Kubelets
from ktui.workloads.behaviours.polling import Poll, cilium_agent_lists, habits
from ktui.workloads.demo.plan import Plan

LEASE_SECONDS = 10.0
INFORMERS = (
    ("kube-scheduler/v1.36.2", "/api/v1/pods", "fieldSelector=status.phase%3DPending"),
    ("kube-controller-manager/v1.36.2", "/api/v1/pods", ""),
    ("kube-proxy/v1.36.2", "/apis/discovery.k8s.io/v1/endpointslices", ""),
    ("cilium-agent/1.18.2", "/apis/cilium.io/v2/ciliumendpoints", ""),
    ("node-controller/v1.36.2", "/apis/coordination.k8s.io/v1/leases", ""),
)


class _Continue(msgspec.Struct, rename={"token": "continue"}):
    token: str = ""


class _Page(msgspec.Struct):
    metadata: _Continue


async def run_readers(connection: Connection, plan: Plan) -> None:
    """Informers and pollers until cancelled; they may begin before there is anything to read.

    A refused or failed request is the server's to report, not ours to die of.
    """
    async with asyncio.TaskGroup() as group:
        for poll in habits(plan):
            client = ApiClient(connection, poll.user_agent)
            group.create_task(_repeat(poll.every, functools.partial(follow, client, poll)))
        agent = ApiClient(connection, "cilium-agent/1.18.2")
        restarts = itertools.cycle(plan.nodes)
        group.create_task(_repeat(31, lambda: boot_agent(agent, next(restarts))))
        for user_agent, path, selector in INFORMERS:
            group.create_task(run_informer(ApiClient(connection, user_agent), path, selector))


async def run_kubelets(connection: Connection, plan: Plan) -> None:
    """Lease renewals, statuses and events until cancelled; the nodes and pods have to be there."""
    async with asyncio.TaskGroup() as group:
        kubelets = Kubelets(ApiClient(connection, "kubelet/v1.36.2"), plan)
        every = LEASE_SECONDS / max(1, len(plan.nodes))
        group.create_task(_repeat(every, kubelets.renew_lease))
        group.create_task(_repeat(0.7, kubelets.report_status))
        group.create_task(_repeat(3.1, kubelets.record_event))


async def follow(client: ApiClient, poll: Poll) -> None:
    """One poll, and the pages after it."""
    fired = await client.fire(poll.path, keep_body=poll.pages)
    while poll.pages and fired.body is not None and fired.status == 200:
        token = msgspec.json.decode(fired.body, type=_Page).metadata.token
        if not token:
            return
        fired = await client.fire(f"{poll.path}&continue={token}", keep_body=True)


async def boot_agent(client: ApiClient, node: str) -> None:
    """A cilium-agent restarts on `node`: its nine LISTs, one after the other."""
    for path in cilium_agent_lists(node):
        await client.fire(path)


async def _repeat(every: float, action: Callable[[], Awaitable[None]]) -> None:
    while True:
        # When the server stopped or refused it says so itself, and may be back next time.
        with contextlib.suppress(ClientError):
            await action()
        await asyncio.sleep(every)
