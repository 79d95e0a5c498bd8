"""The objects of the demo cluster: namespaces, nodes and their agents, the apps of teams, Cilium."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from typing import Any

from ktui.workloads.demo.plan import DAEMONS, App, DemoPlan
from ktui.workloads.demo.pods import Create, Json, PodFacts, create, demo_uid, owner, pod, timestamp


def namespaces(plan: DemoPlan) -> Iterator[Create]:
    for name in plan.namespaces:
        labels = {"kubernetes.io/metadata.name": name}
        yield create("v1 Namespace", "namespaces", {"name": name, "labels": labels})


def nodes(plan: DemoPlan, now: float) -> Iterator[Create]:
    for index, name in enumerate(plan.nodes):
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": ("m6.large", "m6.xlarge", "r6.xlarge")[index % 3],
            "topology.kubernetes.io/zone": plan.zone_of(name),
            **({"node-role.kubernetes.io/control-plane": ""} if index < 3 else {}),
        }
        cidr = f"10.{64 + index // 256}.{index % 256}.0/24"
        spec: Json = {"podCIDR": cidr, "podCIDRs": [cidr], "providerID": f"demo:///{name}"}
        status = _node_status(index, name, now)
        metadata = {"name": name, "labels": labels}
        yield create("v1 Node", "nodes", metadata, status, f"node {index < 3}", spec=spec)


def leases(plan: DemoPlan, now: float) -> Iterator[Create]:
    renewed = timestamp(now)[:-1] + ".000000Z"
    for name in plan.nodes:
        metadata = {"name": name, "namespace": "kube-node-lease"}
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": renewed}
        yield create("coordination.k8s.io/v1 Lease", "leases", metadata, alike="lease", spec=spec)


def daemon_pods(plan: DemoPlan, now: float) -> Iterator[Create]:
    for daemon in DAEMONS:
        for index, node in enumerate(plan.nodes):
            facts = PodFacts(
                namespace="kube-system", name=f"{daemon}-{node.removeprefix('node-')}",
                labels={"k8s-app": daemon}, node=node, ip=_node_ip(index),
                image=f"registry.example/kube-system/{daemon}:v1.18.2",
                owner=("apps/v1", "DaemonSet", daemon), config=f"{daemon}-config", zone=plan.zone_of(node),
            )  # fmt: skip
            yield pod(facts, now)


def daemon_configs() -> Iterator[Create]:
    for daemon in DAEMONS:
        metadata = {"name": f"{daemon}-config", "namespace": "kube-system", "labels": {"k8s-app": daemon}}
        data = {"mode": "default", "cluster-name": "demo", "log-level": "info"}
        yield create("v1 ConfigMap", "configmaps", metadata, data=data)


def _node_ip(index: int) -> str:
    return f"192.168.{index // 250}.{index % 250 + 1}"


def _node_status(index: int, name: str, now: float) -> Json:
    resources = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {
        "capacity": resources, "allocatable": resources,
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "KubeletReady",
            "message": "kubelet is posting ready status", "lastHeartbeatTime": timestamp(now),
            "lastTransitionTime": timestamp(now - 86_400 * 12)}],
        "addresses": [{"type": "InternalIP", "address": _node_ip(index)},
                      {"type": "Hostname", "address": name}],
        "nodeInfo": {
            "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "containerd://2.1.4",
            "kernelVersion": "6.12.9", "kubeProxyVersion": "", "kubeletVersion": "v1.36.2", "machineID": "",
            "operatingSystem": "linux", "osImage": "Debian GNU/Linux 13 (trixie)", "systemUUID": ""},
    }  # fmt: skip


_REASONS = (
    ("Normal", "Scheduled", "Successfully assigned {namespace}/{name} to {node}", "default-scheduler"),
    ("Normal", "Pulled", "Container image already present on machine", "kubelet"),
    ("Normal", "Started", "Container started", "kubelet"),
    ("Warning", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", "kubelet"),
    ("Warning", "BackOff", "Back-off restarting failed container main in pod {name}", "kubelet"),
)
PODS_PER_EVENT = 4  # at the start: one event for every fourth pod


def event(namespace: str, name: str, node: str, number: int, now: float) -> Create:
    """Return one event about a pod; `number` makes its name unique and selects its reason."""
    severity, reason, message, component = _REASONS[number % len(_REASONS)]
    rest: Json = {
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name},
        "reason": reason, "message": message.format(namespace=namespace, name=name, node=node),
        "type": severity, "source": {"component": component, "host": node},
        "firstTimestamp": timestamp(now), "lastTimestamp": timestamp(now), "count": 1,
    }  # fmt: skip
    metadata = {"name": f"{name}.{number:016x}", "namespace": namespace}
    return create("v1 Event", "events", metadata, alike="event", **rest)


def events(plan: DemoPlan, now: float) -> Iterator[Create]:
    """Yield the events about every `PODS_PER_EVENT`th pod."""
    rng = random.Random(plan.size.seed)
    for index, (app, ordinal, node) in enumerate(plan.app_pods()):
        if index % PODS_PER_EVENT == 0:
            number = rng.randrange(2**40) * len(_REASONS) + index // PODS_PER_EVENT % len(_REASONS)
            yield event(app.namespace, app.pod_name(ordinal), node, number, now)


# One pod in this many is not Running, because a cluster without problems shows little.
PENDING_EVERY, FAILED_EVERY = 97, 211


def configs(plan: DemoPlan) -> Iterator[Create]:
    for namespace in plan.namespaces:  # the server may have created it
        yield create("v1 ServiceAccount", "serviceaccounts", {"name": "default", "namespace": namespace})
    for app in plan.apps:
        data = {"app.toml": f'name = "{app.name}"\n[log]\nlevel = "info"\n' + "# tuned by hand\n" * 12}
        metadata = _named(app, f"{app.name}-config", app.labels)
        yield create("v1 ConfigMap", "configmaps", metadata, alike="app's config", data=data)
        yield _release_secret(app)


def _named(app: App, name: str, labels: dict[str, str]) -> Json:
    return {"name": name, "namespace": app.namespace, "labels": labels}


def services(plan: DemoPlan) -> Iterator[Create]:
    for index, app in enumerate(plan.apps):
        ip = f"10.32.{index // 250}.{index % 250 + 2}"
        spec: Json = {
            "type": "ClusterIP", "clusterIP": ip, "clusterIPs": [ip], "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack", "selector": {"app": app.name}, "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
            "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}],
        }  # fmt: skip
        headless = {"service.kubernetes.io/headless": ""} if index % 9 == 0 else {}
        metadata = _named(app, app.name, {**app.labels, **headless})
        yield create("v1 Service", "services", metadata, {"loadBalancer": {}}, spec=spec)


def endpoint_slices(plan: DemoPlan) -> Iterator[Create]:
    index = 0
    for app in plan.apps:
        endpoints = []
        for ordinal in range(app.replicas):
            target = {"kind": "Pod", "namespace": app.namespace, "name": app.pod_name(ordinal)}
            conditions = {"ready": True, "serving": True, "terminating": False}
            endpoints.append({"addresses": [pod_ip(index)], "conditions": conditions,
                              "nodeName": plan.node_of(index), "targetRef": target})  # fmt: skip
            index += 1
        yield create(
            "discovery.k8s.io/v1 EndpointSlice",
            "endpointslices",
            _named(app, f"{app.name}-x7k2p", {"kubernetes.io/service-name": app.name}),
            addressType="IPv4",
            endpoints=endpoints[:100],
            ports=[{"name": "http", "port": 8080, "protocol": "TCP"}],
        )


def deployments(plan: DemoPlan) -> Iterator[Create]:
    """Yield each app's Deployment, and its ReplicaSet."""
    for app in plan.apps:
        limits = {"maxSurge": "25%", "maxUnavailable": "25%"}
        counts = {"replicas": app.replicas, "readyReplicas": app.replicas, "availableReplicas": app.replicas}
        status = {"observedGeneration": 1, **counts}
        spec = {
            "replicas": app.replicas, "selector": {"matchLabels": {"app": app.name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": limits},
            "template": _template(app, app.labels), "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
        }  # fmt: skip
        of_deployment = {**status, "updatedReplicas": app.replicas}
        metadata = _named(app, app.name, app.labels)
        yield create("apps/v1 Deployment", "deployments", metadata, of_deployment, "deployment", spec=spec)
        uid = demo_uid(app.namespace, "Deployment", app.name)
        metadata = {
            **_named(app, app.replica_set, app.pod_labels),
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": owner("apps/v1", "Deployment", app.name, uid),
        }
        template = _template(app, app.pod_labels)
        spec = {"replicas": app.replicas, "selector": {"matchLabels": app.pod_labels}, "template": template}
        yield create("apps/v1 ReplicaSet", "replicasets", metadata, status, "replica set", spec=spec)


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
        namespace=app.namespace, name=app.pod_name(ordinal), labels=app.pod_labels, node=node,
        ip=pod_ip(index), image=app.image, owner=("apps/v1", "ReplicaSet", app.replica_set),
        config=f"{app.name}-config", zone=zone, phase=phase,
    )  # fmt: skip


def pod_ip(index: int) -> str:
    return f"10.{64 + index // 64_000}.{index // 250 % 256}.{index % 250 + 2}"


def _template(app: App, labels: dict[str, str]) -> Json:
    ports = [{"name": "http", "containerPort": 8080, "protocol": "TCP"}]
    container = {"name": "main", "image": app.image, "ports": ports}
    return {"metadata": {"labels": labels}, "spec": {"containers": [container], "restartPolicy": "Always"}}


def _release_secret(app: App) -> Create:
    """Return a Secret as helm stores a release; `helm list` LISTs these by label, with their values."""
    payload = base64.b64encode(f"release of {app.name} ".encode() * 60).decode()
    labels = {"owner": "helm", "name": app.name, "status": "deployed", "version": "1"}
    metadata, data = _named(app, f"sh.helm.release.v1.{app.name}.v1", labels), {"release": payload}
    return create("v1 Secret", "secrets", metadata, None, "release", type="helm.sh/release.v1", data=data)


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
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    version = {"name": "v2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
               "additionalPrinterColumns": [age]}  # fmt: skip
    for kind, plural, short, namespaced in KINDS:
        spec = {
            "group": "cilium.io", "scope": "Namespaced" if namespaced else "Cluster", "versions": [version],
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(),
                      "shortNames": [short], "categories": ["cilium"]},
        }  # fmt: skip
        of = "apiextensions.k8s.io/v1 CustomResourceDefinition"
        yield create(of, "customresourcedefinitions", {"name": f"{plural}.cilium.io"}, spec=spec)


def _custom(kind: str, metadata: Json, alike: str = "", **rest: Any) -> Create:
    plural = next(plural for known, plural, _, _ in KINDS if known == kind)
    return create(f"{API_VERSION} {kind}", plural, metadata, alike=alike, **rest)


def objects(plan: DemoPlan) -> Iterator[Create]:
    """Yield the objects of Cilium."""
    for index, name in enumerate(plan.nodes):
        addresses = [{"type": "InternalIP", "ip": _node_ip(index)}]
        spec = {"addresses": addresses, "ipam": {"podCIDRs": [f"10.{64 + index // 256}.{index % 256}.0/24"]}}
        yield _custom("CiliumNode", {"name": name}, "Cilium node", spec=spec)
    identity = {}
    for number, app in enumerate(plan.apps, 10_000):
        identity[app.namespace, app.name] = number
        labels = {"k8s:app": app.name, "k8s:io.kubernetes.pod.namespace": app.namespace}
        metadata = {"name": str(number), "labels": {"io.kubernetes.pod.namespace": app.namespace}}
        yield _custom("CiliumIdentity", metadata, "Cilium identity", **{"security-labels": labels})
    for index, (app, ordinal, node) in enumerate(plan.app_pods()):
        status = {
            "id": index % 65_535,
            "identity": {"id": identity[app.namespace, app.name], "labels": [f"k8s:app={app.name}"]},
            "networking": {"addressing": [{"ipv4": pod_ip(index)}], "node": node},
            "state": "ready",
        }
        metadata = _named(app, app.pod_name(ordinal), app.labels)
        endpoint = _custom("CiliumEndpoint", metadata, "Cilium endpoint")
        endpoint.body["status"] = status  # sent with the create: the definition has no subresource
        yield endpoint
    for team in plan.teams:
        ingress = [{"fromEndpoints": [{"matchLabels": {"k8s:io.kubernetes.pod.namespace": team}}]}]
        rules: Json = {"endpointSelector": {}, "ingress": ingress}
        yield _custom("CiliumNetworkPolicy", {"name": "same-namespace", "namespace": team}, spec=rules)
    deny = {"endpointSelector": {}, "egressDeny": [{"toCIDR": ["169.254.169.254/32"]}]}
    yield _custom("CiliumClusterwideNetworkPolicy", {"name": "no-metadata-service"}, spec=deny)
