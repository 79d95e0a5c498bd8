"""Cilium's custom resources, as its agents and operator create them."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.workloads.demo.apps import pod_ip
from ktui.workloads.demo.objects import Create, Json, group
from ktui.workloads.demo.plan import DemoPlan

API_VERSION = "cilium.io/v2"
# (kind, plural, short name, namespaced)
KINDS = (
    ("CiliumNode", "ciliumnodes", "cn", False),
    ("CiliumEndpoint", "ciliumendpoints", "cep", True),
    ("CiliumIdentity", "ciliumidentities", "ciliumid", False),
    ("CiliumNetworkPolicy", "ciliumnetworkpolicies", "cnp", True),
    ("CiliumClusterwideNetworkPolicy", "ciliumclusterwidenetworkpolicies", "ccnp", False),
)


def definitions() -> Iterator[Create]:
    for kind, plural, short, namespaced in KINDS:
        version = {
            "name": "v2",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            "additionalPrinterColumns": [
                {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
            ],
        }
        spec = {
            "group": "cilium.io",
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short],
                "categories": ["cilium"],
            },
            "versions": [version],
        }
        body: Json = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.cilium.io"},
            "spec": spec,
        }
        yield Create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)


def objects(plan: DemoPlan) -> Iterator[Create]:
    yield from _nodes(plan)
    yield from _identities(plan)
    yield from _endpoints(plan)
    yield from _policies(plan)


def _nodes(plan: DemoPlan) -> Iterator[Create]:
    for index, name in enumerate(plan.nodes):
        addresses = [{"type": "InternalIP", "ip": f"192.168.{index // 250}.{index % 250 + 1}"}]
        spec = {"addresses": addresses, "ipam": {"podCIDRs": [f"10.{64 + index // 256}.{index % 256}.0/24"]}}
        body = _custom("CiliumNode", {"name": name}, {"spec": spec})
        yield Create(f"/apis/{API_VERSION}/ciliumnodes", body, alike="Cilium node")


def _identities(plan: DemoPlan) -> Iterator[Create]:
    for number, app in enumerate(plan.apps):
        labels = {"k8s:app": app.name, "k8s:io.kubernetes.pod.namespace": app.namespace}
        metadata = {"name": str(10_000 + number), "labels": {"io.kubernetes.pod.namespace": app.namespace}}
        body = _custom("CiliumIdentity", metadata, {"security-labels": labels})
        yield Create(f"/apis/{API_VERSION}/ciliumidentities", body, alike="Cilium identity")


def _endpoints(plan: DemoPlan) -> Iterator[Create]:
    identity = {(app.namespace, app.name): 10_000 + number for number, app in enumerate(plan.apps)}
    for index, (app, ordinal, node) in enumerate(plan.app_pods()):
        metadata = {"name": app.pod_name(ordinal), "namespace": app.namespace, "labels": app.labels}
        status = {
            "id": index % 65_535,
            "identity": {"id": identity[app.namespace, app.name], "labels": [f"k8s:app={app.name}"]},
            "networking": {"addressing": [{"ipv4": pod_ip(index)}], "node": node},
            "state": "ready",
        }
        body = _custom("CiliumEndpoint", metadata, {"status": status})
        yield Create(group(API_VERSION, app.namespace, "ciliumendpoints"), body, alike="Cilium endpoint")


def _policies(plan: DemoPlan) -> Iterator[Create]:
    for team in plan.teams:
        ingress = [{"fromEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": team}}]}]
        spec: Json = {"endpointSelector": {}, "ingress": ingress}
        metadata = {"name": "same-namespace", "namespace": team}
        body = _custom("CiliumNetworkPolicy", metadata, {"spec": spec})
        yield Create(group(API_VERSION, team, "ciliumnetworkpolicies"), body)
    deny = {"endpointSelector": {}, "egressDeny": [{"toCIDR": ["169.254.169.254/32"]}]}
    body = _custom("CiliumClusterwideNetworkPolicy", {"name": "no-metadata-service"}, {"spec": deny})
    yield Create(f"/apis/{API_VERSION}/ciliumclusterwidenetworkpolicies", body)


def _custom(kind: str, metadata: Json, rest: Json) -> Json:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, **rest}
