"""Deployments and their objects: ReplicaSet, Service, EndpointSlice, ConfigMap, Secret, pods."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from ktui.workloads.demo.plan import App, DemoPlan
from ktui.workloads.demo.pods import Create, Json, PodFacts, core, demo_uid, group, object_of, owner, pod

# One pod in this many is not Running, because a cluster without problems shows little.
PENDING_EVERY, FAILED_EVERY = 97, 211


def configs(plan: DemoPlan) -> Iterator[Create]:
    for namespace in plan.namespaces:
        metadata = {"name": "default", "namespace": namespace}
        body: Json = object_of("v1", "ServiceAccount", metadata)
        yield Create(core(namespace, "serviceaccounts"), body)  # the server may have created it
    for app in plan.apps:
        data = {"app.toml": f'name = "{app.name}"\n[log]\nlevel = "info"\n' + "# tuned by hand\n" * 12}
        config = _config(app.namespace, f"{app.name}-config", app.labels, data)
        yield Create(core(app.namespace, "configmaps"), config, alike="app's config")
        yield Create(core(app.namespace, "secrets"), _release_secret(app), alike="release")


def services(plan: DemoPlan) -> Iterator[Create]:
    for index, app in enumerate(plan.apps):
        spec: Json = {
            "type": "ClusterIP",
            "clusterIP": f"10.32.{index // 250}.{index % 250 + 2}",
            "clusterIPs": [f"10.32.{index // 250}.{index % 250 + 2}"],
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "selector": {"app": app.name},
            "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
            "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}],
        }
        headless = {"service.kubernetes.io/headless": ""} if index % 9 == 0 else {}
        metadata = {"name": app.name, "namespace": app.namespace, "labels": {**app.labels, **headless}}
        body: Json = object_of("v1", "Service", metadata, spec=spec)
        yield Create(core(app.namespace, "services"), body, {"loadBalancer": {}})


def endpoint_slices(plan: DemoPlan) -> Iterator[Create]:
    index = 0
    for app in plan.apps:
        endpoints = []
        for ordinal in range(app.replicas):
            target = {"kind": "Pod", "namespace": app.namespace, "name": app.pod_name(ordinal)}
            endpoints.append(
                {
                    "addresses": [pod_ip(index)],
                    "conditions": {"ready": True, "serving": True, "terminating": False},
                    "nodeName": plan.node_of(index),
                    "targetRef": target,
                }
            )
            index += 1
        metadata = {
            "name": f"{app.name}-x7k2p",
            "namespace": app.namespace,
            "labels": {"kubernetes.io/service-name": app.name},
        }
        body: Json = object_of(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            metadata,
            addressType="IPv4",
            endpoints=endpoints[:100],
            ports=[{"name": "http", "port": 8080, "protocol": "TCP"}],
        )
        yield Create(group("discovery.k8s.io/v1", app.namespace, "endpointslices"), body)


def deployments(plan: DemoPlan) -> Iterator[Create]:
    for app in plan.apps:
        metadata = {"name": app.name, "namespace": app.namespace, "labels": app.labels}
        spec = {
            "replicas": app.replicas,
            "selector": {"matchLabels": {"app": app.name}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "template": _template(app, app.labels),
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
        }
        body: Json = object_of("apps/v1", "Deployment", metadata, spec=spec)
        yield Create(group("apps/v1", app.namespace, "deployments"), body, _replica_counts(app), "deployment")
        yield _replica_set(app)


def pods(plan: DemoPlan, now: float) -> Iterator[Create]:
    for index, (app, ordinal, node) in enumerate(plan.app_pods()):
        yield pod(pod_facts(app, ordinal, index, node, plan.zone_of(node)), now)


def pod_facts(app: App, ordinal: int, index: int, node: str, zone: str = "") -> PodFacts:
    """Return the facts of one Deployment pod; `index`, its number among all pods, determines IP and phase."""
    phase = "Running"
    if index % PENDING_EVERY == PENDING_EVERY - 1:
        phase = "Pending"
    elif index % FAILED_EVERY == FAILED_EVERY - 1:
        phase = "Failed"
    return PodFacts(
        namespace=app.namespace,
        name=app.pod_name(ordinal),
        labels=app.pod_labels,
        node=node,
        ip=pod_ip(index),
        image=app.image,
        owner=("apps/v1", "ReplicaSet", app.replica_set),
        config=f"{app.name}-config",
        zone=zone,
        phase=phase,
    )


def pod_ip(index: int) -> str:
    return f"10.{64 + index // 64_000}.{index // 250 % 256}.{index % 250 + 2}"


def _replica_set(app: App) -> Create:
    metadata = {
        "name": app.replica_set,
        "namespace": app.namespace,
        "labels": app.pod_labels,
        "annotations": {"deployment.kubernetes.io/revision": "1"},
        "ownerReferences": owner(
            "apps/v1", "Deployment", app.name, demo_uid(app.namespace, "Deployment", app.name)
        ),
    }
    spec = {
        "replicas": app.replicas,
        "selector": {"matchLabels": app.pod_labels},
        "template": _template(app, app.pod_labels),
    }
    body: Json = object_of("apps/v1", "ReplicaSet", metadata, spec=spec)
    counts = {"replicas": app.replicas, "readyReplicas": app.replicas, "availableReplicas": app.replicas}
    return Create(
        group("apps/v1", app.namespace, "replicasets"),
        body,
        {**counts, "observedGeneration": 1},
        "replica set",
    )


def _replica_counts(app: App) -> Json:
    return {
        "observedGeneration": 1,
        "replicas": app.replicas,
        "updatedReplicas": app.replicas,
        "readyReplicas": app.replicas,
        "availableReplicas": app.replicas,
    }


def _template(app: App, labels: dict[str, str]) -> Json:
    container = {
        "name": "main",
        "image": app.image,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
    }
    return {"metadata": {"labels": labels}, "spec": {"containers": [container], "restartPolicy": "Always"}}


def _config(namespace: str, name: str, labels: dict[str, str], data: dict[str, str]) -> Json:
    metadata: Json = {"name": name, "namespace": namespace} | ({"labels": labels} if labels else {})
    return object_of("v1", "ConfigMap", metadata, data=data)


def _release_secret(app: App) -> Json:
    """Return a Secret as helm stores a release; `helm list` LISTs these by label, with their values."""
    payload = base64.b64encode(f"release of {app.name} ".encode() * 60).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "helm.sh/release.v1",
        "metadata": {
            "name": f"sh.helm.release.v1.{app.name}.v1",
            "namespace": app.namespace,
            "labels": {"owner": "helm", "name": app.name, "status": "deployed", "version": "1"},
        },
        "data": {"release": payload},
    }


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
        body: Json = object_of(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", {"name": f"{plural}.cilium.io"}, spec=spec
        )
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
    return object_of(API_VERSION, kind, metadata, **rest)
