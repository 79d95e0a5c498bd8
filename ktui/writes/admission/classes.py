"""Resolve the classes of a new object (priority, storage, ingress), and set a new node's taint."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, forbidden
from ktui.writes.admission.lookups import every, find_one, newest_default
from ktui.writes.metadata.objectmeta import metadata_of

Obj = dict[str, Any]

PRIORITIES, STORAGE, NETWORKING = "scheduling.k8s.io", "storage.k8s.io", "networking.k8s.io"
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
LOWER = "PreemptLowerPriority"
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
            marks = ("storageclass.kubernetes.io/is-default-class",)
            old = ("storageclass.beta.kubernetes.io/is-default-class",)
            found = newest_default(await every(server, STORAGE, "storageclasses"), *marks, *old)
            if found is not None:
                obj["spec"] = {**spec, "storageClassName": found["metadata"]["name"]}
    elif resource.id == "ingresses.networking.k8s.io":
        if not spec.get("ingressClassName") and _OLD_INGRESS not in annotations:
            mark = "ingressclass.kubernetes.io/is-default-class"
            found = newest_default(await every(server, NETWORKING, "ingressclasses"), mark)
            if found is not None:
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
        found = await find_one(server, PRIORITIES, "priorityclasses", wanted)
        if found is None:
            raise forbidden(resource, name, f"no PriorityClass with name {wanted} was found")
    else:
        classes = [c for c in await every(server, PRIORITIES, "priorityclasses") if c.get("globalDefault")]
        found = min(classes, key=lambda c: (c.get("value", 0), c["metadata"]["name"]), default=None)
        if found is not None:
            spec["priorityClassName"] = found["metadata"]["name"]
    priority = (found or {}).get("value", 0)
    policy = (found or {}).get("preemptionPolicy") or LOWER
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
