"""Clients that poll LISTs, in efficient ways and inefficient ones, as examples in the request log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ktui.workloads.demo.plan import DemoPlan


@dataclass(frozen=True, slots=True)
class Poll:
    """What one client repeats: GET `path` every `every` seconds (pages followed when `pages`).

    With `nodes` an agent on each of them asks, all at the same time: `{node}` in the path is its own.
    """

    user_agent: str
    every: float
    path: str
    pages: bool = False
    nodes: tuple[str, ...] = ()


AGENTS = 8  # that ask at the same time: enough to see, few enough for a laptop


def polls_of(plan: DemoPlan) -> Iterator[Poll]:
    """The demo's pollers; the first ones hurt under the rules of every version, 1.36's included."""
    node = plan.nodes[0]
    team = plan.teams[0]
    # The typo that the server ignores: each agent of a DaemonSet gets every pod, all at once.
    agents = plan.nodes[:AGENTS]
    yield Poll("legacy-agent/v1.0", 45, "/api/v1/pods?filedSelector=spec.nodeName%3D{node}", nodes=agents)
    # Full LISTs of a large collection, again and again: a WATCH would get the changes only.
    yield Poll("cost-exporter/v0.3", 9, "/api/v1/pods")
    # A controller without a selector, which then drops most of what it got.
    yield Poll("batch-operator/v0.9", 20, "/api/v1/pods?resourceVersion=0")
    # Every Secret of the cluster.
    yield Poll("secret-sync/v2.0", 12, "/api/v1/secrets")
    # A selector that no index serves: all Secrets are looked at for a few.
    yield Poll("Helm/4.0.1", 23, "/api/v1/secrets?labelSelector=owner%3Dhelm")
    # Events have no watch cache: always read from etcd.
    yield Poll("event-exporter/v1.7", 13, "/api/v1/events?limit=500", pages=True)
    # An export in many small pages.
    yield Poll("inventory-export/v1.2", 60, "/api/v1/pods?limit=100", pages=True)
    # One node's pods, most recent: before 1.31 that is every pod from etcd; with rv=0 an index serves it.
    yield Poll("node-agent/v2.1", 5, f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")
    yield Poll("kubelet/v1.36.2", 4, f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}&resourceVersion=0")
    yield Poll("kubectl/v1.36.2", 31, "/api/v1/pods?limit=500", pages=True)
    yield Poll(
        "kubectl/v1.36.2", 17, f"/api/v1/namespaces/{team}/pods?labelSelector=tier%3Dbackend&limit=500"
    )
    yield Poll("kube-controller-manager/v1.36.2", 19, "/apis/apps/v1/replicasets?limit=500&resourceVersion=0")
