"""Changes that admission plugins make to a new object, and their summary."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError, forbidden
from ktui.writes.objectmeta import metadata_of
from ktui.writes.stored_objects import every, find_one, newest_default

TOLERATION_SECONDS = 300
TOPOLOGY_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def admit_pod(pod: Obj, node: Obj | None, minor: int) -> None:
    """Run Priority, DefaultTolerationSeconds and PodTopologyLabels, in place; `node` is the pod's node."""
    spec = pod.setdefault("spec", {})
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    tolerate(spec)
    if node is not None:
        copy_topology(pod, node, minor)
    status = pod.setdefault("status", {})
    status.setdefault("phase", "Pending")
    status.setdefault("qosClass", qos_class(spec))


def copy_topology(pod: Obj, node: Obj, minor: int) -> None:
    """Copy the node's region and zone into the pod's labels."""
    if minor < 35:  # PodTopologyLabelsAdmission
        return
    found = (node.get("metadata") or {}).get("labels") or {}
    wanted = {name: found[name] for name in TOPOLOGY_LABELS if name in found}
    if wanted:
        metadata = pod.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **wanted}


_COMPUTE = ("cpu", "memory")


def qos_class(spec: Obj) -> str:
    """Return BestEffort, Burstable or Guaranteed, by the resources of the pod, else of all its containers.

    Upstream: ComputePodQOS in pkg/apis/core/helper/qos. Zero counts as absent.
    """
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    own = spec.get("resources")
    parts = [own] if own is not None else [container.get("resources") or {} for container in containers]
    requests = [_positive(part.get("requests")) for part in parts]
    limits = [_positive(part.get("limits")) for part in parts]
    if not any(requests) and not any(limits):
        return "BestEffort"
    limited = all(len(each) == len(_COMPUTE) for each in limits)
    return "Guaranteed" if limited and _sums(requests) == _sums(limits) else "Burstable"


def _positive(quantities: Obj | None) -> dict[str, Decimal]:
    amounts = {name: amount(str((quantities or {}).get(name, ""))) for name in _COMPUTE}
    return {name: value for name, value in amounts.items() if value > 0}


def _sums(parts: list[dict[str, Decimal]]) -> list[Decimal]:
    return [sum((part.get(name, Decimal(0)) for part in parts), Decimal(0)) for name in _COMPUTE]


def tolerate(spec: Obj) -> None:
    """Apply DefaultTolerationSeconds, to new and to updated pods."""
    tolerations = list(spec.get("tolerations") or [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        of_key = (toleration for toleration in tolerations if toleration.get("key", "") in ("", key))
        if not any(toleration.get("effect", "") in ("", "NoExecute") for toleration in of_key):
            toleration = {"key": key, "operator": "Exists", "effect": "NoExecute"}
            tolerations.append({**toleration, "tolerationSeconds": TOLERATION_SECONDS})
    spec["tolerations"] = tolerations


PRIORITIES, STORAGE, NETWORKING = "scheduling.k8s.io", "storage.k8s.io", "networking.k8s.io"
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_OLD_STORAGE = "volume.beta.kubernetes.io/storage-class"
_OLD_INGRESS = "kubernetes.io/ingress.class"


async def set_classes(server: Server, resource: Resource, obj: Obj) -> None:
    """Run Priority, DefaultStorageClass, DefaultIngressClass, TaintNodesByCondition; may raise a 403."""
    spec = obj.get("spec") or {}
    annotations = metadata_of(obj).get("annotations") or {}
    if resource.id == "pods":
        await _priority(server, resource, obj)
    elif resource.id == "persistentvolumeclaims":
        if spec.get("storageClassName") is None and _OLD_STORAGE not in annotations:
            marks = (f"storageclass.{beta}kubernetes.io/is-default-class" for beta in ("", "beta."))
            if found := newest_default(await every(server, STORAGE, "storageclasses"), *marks):
                obj["spec"] = {**spec, "storageClassName": found["metadata"]["name"]}
    elif resource.id == "ingresses.networking.k8s.io":
        if not spec.get("ingressClassName") and _OLD_INGRESS not in annotations:
            mark = "ingressclass.kubernetes.io/is-default-class"
            if found := newest_default(await every(server, NETWORKING, "ingressclasses"), mark):
                obj["spec"] = {**spec, "ingressClassName": found["metadata"]["name"]}
    elif resource.id == "nodes":
        taints = spec.get("taints") or []
        if not any(t.get("key") == NOT_READY["key"] and t.get("effect") == "NoSchedule" for t in taints):
            obj["spec"] = {**spec, "taints": [*taints, dict(NOT_READY)]}


async def _priority(server: Server, resource: Resource, pod: Obj) -> None:
    spec = pod["spec"] = dict(pod.get("spec") or {})
    name = str(metadata_of(pod).get("name") or "")
    wanted = spec.get("priorityClassName")
    if wanted:
        found = await find_one(server, builtin(PRIORITIES, "priorityclasses"), "", wanted)
        if found is None:
            raise forbidden(resource, name, f"no PriorityClass with name {wanted} was found")
    else:
        classes = [c for c in await every(server, PRIORITIES, "priorityclasses") if c.get("globalDefault")]
        found = min(classes, key=lambda c: (c.get("value", 0), c["metadata"]["name"]), default=None)
        if found is not None:
            spec["priorityClassName"] = found["metadata"]["name"]
    priority = (found or {}).get("value", 0)
    policy = (found or {}).get("preemptionPolicy") or "PreemptLowerPriority"
    given = spec.get("priority")
    if given is not None and given != priority:
        raise _given(resource, name, f"integer value of priority ({given})", str(priority))
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        raise _given(resource, name, f"string value of PreemptionPolicy ({given})", policy)
    spec["priority"], spec["preemptionPolicy"] = priority, policy


def _given(resource: Resource, name: str, what: str, computed: str) -> StatusError:
    why = f"the {what} must not be provided in pod spec; priority admission controller computed {computed}"
    return forbidden(resource, name, f"{why} from the given PriorityClass name")


MOST = 8
Outline = dict[str, int]


def outline(obj: Obj) -> Outline:
    """Return `spec.tolerations` and the like, each with its number of entries or its hash."""
    found: Outline = {}
    for name, value in obj.items():
        if name == "metadata":
            value = {key: value[key] for key in ("labels", "annotations", "finalizers") if key in value}
        if not isinstance(value, dict):
            found[name] = _mark(value)
            continue
        for key, inner in value.items():
            found[f"{name}.{key}"] = _mark(inner)
    return found


def changes(before: Outline, after: Outline) -> str:
    """Return `changed spec.priority, spec.tolerations`, or that nothing changed."""
    changed = [name for name, mark in after.items() if before.get(name) != mark]
    if not changed:
        return "changed nothing"
    more = f" and {len(changed) - MOST} more" if len(changed) > MOST else ""
    return f"changed {', '.join(changed[:MOST])}{more}"


def _mark(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else hash(value)
