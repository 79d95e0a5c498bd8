"""Defaults of kinds other than workloads: claims, volumes, classes, bindings, policies, webhooks, limits."""

from __future__ import annotations

from typing import Any

from ktui.kube.flow_rules import DEFAULT_PRECEDENCE, DEFAULT_SHARES

Obj = dict[str, Any]

QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
RBAC = "rbac.authorization.k8s.io"


def claim(obj: Obj) -> None:
    """Set the defaults of a claim or of a claim template."""
    if isinstance(spec := obj.setdefault("spec", {}), dict):
        spec.setdefault("volumeMode", "Filesystem")
    if isinstance(status := obj.setdefault("status", {}), dict):
        status.setdefault("phase", "Pending")


def volume(obj: Obj) -> None:
    if isinstance(spec := obj.setdefault("spec", {}), dict):
        spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
        spec.setdefault("volumeMode", "Filesystem")
        if isinstance(path := spec.get("hostPath"), dict):
            path.setdefault("type", "")
    if isinstance(status := obj.setdefault("status", {}), dict):
        status.setdefault("phase", "Pending")


def storage_class(obj: Obj) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def priority_class(obj: Obj) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def role_binding(obj: Obj) -> None:
    if isinstance(role := obj.get("roleRef"), dict) and not role.get("apiGroup"):
        role["apiGroup"] = RBAC
    for subject in obj.get("subjects") or []:
        if (
            isinstance(subject, dict)
            and subject.get("kind") in ("User", "Group")
            and not subject.get("apiGroup")
        ):
            subject["apiGroup"] = RBAC


def endpoints(obj: Obj) -> None:
    for subset in _items(obj, "subsets"):
        _protocols(subset)


def endpoint_slice(obj: Obj) -> None:
    _protocols(obj)
    for port in _items(obj, "ports"):
        port.setdefault("name", "")


def network_policy(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    if not isinstance(spec, dict):
        return
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in (*_items(spec, "ingress"), *_items(spec, "egress")):
        _protocols(rule)


def _protocols(owner: Obj) -> None:
    for port in _items(owner, "ports"):
        port["protocol"] = port.get("protocol") or "TCP"


def mutating_webhooks(obj: Obj) -> None:
    validating_webhooks(obj)
    for webhook in _items(obj, "webhooks"):
        webhook.setdefault("reinvocationPolicy", "Never")


def validating_webhooks(obj: Obj) -> None:
    for webhook in _items(obj, "webhooks"):
        for name, value in (("failurePolicy", "Fail"), ("matchPolicy", "Equivalent"), ("timeoutSeconds", 10)):
            webhook.setdefault(name, value)
        for name in ("namespaceSelector", "objectSelector"):
            webhook.setdefault(name, {})
        for rule in _items(webhook, "rules"):
            rule.setdefault("scope", "*")
        if isinstance(service := (webhook.get("clientConfig") or {}).get("service"), dict):
            service.setdefault("port", 443)


def csi_driver(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    if not isinstance(spec, dict):
        return
    spec.setdefault("attachRequired", True)
    for name in ("podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"):
        spec.setdefault(name, False)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    spec["volumeLifecycleModes"] = spec.get("volumeLifecycleModes") or ["Persistent"]


def limit_range(obj: Obj) -> None:
    """Set the defaults for containers without limits or requests."""
    for limit in _items(obj.get("spec") or {}, "limits"):
        if limit.get("type") == "Container":
            default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
            request = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
            for name, value in (("default", default), ("defaultRequest", request)):
                if value:
                    limit[name] = value


def ingress_class(obj: Obj) -> None:
    if isinstance(parameters := (obj.get("spec") or {}).get("parameters"), dict):
        parameters.setdefault("scope", "Cluster")


_CPU = {"resource": {"name": "cpu", "target": {"averageUtilization": 80, "type": "Utilization"}}}
_SCALE_UP = [
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
]
_SCALE_DOWN = [{"type": "Percent", "value": 100, "periodSeconds": 15}]


def autoscaler(obj: Obj) -> None:
    """Set the defaults of autoscaling/v2; v1 stores everything but the number of replicas in annotations."""
    spec = obj.setdefault("spec", {})
    if not isinstance(spec, dict):
        return
    spec.setdefault("minReplicas", 1)
    if obj.get("apiVersion") != "autoscaling/v2":
        return
    spec["metrics"] = spec.get("metrics") or [{"type": "Resource", **_CPU}]
    behavior = spec.get("behavior")
    if isinstance(behavior, dict):
        up, down = behavior.setdefault("scaleUp", {}), behavior.setdefault("scaleDown", {})
        if isinstance(up, dict) and isinstance(down, dict):
            up.setdefault("stabilizationWindowSeconds", 0)
            for rules, policies in ((up, _SCALE_UP), (down, _SCALE_DOWN)):
                rules.setdefault("selectPolicy", "Max")
                rules["policies"] = rules.get("policies") or policies


def flow_schema(obj: Obj) -> None:
    if isinstance(spec := obj.setdefault("spec", {}), dict) and not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = DEFAULT_PRECEDENCE


def priority_level(obj: Obj) -> None:
    for name, shares in (("limited", DEFAULT_SHARES), ("exempt", 0)):
        part = (obj.get("spec") or {}).get(name)
        if isinstance(part, dict):
            for member, value in (("nominalConcurrencyShares", shares), ("lendablePercent", 0)):
                part[member] = value if part.get(member) is None else part[member]
    queuing = (((obj.get("spec") or {}).get("limited") or {}).get("limitResponse") or {}).get("queuing")
    if isinstance(queuing, dict):
        queuing.update({name: value for name, value in QUEUING.items() if not queuing.get(name)})


def _items(owner: Obj, name: str) -> list[Obj]:
    """Return the members of a list that are objects."""
    return [item for item in owner.get(name) or [] if isinstance(item, dict)]
