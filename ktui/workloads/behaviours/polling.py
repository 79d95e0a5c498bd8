"""Clients that poll LISTs in efficient and inefficient ways, as examples in the request log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ktui.workloads.demo.plan import DemoPlan


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
