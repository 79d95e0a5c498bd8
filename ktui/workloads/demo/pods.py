"""A pod as a workload creates it: its spec, and the status that a kubelet reports; parts of all builders."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Create:
    """An object to POST to `path`, and the status to PATCH afterwards (a create drops `status`).

    Objects with the same `alike` get the same additions from the server (defaults, labels, managed fields),
    so a large cluster copies them from one example (see `copies`). "": not copied.
    """

    path: str
    body: Json
    status: Json | None = field(default=None)
    alike: str = field(default="")

    @property
    def object_path(self) -> str:
        return f"{self.path}/{self.body['metadata']['name']}"


def object_of(api_version: str, kind: str, metadata: Json, **rest: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def core(namespace: str, resource: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{resource}"


def group(api_version: str, namespace: str, resource: str) -> str:
    return f"/apis/{api_version}/namespaces/{namespace}/{resource}"


def owner(api_version: str, kind: str, name: str, uid: str) -> list[Json]:
    """Return the ownerReference of a controller."""
    return [
        {
            "apiVersion": api_version,
            "kind": kind,
            "name": name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


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
    body: Json = object_of("v1", "Pod", metadata, spec=_spec(facts))
    alike = f"{facts.phase} pod of a {kind} in {facts.zone}"
    return Create(core(facts.namespace, "pods"), body, pod_status(facts, now), alike)


def pod_status(facts: PodFacts, now: float, restarts: int = 0) -> Json:
    """Return the status that a kubelet reports for `facts.phase`."""
    if facts.phase == "Pending":
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(now)}
        return {"phase": "Pending", "conditions": [condition], "qosClass": "Burstable"}
    running = facts.phase == "Running"
    conditions = [
        {"type": kind, "status": "True" if running or kind in ("Initialized", "PodScheduled") else "False",
         "lastTransitionTime": timestamp(now)}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]  # fmt: skip
    return {
        "phase": facts.phase,
        "conditions": conditions,
        "hostIP": "192.168.0.1",
        "podIP": facts.ip,
        "podIPs": [{"ip": facts.ip}],
        "startTime": timestamp(now),
        "qosClass": "Burstable",
        "containerStatuses": [_container_status(facts, now, running, restarts)],
    }


def _container_status(facts: PodFacts, now: float, running: bool, restarts: int) -> Json:
    finished = {
        "exitCode": 0,
        "reason": "Completed",
        "startedAt": timestamp(now),
        "finishedAt": timestamp(now),
    }
    return {
        "name": "main",
        "state": {"running": {"startedAt": timestamp(now)}} if running else {"terminated": finished},
        "lastState": {},
        "ready": running,
        "started": running,
        "restartCount": restarts,
        "image": facts.image,
        "imageID": f"{facts.image}@sha256:{demo_uid(facts.image).replace('-', '') * 2}",
        "containerID": f"containerd://{demo_uid(facts.namespace, facts.name).replace('-', '') * 2}",
    }


def _spec(facts: PodFacts) -> Json:
    return {
        "nodeName": facts.node,
        "serviceAccountName": "default",
        "serviceAccount": "default",
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "enableServiceLinks": True,
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "securityContext": {},
        "containers": [_container(facts)],
        "volumes": [
            {"name": "config", "configMap": {"name": facts.config, "defaultMode": 420}},
            _token_volume(_token_volume_name(facts)),
        ],
        "tolerations": [
            {
                "key": f"node.kubernetes.io/{taint}",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
            for taint in ("not-ready", "unreachable")
        ],
    }


def _token_volume_name(facts: PodFacts) -> str:
    """One name for all pods of an owner, so that the server adds none and their copies share it."""
    return f"kube-api-access-{demo_uid(facts.namespace, *facts.owner)[:5]}"


def _token_volume(name: str) -> Json:
    """The volume that the admission plugin ServiceAccount adds to pods without one."""
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}


def _container(facts: PodFacts) -> Json:
    probe = {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 1,
             "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}  # fmt: skip
    return {
        "name": "main",
        "image": facts.image,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [
            {
                "name": "POD_NAME",
                "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
            },
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "OTEL_RESOURCE_ATTRIBUTES", "value": f"service.namespace={facts.namespace}"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": True},
            {
                "name": _token_volume_name(facts),
                "readOnly": True,
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            },
        ],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
