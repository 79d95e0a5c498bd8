"""Pods for measurements: one realistic pod with two containers, and any number of copies.

Placeholders of fixed width are replaced in the stored bytes, so that seeding
100,000 pods needs no encoding. Copies differ as do the pods of
a ReplicaSet (name, uid, node) and between a few ReplicaSets (namespace, tier).
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Iterator
from typing import Any

from ktui.kube.resources import BUILTIN
from ktui.wire.encode import encode_object
from ktui.wire.pb import put_varint

NODES, NAMESPACES, TIERS = 4000, 200, 20
PREFIX = b"/registry/pods/"
_A_UID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = "2026-01-02T03:04:05Z"
_SECONDS = 1_767_323_045  # the same since 1970
_CONTAINER_ID = b"b7c3d2e1"


def name_of(number: int) -> str:
    return f"checkout-6c9f7d8b54-p{number:07d}"


def namespace_of(number: int) -> str:
    return f"team-{number % NAMESPACES:03d}"


def node_of(number: int) -> str:
    return f"node-{number % NODES:05d}"


def template() -> bytes:
    """Return pod 0 as stored."""
    resource = BUILTIN.find("", "v1", "pods")
    assert resource is not None
    return encode_object(_pod(), resource)


def seeded(template: bytes, count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values of `count` pods, always the same; the template's first uid is the pod's own."""
    chance, first = random.Random(1), _A_UID.search(template)
    assert first is not None
    for number in range(count):
        uid = uuid.UUID(int=chance.getrandbits(128), version=4)
        value = (
            template.replace(b"p0000000", b"p%07d" % number)
            .replace(b"team-000", namespace_of(number).encode())
            .replace(b"node-00000", node_of(number).encode())
            .replace(b"tier-00", b"tier-%02d" % (number % TIERS))
            .replace(first[0], str(uid).encode())
        )
        yield PREFIX + f"{namespace_of(number)}/{name_of(number)}".encode(), value


def changed(value: bytes, number: int) -> bytes:
    """Return a pod after the kubelet's `number`th change: container ids, start times, managed fields."""
    created, time, rest = value.partition(_encoded_time(_SECONDS))
    later = rest.replace(time, _encoded_time(_SECONDS + number))
    return created + time + later.replace(_CONTAINER_ID, b"%08x" % number)


def _encoded_time(seconds: int) -> bytes:
    """Return a Time in protobuf."""
    return b"\x08" + put_varint(seconds) + b"\x10\x00"


def _pod() -> dict[str, Any]:
    spec = {
        "volumes": [
            {"name": "config", "configMap": {"name": "checkout-config", "defaultMode": 420}},
            {"name": "scratch", "emptyDir": {}},
        ],
        "containers": [_container("checkout", 8080), _container("mesh-proxy", 15090)],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "checkout",
        "serviceAccount": "checkout",
        "nodeName": node_of(0),
        "securityContext": {},
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [_apart()]}},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute"}
            for taint in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    status = {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": _TIME}
            for kind in (
                "PodReadyToStartContainers",
                "Initialized",
                "Ready",
                "ContainersReady",
                "PodScheduled",
            )
        ],
        "hostIP": "10.1.17.20",
        "podIP": "10.244.17.203",
        "podIPs": [{"ip": "10.244.17.203"}],
        "startTime": _TIME,
        "containerStatuses": [_running(name) for name in ("checkout", "mesh-proxy")],
        "qosClass": "Burstable",
    }
    metadata = _metadata(spec, status)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def _metadata(spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name_of(0),
        "generateName": "checkout-6c9f7d8b54-",
        "namespace": namespace_of(0),
        "uid": "05f1b0a4-41cb-481b-940b-d55db469dccf",
        "creationTimestamp": _TIME,
        "labels": {
            "app.kubernetes.io/name": "checkout",
            "app.kubernetes.io/part-of": "shop",
            "pod-template-hash": "6c9f7d8b54",
            "tier": "tier-00",
            "track": "stable",
        },
        "annotations": {
            "kubernetes.io/config.source": "api",
            "prometheus.io/port": "9102",
            "mesh.example.com/status": '{"containers":["mesh-proxy"],"volumes":["socket","certs","envoy"]}',
        },
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "checkout-6c9f7d8b54",
                "uid": "7c1a0f52-93d8-4f0b-9a54-1f2e3d4c5b6a",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": [
            _managed("kube-controller-manager", {"f:metadata": {"f:labels": {}}, "f:spec": _owned(spec)}),
            _managed("kubelet", {"f:status": _owned(status)}) | {"subresource": "status"},
        ],
    }


def _managed(manager: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": _TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _owned(value: Any) -> dict[str, Any]:
    """Return the fields of a value as in managedFields; list items are identified by their name."""
    if isinstance(value, dict):
        return {f"f:{name}": _owned(inner) for name, inner in value.items()}
    if isinstance(value, list) and all(isinstance(item, dict) and "name" in item for item in value):
        return {f'k:{{"name":"{item["name"]}"}}': {".": {}} | _owned(item) for item in value}
    return {}


def _container(name: str, port: int) -> dict[str, Any]:
    variables = {
        "LOG_LEVEL": "info",
        "REGION": "eu-central-1",
        "CART_URL": f"http://cart.{namespace_of(0)}.svc:8080",
        "FEATURES": "checkout=on,search=on,reviews=off,recommendations=beta",
    }
    return {
        "name": name,
        "image": f"registry.example.com/shop/{name}:v1.42.7",
        "args": [f"--listen=:{port}", "--log.level=info", "--shutdown-delay=5s"],
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": [{"name": key, "value": value} for key, value in variables.items()]
        + [{"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}],
        "resources": {
            "limits": {"cpu": "1", "memory": "512Mi"},
            "requests": {"cpu": "250m", "memory": "256Mi"},
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/shop"},
            {"name": "scratch", "mountPath": "/var/cache/shop"},
        ],
        "livenessProbe": _probe("/healthz", port, 10),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
    }


def _probe(path: str, port: int, delay: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
        "initialDelaySeconds": delay,
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


def _apart() -> dict[str, Any]:
    selector = {"matchLabels": {"app.kubernetes.io/name": "checkout"}}
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    return {"weight": 100, "podAffinityTerm": term}


def _running(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "state": {"running": {"startedAt": _TIME}},
        "lastState": {},
        "ready": True,
        "restartCount": 0,
        "image": f"registry.example.com/shop/{name}:v1.42.7",
        "imageID": f"registry.example.com/shop/{name}@sha256:{'4e7a91c3' * 8}",
        "containerID": f"containerd://{_CONTAINER_ID.decode() * 8}",
        "started": True,
    }
