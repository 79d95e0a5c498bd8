"""The demo's light traffic: kubelets, informers and pollers, each at its own rate."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import quote

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.list_stream import ListBody
from ktui.supervision import Supervisor
from ktui.workloads.behaviours.informer import run_informer
from ktui.workloads.behaviours.kubelets import Kubelets
from ktui.workloads.behaviours.old_revisions import OldRevisions
from ktui.workloads.behaviours.polling import Poll, polls_of
from ktui.workloads.demo.plan import DemoPlan
from ktui.workloads.plans import ClientPlan, find_plan

LEASE_SECONDS = 10.0
APART = 0.4  # seconds between the first requests of two clients
BACKUP = "lease-backup/v1.4"
LEASES = "/apis/coordination.k8s.io/v1/leases"
INFORMERS = (
    ("kube-scheduler/v1.36.2", "/api/v1/pods", "fieldSelector=status.phase%3DPending"),
    ("kube-controller-manager/v1.36.2", "/api/v1/pods", ""),
    ("kube-proxy/v1.36.2", "/apis/discovery.k8s.io/v1/endpointslices", ""),
    ("cilium-agent/1.18.2", "/apis/cilium.io/v2/ciliumendpoints", ""),
    ("node-controller/v1.36.2", "/apis/coordination.k8s.io/v1/leases", ""),
)


def start_readers(supervisor: Supervisor, connection: ServerConnection, plan: DemoPlan) -> None:
    """Start informers and pollers, one after the other; the demo's objects must exist.

    The server reports a refused or failed request; the next one follows in any case.
    """
    for place, poll in enumerate(polls_of(plan)):
        clients = [ApiClient(connection, poll.user_agent) for _ in poll.nodes or ("",)]
        action = functools.partial(follow_together, clients, poll)
        repeat = functools.partial(_repeat, poll.every, action, after=place * APART)
        supervisor.start(f"demo client {poll.user_agent}", repeat)
    backup = OldRevisions(ApiClient(connection, BACKUP), LEASES)
    supervisor.start("demo client lease-backup", functools.partial(_repeat, 40, backup))
    agent = ApiClient(connection, "cilium-agent/1.18.2")
    restarts = itertools.cycle(plan.nodes)
    lists = find_plan("cilium-agent")
    boot = functools.partial(_repeat, 31, lambda: boot_agent(agent, lists, next(restarts)))
    supervisor.start("demo client cilium-agent", boot)
    for user_agent, path, selector in INFORMERS:
        informer = functools.partial(run_informer, ApiClient(connection, user_agent), path, selector)
        supervisor.start(f"demo informer {user_agent}", informer)


def start_kubelets(supervisor: Supervisor, connection: ServerConnection, plan: DemoPlan) -> None:
    """Start lease renewals, statuses and events; nodes and pods must exist."""
    kubelets = Kubelets(ApiClient(connection, "kubelet/v1.36.2"), plan)
    every = LEASE_SECONDS / max(1, len(plan.nodes))
    for what, seconds, action in (
        ("leases", every, kubelets.renew_lease),
        ("pod statuses", 0.7, kubelets.report_status),
        ("events", 3.1, kubelets.record_event),
    ):
        supervisor.start(f"demo kubelets' {what}", functools.partial(_repeat, seconds, action))


async def follow_together(clients: Sequence[ApiClient], poll: Poll) -> None:
    """Send one poll of each agent, all at the same time."""
    paths = [poll.path.replace("{node}", node) for node in poll.nodes] or [poll.path]
    await asyncio.gather(*(follow(client, path, poll) for client, path in zip(clients, paths, strict=True)))


async def follow(client: ApiClient, path: str, poll: Poll) -> None:
    """Send one LIST, and read the pages after it."""
    token = await _page(client, path)
    while poll.pages and token:
        token = await _page(client, f"{path}&continue={quote(token, safe='')}")


async def _page(client: ApiClient, path: str) -> str:
    """Read a page; return the token of the next page, "" after the last."""
    body = ListBody(collection=True)
    fired = await client.send_timed(path, on_chunk=body.feed)
    return body.envelope().metadata.continue_token if fired.status == 200 else ""


async def boot_agent(client: ApiClient, lists: ClientPlan, node: str) -> None:
    """Send the LISTs of an agent that restarts on `node`, one after the other."""
    for planned in lists.lists:
        await client.send_timed(planned.filled(node, "").path)


async def _repeat(every: float, action: Callable[[], Awaitable[None]], after: float = 0.0) -> None:
    await asyncio.sleep(after)
    while True:
        # The server itself reports why it stopped or refused, and may be available next time.
        with contextlib.suppress(ClientError):
            await action()
        await asyncio.sleep(every)
