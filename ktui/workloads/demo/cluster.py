"""Namespaces, nodes, their leases, and the node agents that run on each."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ktui.workloads.demo.plan import DAEMONS, DemoPlan
from ktui.workloads.demo.pods import Create, Json, PodFacts, create, pod, timestamp


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
