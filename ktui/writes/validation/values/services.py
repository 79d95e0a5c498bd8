"""Rules of Services, in upstream's order (core/validation)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.updates.services import type_of
from ktui.writes.validation.values.addresses import IP_FAULT, address_range, is_address, ordinary_address
from ktui.writes.validation.values.checks import (
    Rows,
    absent,
    distinct,
    dns_label,
    duplicate,
    inside,
    label_key,
    labels,
    listed,
    needed,
    one_of,
    port_number,
    subdomain,
    table_of,
)
from ktui.writes.validation.values.containers import PROTOCOLS
from ktui.writes.validation.values.int_or_string import port_or_name

FAMILIES = ("IPv4", "IPv6")
_DAY = 86400
_ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_NOT_EXTERNAL = "may not be set for ExternalName services"
_HINTS, _MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def _annotations(service: Obj) -> dict[str, str]:
    return (service.get("metadata") or {}).get("annotations") or {}


def _topology(service: Obj) -> Iterator[FieldError]:
    found = _annotations(service)
    if _HINTS in found and _MODE in found and found[_HINTS] != found[_MODE]:
        why = f"must match annotations[{_HINTS}] when both are specified"
        yield invalid(f".metadata.annotations[{_MODE}]", found[_MODE], why)


def _headless(spec: Obj) -> bool:
    return spec.get("clusterIP") == "None" or (spec.get("clusterIPs") or [""])[0] == "None"


def _of_kind(spec: Obj) -> Iterator[FieldError]:
    """Check that there are ports, and what only some types of service have."""
    kind = type_of(spec)
    if not spec.get("ports") and not _headless(spec) and kind != "ExternalName":
        yield required(".ports")
    if kind in ("LoadBalancer", "NodePort") and _headless(spec):
        yield invalid(".clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    elif kind == "ExternalName":
        if spec.get("clusterIP") or spec.get("clusterIPs"):
            yield forbidden(".clusterIPs", _NOT_EXTERNAL)
        for member in ("ipFamilies", "ipFamilyPolicy"):
            if spec.get(member) not in (None, []):
                yield forbidden(f".{member}", _NOT_EXTERNAL)
        name = str(spec.get("externalName") or "").removesuffix(".")
        if not name:
            yield required(".externalName")
        yield from inside(".externalName", subdomain(name))


def _ports(ports: list[Obj]) -> Iterable[FieldError]:
    """Check each port; among several, each has a name of its own."""
    return (_several_ports if len(ports) > 1 else _one_port)(ports)


def _affinity(spec: Obj) -> Iterator[FieldError]:
    config = spec.get("sessionAffinityConfig")
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is not None and not 0 < seconds <= _DAY:
            why = f"must be greater than 0 and less than {_DAY}"
            yield invalid(".sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why)
    elif spec.get("sessionAffinity") == "None" and config:  # an empty one is a default's remainder
        yield forbidden(".sessionAffinityConfig", "must not be set when session affinity is None")


_families = distinct("", listed(*FAMILIES))


@limited
def address_errors(spec: Obj) -> Iterator[FieldError]:
    """Check the families of a service's addresses, and these (ValidateServiceClusterIPsRelatedFields)."""
    if type_of(spec) == "ExternalName":
        return
    own, given = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if own and given and given[0] != own:
        yield invalid(".clusterIPs", given, "first value must match `clusterIP`")
    elif given and not own:
        yield invalid(".clusterIPs", given, "must be empty when `clusterIP` is not specified")
    yield from inside(".ipFamilies", _families(spec.get("ipFamilies") or []))
    if (policy := spec.get("ipFamilyPolicy")) is not None:
        possible = ("PreferDualStack", "RequireDualStack", "SingleStack")
        yield from inside(".ipFamilyPolicy", listed(*possible)(policy))
    yield from _given(given or ([own] if own else []), spec.get("ipFamilies") or [])


def _given(found: list[str], families: list[str]) -> Iterator[FieldError]:
    """Check the addresses that a service asks for: one of each of its families."""
    if found[:1] == ["None"]:
        if len(found) > 1:
            yield invalid(".clusterIPs", found, "'None' must be the first and only value")
        return
    faulty = [index for index, text in enumerate(found) if not is_address(text)]
    yield from (invalid(f".clusterIPs[{index}]", found[index], IP_FAULT) for index in faulty)
    if len(found) > 2:
        yield invalid(".clusterIPs", found, "may only hold up to 2 values")
    if faulty:
        return
    if len(found) > 1 and len({":" in text for text in found}) != 2:
        yield invalid(".clusterIPs", found, "may specify no more than one IP for each IP family")
    for index, (text, family) in enumerate(zip(found, families, strict=False)):
        if family in FAMILIES and (":" in text) != (family == "IPv6"):
            why = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield invalid(f".clusterIPs[{index}]", text, why)


def _numbers(spec: Obj) -> Iterator[FieldError]:
    """Numbers of ports, and of those on nodes, are taken once."""
    ports = spec.get("ports") or []
    if type_of(spec) == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                yield forbidden(f".ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    nodes, numbers = set[tuple[Any, Any]](), set[tuple[Any, Any]]()
    for index, port in enumerate(ports):
        pair = port.get("protocol") or "TCP", port.get("nodePort")
        if pair in nodes and pair[1]:
            yield duplicate(f".ports[{index}].nodePort", pair[1])
        nodes.add(pair)
    for index, port in enumerate(ports):
        pair = port.get("protocol") or "TCP", port.get("port")
        if pair in numbers:
            shown = {"Name": "", "Protocol": pair[0], "AppProtocol": None, "Port": pair[1]}
            shown |= {"TargetPort": 0, "NodePort": 0}  # Go's type, with the two that were compared
            yield duplicate(f".ports[{index}]", shown)
        numbers.add(pair)


def _sources(service: Obj) -> Iterator[FieldError]:
    """Check who may use a load balancer: the field, or an annotation. Upstream spells the field so."""
    spec = service.get("spec") or {}
    balanced, ranges = type_of(spec) == "LoadBalancer", spec.get("loadBalancerSourceRanges") or []
    if ranges:
        if not balanced:
            yield forbidden(".spec.LoadBalancerSourceRanges", _ONLY_BALANCED)
        for index, text in enumerate(ranges):
            yield from inside(f".spec.LoadBalancerSourceRanges[{index}]", address_range(text.strip()))
        return
    text = _annotations(service).get(_RANGES)
    if text is None:
        return
    field = f".metadata.annotations[{_RANGES}]"
    if not balanced:
        yield forbidden(field, _ONLY_BALANCED)
    for part in text.split(",") if text.strip() else ():
        yield from inside(field, address_range(part.strip()))


def _balanced(spec: Obj) -> Iterator[FieldError]:
    if type_of(spec) != "LoadBalancer":
        members = "allocateLoadBalancerNodePorts", "loadBalancerClass"
        yield from absent(*members, why=_ONLY_BALANCED)(spec)
    elif (name := spec.get("loadBalancerClass")) is not None:
        yield from inside(".loadBalancerClass", label_key(name))


def _policies(spec: Obj) -> Iterator[FieldError]:
    """Check how traffic from outside and inside the cluster is routed."""
    kind, policy, port = type_of(spec), spec.get("externalTrafficPolicy"), spec.get("healthCheckNodePort")
    external = kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs"))
    if policy and not external:
        yield invalid(".externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    elif policy:
        yield from inside(".externalTrafficPolicy", one_of("Cluster", "Local")(policy))
    if port and not (kind == "LoadBalancer" and policy == "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid(".healthCheckNodePort", port, why)
    elif port:
        yield from inside(".healthCheckNodePort", port_number(port))


_PORT = table_of(
    ("port:number", port_number), ("protocol", one_of(*PROTOCOLS)), ("targetPort", port_or_name),
    ("appProtocol", label_key),
)  # fmt: skip
_one_port, _several_ports = (
    distinct("name", table_of(("name:text", name)), _PORT, named=True)
    for name in (dns_label, needed(dns_label))
)
KINDS: dict[str, Rows] = {
    "services": (
        ("", _topology), ("spec", _of_kind), ("spec.ports", _ports), ("spec.selector", labels),
        ("spec.sessionAffinity", one_of("ClientIP", "None")), ("spec", _affinity), ("spec", address_errors),
        ("spec.externalIPs[]", ordinary_address),
        ("spec.type", one_of("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")),
        ("spec", _numbers), ("", _sources), ("spec", _balanced), ("spec", _policies),
        ("spec.internalTrafficPolicy", listed("Cluster", "Local")),
        ("spec.trafficDistribution", listed("PreferClose", "PreferSameZone", "PreferSameNode")),
    ),
}  # fmt: skip
