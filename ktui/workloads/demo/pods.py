"""A pod as a workload creates it: its spec, and the status that a kubelet reports; parts of all builders."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
MERGE = "application/merge-patch+json"
CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


@dataclass(frozen=True, slots=True)
class Create:
    """An object to POST to `path`, and the status to PATCH afterwards (a create drops `status`).

    Objects with the same `alike` get the same additions from the server (defaults, labels, managed fields),
    so a large cluster copies them from one example (see `copies`). "": not copied.
    """

    path: str
    body: Json
    status: Json | None = None
    alike: str = ""

    @property
    def object_path(self) -> str:
        return f"{self.path}/{self.body['metadata']['name']}"


def create(
    kind: str, plural: str, metadata: Json, status: Json | None = None, alike: str = "", **rest: Any
) -> Create:
    """Return an object of `plural`, in the namespace of its metadata; `kind` is like `apps/v1 Deployment`."""
    api_version, _, kind = kind.rpartition(" ")
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    place = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
    return Create(f"{root}{place}/{plural}", body, status, alike)


def owner(api_version: str, kind: str, name: str, uid: str) -> list[Json]:
    reference = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid}
    return [{**reference, "controller": True, "blockOwnerDeletion": True}]


def demo_uid(*parts: str) -> str:
    """Return a stable uid for ownerReferences: objects are posted before their owner's real uid is known."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "ktui-demo/" + "/".join(parts)))


def timestamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@dataclass(frozen=True, slots=True)
class PodFacts:
    """The differences between pods. `owner`: (apiVersion, kind, name)."""

    namespace: str
    name: str
    labels: dict[str, str]
    node: str
    ip: str
    image: str
    owner: tuple[str, str, str]
    config: str
    zone: str = ""  # the node's zone, with which the server labels the pod
    phase: str = "Running"


def pod(facts: PodFacts, now: float) -> Create:
    api_version, kind, owner_name = facts.owner
    metadata: Json = {
        "name": facts.name,
        "namespace": facts.namespace,
        "labels": facts.labels,
        "annotations": {"kubectl.kubernetes.io/default-container": "main"},
        "ownerReferences": owner(api_version, kind, owner_name, demo_uid(facts.namespace, kind, owner_name)),
    }
    alike = f"{facts.phase} pod of a {kind} in {facts.zone}"
    return create("v1 Pod", "pods", metadata, pod_status(facts, now), alike, spec=_spec(facts))


def pod_status(facts: PodFacts, now: float, restarts: int = 0) -> Json:
    """Return the status that a kubelet reports for `facts.phase`."""
    if facts.phase == "Pending":
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(now)}
        return {"phase": "Pending", "conditions": [condition], "qosClass": "Burstable"}
    running = facts.phase == "Running"
    conditions = [
        {"type": kind, "status": "True" if running or kind in ("Initialized", "PodScheduled") else "False",
         "lastTransitionTime": timestamp(now)}
        for kind in CONDITIONS
    ]  # fmt: skip
    container = {
        "name": "main",
        "state": {"running": {"startedAt": timestamp(now)}} if running else {"terminated": {
            "exitCode": 0, "reason": "Completed", "startedAt": timestamp(now), "finishedAt": timestamp(now)}},
        "lastState": {}, "ready": running, "started": running, "restartCount": restarts,
        "image": facts.image, "imageID": f"{facts.image}@sha256:{demo_uid(facts.image).replace('-', '') * 2}",
        "containerID": f"containerd://{demo_uid(facts.namespace, facts.name).replace('-', '') * 2}",
    }  # fmt: skip
    return {
        "phase": facts.phase, "conditions": conditions, "hostIP": "192.168.0.1", "podIP": facts.ip,
        "podIPs": [{"ip": facts.ip}], "startTime": timestamp(now), "qosClass": "Burstable",
        "containerStatuses": [container],
    }  # fmt: skip


def _spec(facts: PodFacts) -> Json:
    # One name for all pods of an owner, so that the server adds none and their copies share it.
    token = f"kube-api-access-{demo_uid(facts.namespace, *facts.owner)[:5]}"
    probe = {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 1,
             "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}  # fmt: skip
    secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
    container = {
        "name": "main", "image": facts.image,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [
            {"name": "POD_NAME",
             "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": f"service.namespace={facts.namespace}"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": True},
                         {"name": token, "readOnly": True, "mountPath": secrets}],
        "livenessProbe": probe, "readinessProbe": probe,
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }  # fmt: skip
    return {
        "nodeName": facts.node, "serviceAccountName": "default", "serviceAccount": "default",
        "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30, "enableServiceLinks": True, "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority", "securityContext": {}, "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": facts.config, "defaultMode": 420}},
                    _token_volume(token)],
        "tolerations": [{"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute",
                         "tolerationSeconds": 300} for taint in ("not-ready", "unreachable")],
    }  # fmt: skip


def _token_volume(name: str) -> Json:
    """The volume that the admission plugin ServiceAccount adds to pods without one."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}
