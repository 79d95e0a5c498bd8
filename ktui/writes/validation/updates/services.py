"""Update rules of Services: allocated values are immutable; a type's own fields are dropped with the type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited
from ktui.kube.json_trees import Obj
from ktui.writes.validation.updates.field_rules import spec_of

SET = "may not change once set"


def service(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    errors = _addresses(was, wanted) + _families(was, wanted)
    if type_of(was) == type_of(wanted) == "LoadBalancer":
        one, other = was.get("loadBalancerClass"), wanted.get("loadBalancerClass")
        errors += [] if one == other else [invalid("spec.loadBalancerClass", other, SET)]
    checked = needs_health_check(was) and needs_health_check(wanted)
    if checked and was.get("healthCheckNodePort") != wanted.get("healthCheckNodePort"):
        errors.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return errors


def type_of(spec: Obj) -> str:
    return str(spec.get("type") or "ClusterIP")


def needs_health_check(spec: Obj) -> bool:
    return type_of(spec) == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def addresses_of(spec: Obj) -> list[str]:
    """Return `clusterIPs`, of which old clients only know the first."""
    first = spec.get("clusterIP")
    return list(spec.get("clusterIPs") or ([first] if first else []))


def _headless(spec: Obj) -> bool:
    return addresses_of(spec) == ["None"]


def _external(was: Obj, wanted: Obj) -> bool:
    return "ExternalName" in (type_of(was), type_of(wanted))


def _addresses(was: Obj, wanted: Obj) -> list[FieldError]:
    if _external(was, wanted) or (_headless(was) and _headless(wanted)):
        return []
    old, new = addresses_of(was), addresses_of(wanted)
    changed = [index for index in range(min(len(old), len(new))) if old[index] != new[index]]
    if len(old) != len(new):
        changed = [index for index in changed if index == 0]  # the secondary address may be added and removed
    errors = _set_before("spec.clusterIPs[{}]", new, changed)
    if old and not new:
        errors = [invalid("spec.clusterIPs[0]", None, "primary clusterIP can not be unset")]
    return errors + _released(old, new, wanted, "clusterIP")


def _families(was: Obj, wanted: Obj) -> list[FieldError]:
    if _external(was, wanted) or _headless(was) or _headless(wanted):
        return []
    old, new = was.get("ipFamilies") or [], wanted.get("ipFamilies") or []
    changed = [index for index in range(min(len(old), len(new))) if old[index] != new[index]]
    # Upstream's message has the addresses if the number of families changes.
    shown: Any = new
    if len(old) != len(new):
        changed, shown = [index for index in changed if index == 0], addresses_of(wanted) or None
    errors = _set_before("spec.ipFamilies[0]", shown, changed)
    return errors + _released(old, new, wanted, "ipFamily")


@limited
def _set_before(field: str, shown: Any, changed: list[int]) -> Iterator[FieldError]:
    """Yield an error for each changed place; each shows the whole list."""
    for index in changed:
        yield invalid(field.format(index), shown, SET)


def _released(old: list[str], new: list[str], wanted: Obj, what: str) -> list[FieldError]:
    if not len(old) > len(new) == 1 or wanted.get("ipFamilyPolicy") == "SingleStack":
        return []
    why = f"must be set to 'SingleStack' when releasing the secondary {what}"
    return [invalid("spec.ipFamilyPolicy", wanted.get("ipFamilyPolicy"), why)]


def family_errors(old: Obj, new: Obj) -> list[FieldError]:
    """Return why a second address or family cannot be left out (upstream: initIPFamilyFields)."""
    policy = new.get("ipFamilyPolicy")
    if policy in (None, "SingleStack") or type_of(new) == "ExternalName":
        return []
    why = "must be 'SingleStack' to release the secondary"
    addresses = addresses_of(old), addresses_of(new)
    families = old.get("ipFamilies") or [], new.get("ipFamilies") or []
    parts = (("cluster IP", addresses), ("IP family", families))
    return [
        invalid("spec.ipFamilyPolicy", policy, f"{why} {what}")
        for what, (before, after) in parts
        if 0 < len(after) < len(before)
    ]


def drop_balancer(service: Obj) -> None:
    """Drop the addresses of a load balancer that the service no longer has, in place."""
    if type_of(spec_of(service)) != "LoadBalancer" and (service.get("status") or {}).get("loadBalancer"):
        service["status"] = {**service["status"], "loadBalancer": {}}


def settled(old: Obj, new: Obj) -> None:
    """Restore fields of a spec that a client may omit and that the server has set, in place."""
    _put_back(old, new)
    _drop_with_type(old, new)
    _keep_one_family(old, new)


def _keep_one_family(old: Obj, new: Obj) -> None:
    """With the policy alone a client gives up the second address and family, in place."""
    if new.get("ipFamilyPolicy") == "SingleStack":
        for name in ("clusterIPs", "ipFamilies"):
            if new.get(name) and new[name] == old.get(name):
                new[name] = new[name][:1]


def _put_back(old: Obj, new: Obj) -> None:
    """Restore allocated addresses and ports, so that an object can be sent again as it was created."""
    if "ExternalName" not in (type_of(old), type_of(new)):
        if old.get("clusterIP") and not new.get("clusterIP"):
            new["clusterIP"] = old["clusterIP"]
        for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if old.get(name) and new.get(name) in (None, []):
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
    if was != "ExternalName" == wanted:
        if addresses_of(old) == addresses_of(new):
            new.pop("clusterIP", None)
            new.pop("clusterIPs", None)
        for name in ("ipFamilies", "ipFamilyPolicy"):
            if old.get(name) == new.get(name):
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
