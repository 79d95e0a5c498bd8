"""Restore fields that a client may omit in an update and that the server or a plugin has set."""

from __future__ import annotations

from collections.abc import Callable

from ktui.kube.json_trees import Obj
from ktui.writes.validation.updates.field_rules import spec_of
from ktui.writes.validation.updates.services import addresses_of, needs_health_check, type_of


def settled(resource: str, old: Obj, new: Obj) -> None:
    """Restore the fields in `new`, in place; its spec must not be shared."""
    settle = _BY_RESOURCE.get(resource)
    if settle is not None and isinstance(new.get("spec"), dict):
        settle(spec_of(old), new["spec"])


def _pod(old: Obj, new: Obj) -> None:
    """Keep the values that the Priority plugin set at the creation."""
    for name in ("priority", "preemptionPolicy"):
        if name in old:
            new.setdefault(name, old[name])


def _service(old: Obj, new: Obj) -> None:
    _put_back(old, new)
    _drop_with_type(old, new)


def _put_back(old: Obj, new: Obj) -> None:
    """Restore allocated addresses and ports, so that an object can be sent again as it was created."""
    if "ExternalName" not in (type_of(old), type_of(new)):
        if old.get("clusterIP") and not new.get("clusterIP"):
            new["clusterIP"] = old["clusterIP"]
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if old.get(name) and not new.get(name):
                new[name] = old[name]
        if old.get("clusterIP") != new.get("clusterIP") and old.get("clusterIPs") == new.get("clusterIPs"):
            new["clusterIPs"] = [new["clusterIP"]]  # from an old client, which only knows the first
    if _has_node_ports(old) and _has_node_ports(new):
        _put_back_node_ports(old, new)
    if needs_health_check(old) and needs_health_check(new) and "healthCheckNodePort" in old:
        new["healthCheckNodePort"] = new.get("healthCheckNodePort") or old["healthCheckNodePort"]


def _has_node_ports(spec: Obj) -> bool:
    return type_of(spec) in ("NodePort", "LoadBalancer")


def _node_ports(spec: Obj) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or [] if port.get("nodePort")}


def _put_back_node_ports(old: Obj, new: Obj) -> None:
    given = {port.get("name"): port.get("nodePort") for port in old.get("ports") or []}
    used = _node_ports(old) & _node_ports(new)
    for port in new.get("ports") or []:
        known = given.get(port.get("name"))
        if not port.get("nodePort") and known and known not in used:
            port["nodePort"] = known


def _drop_with_type(old: Obj, new: Obj) -> None:
    """Drop fields that the new type does not have, unless the client has changed them."""
    was, wanted = type_of(old), type_of(new)
    if was != "ExternalName" == wanted and addresses_of(old) == addresses_of(new):
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            new.pop(name, None)
    if _has_node_ports(old) and not _has_node_ports(new) and _node_ports(old) == _node_ports(new):
        for port in new.get("ports") or []:
            port.pop("nodePort", None)
    dropped = []
    if needs_health_check(old) and not needs_health_check(new):
        dropped.append("healthCheckNodePort")
    if was == "LoadBalancer" != wanted:
        dropped += ["allocateLoadBalancerNodePorts", "loadBalancerClass"]
    if _has_node_ports(old) and not _has_node_ports(new) and not new.get("externalIPs"):
        dropped.append("externalTrafficPolicy")
    for name in dropped:
        if old.get(name) == new.get(name):
            new.pop(name, None)


_BY_RESOURCE: dict[str, Callable[[Obj, Obj], None]] = {
    "pods": _pod,
    "services": _service,
}
