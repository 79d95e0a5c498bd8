"""The demo's light traffic: kubelets, informers and pollers, each at its own rate."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from ktui.client.connection import ClientError
from ktui.supervision import Supervisor
from ktui.workloads.behaviours.client_reflector import LoadReflector
from ktui.workloads.demo.cluster import event, pod_facts
from ktui.workloads.demo.plan import DemoPlan
from ktui.workloads.demo.pods import MERGE, pod_status, timestamp
from ktui.workloads.plans import ClientPlan, find_plan
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import Fleet, LoadClient
from ktui.workloads.running.users import UNTAGGED, LoadUser


@dataclass(frozen=True, slots=True)
class Poll:
    """A request that a client repeats: GET `path` every `every` seconds (following pages if `pages`).

    With `nodes` an agent on each of them sends it, all at the same time; `{node}` in the path is the agent's
    node.
    """

    user_agent: str
    every: float
    path: str
    pages: bool = False
    nodes: tuple[str, ...] = ()


AGENTS = 8  # agents that send at the same time: enough to see, few enough for a laptop


def polls_of(plan: DemoPlan) -> Iterator[Poll]:
    """Yield the demo's pollers; the first ones are expensive in every version, including 1.36."""
    node = plan.nodes[0]
    team = plan.teams[0]
    # A typo that the server ignores: each agent of a DaemonSet gets every pod, all at the same time.
    agents = plan.nodes[:AGENTS]
    yield Poll("legacy-agent/v1.0", 45, "/api/v1/pods?filedSelector=spec.nodeName%3D{node}", nodes=agents)
    # Repeated full LISTs of a large collection, where a WATCH would get only the changes.
    yield Poll("cost-exporter/v0.3", 9, "/api/v1/pods")
    # A controller without a selector, which drops most of the objects.
    yield Poll("batch-operator/v0.9", 20, "/api/v1/pods?resourceVersion=0")
    # Every Secret of the cluster.
    yield Poll("secret-sync/v2.0", 12, "/api/v1/secrets")
    # A selector without an index: all Secrets are examined for a few.
    yield Poll("Helm/4.0.1", 23, "/api/v1/secrets?labelSelector=owner%3Dhelm")
    # Events have no watch cache: always read from etcd.
    yield Poll("event-exporter/v1.7", 13, "/api/v1/events?limit=500", pages=True)
    # An export in many small pages.
    yield Poll("inventory-export/v1.2", 60, "/api/v1/pods?limit=100", pages=True)
    # One node's pods at the newest version: before 1.31 that reads every pod from etcd; with
    # resourceVersion=0 an index serves it.
    yield Poll("node-agent/v2.1", 5, f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")
    yield Poll("kubelet/v1.36.2", 4, f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}&resourceVersion=0")
    yield Poll("kubectl/v1.36.2", 31, "/api/v1/pods?limit=500", pages=True)
    yield Poll(
        "kubectl/v1.36.2", 17, f"/api/v1/namespaces/{team}/pods?labelSelector=tier%3Dbackend&limit=500"
    )
    yield Poll("kube-controller-manager/v1.36.2", 19, "/apis/apps/v1/replicasets?limit=500&resourceVersion=0")


class Kubelets:
    """All kubelets of the plan, with one client; each call acts for one node or one pod."""

    def __init__(self, client: LoadClient, plan: DemoPlan) -> None:
        self._client = client
        self._plan = plan
        self._rng = random.Random(plan.size.seed)
        self._pods = list(plan.app_pods())
        self._turn = 0
        self._restarts = 0

    async def renew_lease(self) -> None:
        """Renew the lease of the next node, as each kubelet does every 10 s."""
        node = self._plan.nodes[self._turn % len(self._plan.nodes)]
        self._turn += 1
        now = time.time()
        renewed = f"{timestamp(now)[:-1]}.{int(now % 1 * 1e6):06d}Z"
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}"
        await self._client.write("PATCH", path, {"spec": {"renewTime": renewed}}, content_type=MERGE)

    async def report_status(self) -> None:
        if not self._pods:
            return
        index = self._rng.randrange(len(self._pods))
        app, ordinal, node = self._pods[index]
        facts = pod_facts(app, ordinal, index, node)
        self._restarts += 1
        status = pod_status(facts, time.time(), restarts=self._restarts % 7)
        path = f"/api/v1/namespaces/{app.namespace}/pods/{facts.name}/status"
        await self._client.write("PATCH", path, {"status": status}, content_type=MERGE)

    async def record_event(self) -> None:
        """Record an event about some pod; it expires with its lease."""
        if not self._pods:
            return
        app, ordinal, node = self._pods[self._rng.randrange(len(self._pods))]
        item = event(app.namespace, app.pod_name(ordinal), node, time.time_ns(), time.time())
        await self._client.write("POST", item.path, item.body)


AGE = 200.0  # seconds: beyond the snapshots of a busy cache, before etcd's compaction


class OldRevisions:
    """Each call records the present revision, and LISTs at the one recorded AGE seconds before."""

    def __init__(
        self, client: LoadClient, collection: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._collection = collection
        self._clock = clock
        self._noted: deque[tuple[float, str]] = deque()

    async def __call__(self) -> None:
        now, old = self._clock(), ""
        while self._noted and now - self._noted[0][0] >= AGE:
            _, old = self._noted.popleft()
        if old:
            exact = f"resourceVersion={old}&resourceVersionMatch=Exact"
            await self._client.get(f"{self._collection}?{exact}")
        newest = await self._client.get(f"{self._collection}?limit=1", keep=True)
        version = newest.metadata.resource_version
        if newest.status == 200 and version.isdecimal():
            self._noted.append((now, version))


LEASE_SECONDS = 10.0
WATCH_SECONDS = 300
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


def demo_client(fleet: Fleet, user_agent: str) -> LoadClient:
    return LoadClient(fleet, user_agent, LoadUser(), lambda _: UNTAGGED, Account(""))


def start_readers(supervisor: Supervisor, fleet: Fleet, plan: DemoPlan) -> None:
    """Start informers and pollers, one after the other; the demo's objects must exist.

    The server reports a refused or failed request; the next one follows in any case.
    """
    for place, poll in enumerate(polls_of(plan)):
        action = functools.partial(follow_together, demo_client(fleet, poll.user_agent), poll)
        repeat = functools.partial(_repeat, poll.every, action, after=place * APART)
        supervisor.start(f"demo client {poll.user_agent}", repeat)
    backup = OldRevisions(demo_client(fleet, BACKUP), LEASES)
    supervisor.start("demo client lease-backup", functools.partial(_repeat, 40, backup))
    agent = demo_client(fleet, "cilium-agent/1.18.2")
    restarts = itertools.cycle(plan.nodes)
    lists = find_plan("cilium-agent")
    boot = functools.partial(_repeat, 31, lambda: boot_agent(agent, lists, next(restarts)))
    supervisor.start("demo client cilium-agent", boot)
    for user_agent, path, selector in INFORMERS:
        informer = LoadReflector(demo_client(fleet, user_agent), path, selector, seconds=WATCH_SECONDS)
        supervisor.start(f"demo informer {user_agent}", informer.run)


def start_kubelets(supervisor: Supervisor, fleet: Fleet, plan: DemoPlan) -> None:
    """Start lease renewals, statuses and events; nodes and pods must exist."""
    kubelets = Kubelets(demo_client(fleet, "kubelet/v1.36.2"), plan)
    every = LEASE_SECONDS / max(1, len(plan.nodes))
    for what, seconds, action in (
        ("leases", every, kubelets.renew_lease),
        ("pod statuses", 0.7, kubelets.report_status),
        ("events", 3.1, kubelets.record_event),
    ):
        supervisor.start(f"demo kubelets' {what}", functools.partial(_repeat, seconds, action))


async def follow_together(client: LoadClient, poll: Poll) -> None:
    paths = [poll.path.replace("{node}", node) for node in poll.nodes] or [poll.path]
    await asyncio.gather(*(follow(client, path, poll) for path in paths))


async def follow(client: LoadClient, path: str, poll: Poll) -> None:
    page = await client.get(path, keep=poll.pages)
    while page.status == 200 and (token := page.metadata.continue_token):
        page = await client.get(f"{path}&continue={quote(token, safe='')}", keep=True)


async def boot_agent(client: LoadClient, lists: ClientPlan, node: str) -> None:
    """Send the LISTs of an agent that restarts on `node`, one after the other."""
    for planned in lists.lists:
        await client.get(planned.filled(node, "").path)


async def _repeat(every: float, action: Callable[[], Awaitable[None]], after: float = 0.0) -> None:
    await asyncio.sleep(after)
    while True:
        # The server itself reports why it stopped or refused, and may be available next time.
        with contextlib.suppress(ClientError):
            await action()
        await asyncio.sleep(every)
