"""Clients that poll LISTs, in efficient ways and inefficient ones, as examples in the request log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ktui.workloads.demo.plan import DemoPlan


@dataclass(frozen=True, slots=True)
class Poll:
    """One client's poll: GET `path` every `every` seconds (with all pages if `pages`)."""

    user_agent: str
    every: float
    path: str
    pages: bool = False


def habits(plan: DemoPlan) -> Iterator[Poll]:
    """The demo's pollers; the paths are those of articles about the cost of LISTs."""
    node = plan.nodes[0]
    team = plan.teams[0]
    # Full LISTs of a large collection, most recent: the expensive pattern.
    yield Poll("cost-exporter/v0.3", 7, "/api/v1/pods")
    # The typo that the server ignores: an unfiltered LIST.
    yield Poll("legacy-agent/v1.0", 29, f"/api/v1/pods?filedSelector=spec.nodeName%3D{node}")
    # One node's pods, most recent before 1.31 means every pod from etcd; with rv=0 an index serves it.
    yield Poll("node-agent/v2.1", 5, f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")
    yield Poll("kubelet/v1.36.2", 4, f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}&resourceVersion=0")
    yield Poll("kubectl/v1.36.2", 11, "/api/v1/pods?limit=500", pages=True)
    yield Poll(
        "kubectl/v1.36.2", 17, f"/api/v1/namespaces/{team}/pods?labelSelector=tier%3Dbackend&limit=500"
    )
    yield Poll("Helm/4.0.1", 23, "/api/v1/secrets?labelSelector=owner%3Dhelm")
    yield Poll("event-exporter/v1.7", 13, "/api/v1/events?limit=500", pages=True)
    yield Poll("kube-controller-manager/v1.36.2", 19, "/apis/apps/v1/replicasets?limit=500&resourceVersion=0")


def cilium_agent_lists(node: str) -> tuple[str, ...]:
    """The nine LISTs of a booting cilium-agent; the services one names no resourceVersion."""
    rv0 = "resourceVersion=0"
    no_headless = "labelSelector=%21service.kubernetes.io%2Fheadless"
    return (
        f"/api/v1/namespaces?{rv0}",
        f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}&{rv0}",
        f"/api/v1/nodes?fieldSelector=metadata.name%3D{node}&{rv0}",
        f"/api/v1/services?{no_headless}",
        f"/apis/discovery.k8s.io/v1/endpointslices?{rv0}",
        f"/apis/networking.k8s.io/v1/networkpolicies?{rv0}",
        f"/apis/cilium.io/v2/ciliumnodes?{rv0}",
        f"/apis/cilium.io/v2/ciliumnetworkpolicies?{rv0}",
        f"/apis/cilium.io/v2/ciliumclusterwidenetworkpolicies?{rv0}",
    )
