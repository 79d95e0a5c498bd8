"""Changes that admission plugins make to a new object, after field management."""

from __future__ import annotations

from typing import Any

from ktui.kube.resources import BUILTIN
from ktui.kube.status import forbidden

UNDEFINED_OVERHEAD = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
TOLERATION_SECONDS = 300
# PodTopologyLabelsAdmission is on by default from 1.35.
TOPOLOGY_SINCE = 35
TOPOLOGY_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def admit_pod(pod: dict[str, Any], node: dict[str, Any] | None, minor: int) -> None:
    """Run Priority, DefaultTolerationSeconds and PodTopologyLabels, in place; `node` is the pod's node.

    Raises StatusError 403 as RuntimeClass does for an overhead that no class defines.
    """
    spec = pod.setdefault("spec", {})
    if spec.get("overhead") and not spec.get("runtimeClassName"):
        pods = BUILTIN.find("", "v1", "pods")
        assert pods is not None
        raise forbidden(pods, str((pod.get("metadata") or {}).get("name") or ""), UNDEFINED_OVERHEAD)
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    tolerate(spec)
    if node is not None:
        copy_topology(pod, node, minor)
    status = pod.setdefault("status", {})
    status.setdefault("phase", "Pending")
    status.setdefault("qosClass", qos_class(spec))


def copy_topology(pod: dict[str, Any], node: dict[str, Any], minor: int) -> None:
    """Copy the node's region and zone into the pod's labels."""
    if minor < TOPOLOGY_SINCE:
        return
    found = (node.get("metadata") or {}).get("labels") or {}
    wanted = {name: found[name] for name in TOPOLOGY_LABELS if name in found}
    if wanted:
        metadata = pod.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **wanted}


def qos_class(spec: dict[str, Any]) -> str:
    """Return BestEffort, Burstable or Guaranteed, by the requests and limits of all containers."""
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    all_resources = [container.get("resources") or {} for container in containers]
    if not any(r.get("requests") or r.get("limits") for r in all_resources):
        return "BestEffort"
    for resources in all_resources:
        limits = resources.get("limits") or {}
        requests = {**limits, **(resources.get("requests") or {})}
        if any(name not in limits or limits[name] != requests.get(name) for name in ("cpu", "memory")):
            return "Burstable"
    return "Guaranteed"


def tolerate(spec: dict[str, Any]) -> None:
    """Apply DefaultTolerationSeconds, to new and to updated pods."""
    tolerations = list(spec.get("tolerations") or [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_covers(toleration, key) for toleration in tolerations):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": TOLERATION_SECONDS,
                }
            )
    spec["tolerations"] = tolerations


def _covers(toleration: dict[str, Any], key: str) -> bool:
    same_key = toleration.get("key", "") in ("", key)
    return same_key and toleration.get("effect", "NoExecute") in ("", "NoExecute")
