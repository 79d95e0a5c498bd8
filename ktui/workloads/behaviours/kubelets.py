"""Writes of the demo's kubelets: lease renewals, pod statuses, events."""

from __future__ import annotations

import random
import time

from ktui.client.api import ApiClient
from ktui.workloads.demo.apps import pod_facts
from ktui.workloads.demo.events import event
from ktui.workloads.demo.objects import timestamp
from ktui.workloads.demo.plan import DemoPlan
from ktui.workloads.demo.pods import pod_status

MERGE = "application/merge-patch+json"


class Kubelets:
    """All kubelets of the plan, with one client; each call acts for one node or one pod."""

    def __init__(self, client: ApiClient, plan: DemoPlan) -> None:
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
        await self._client.request("PATCH", path, {"spec": {"renewTime": renewed}}, MERGE)

    async def report_status(self) -> None:
        """Report that some pod's container has restarted."""
        if not self._pods:
            return
        index = self._rng.randrange(len(self._pods))
        app, ordinal, node = self._pods[index]
        facts = pod_facts(app, ordinal, index, node)
        self._restarts += 1
        status = pod_status(facts, time.time(), restarts=self._restarts % 7)
        path = f"/api/v1/namespaces/{app.namespace}/pods/{facts.name}/status"
        await self._client.request("PATCH", path, {"status": status}, MERGE)

    async def record_event(self) -> None:
        """Record an event about some pod; it expires with its lease."""
        if not self._pods:
            return
        app, ordinal, node = self._pods[self._rng.randrange(len(self._pods))]
        item = event(app.namespace, app.pod_name(ordinal), node, time.time_ns(), time.time())
        await self._client.request("POST", item.path, item.body)
