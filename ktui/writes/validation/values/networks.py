"""Rules of Services, EndpointSlices, Ingresses and NetworkPolicies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import subdomain_faults
from ktui.writes.validation.values.checks import (
    IP_FAULT,
    Row,
    address_range,
    below,
    dns_label,
    duplicate,
    has,
    inside,
    is_address,
    is_range,
    labels,
    one_of,
    one_of_or_none,
    ordinary_address,
    port_number,
    port_or_name,
    qualified,
    selector,
    subdomain,
)
from ktui.writes.validation.values.containers import PROTOCOLS

_DAY = 86400
_ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"

FAMILIES = ("IPv4", "IPv6")
PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
POLICY_TYPES = ("Ingress", "Egress")


def _service(spec: Obj) -> Iterator[FieldError]:
    kind, headless = spec.get("type") or "ClusterIP", spec.get("clusterIP") == "None"
    if kind == "ExternalName":
        yield from _external(spec)
    elif headless and kind in ("LoadBalancer", "NodePort"):
        yield invalid(".clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    elif (own := spec.get("clusterIP")) and not headless and not is_address(own):
        yield invalid(".clusterIPs[0]", own, IP_FAULT)
    for index, port in enumerate(spec.get("ports") or [] if kind == "ClusterIP" else ()):
        if port.get("nodePort"):
            yield forbidden(f".ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    local = kind == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"
    if spec.get("healthCheckNodePort") and not local:
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid(".healthCheckNodePort", spec["healthCheckNodePort"], why)
    if kind != "LoadBalancer":
        for name in ("loadBalancerSourceRanges", "loadBalancerClass"):
            if spec.get(name):
                yield forbidden(f".{name}", _ONLY_BALANCED)
        if spec.get("allocateLoadBalancerNodePorts") is not None:
            yield forbidden(".allocateLoadBalancerNodePorts", _ONLY_BALANCED)


def _external(spec: Obj) -> Iterator[FieldError]:
    name = str(spec.get("externalName") or "").removesuffix(".")
    for why in subdomain_faults(name):
        yield invalid(".externalName", name, why)
    if spec.get("clusterIP") == "None" or spec.get("clusterIPs"):
        yield forbidden(".clusterIPs", "may not be set for ExternalName services")
    for member in ("ipFamilies", "ipFamilyPolicy"):
        if spec.get(member):
            yield forbidden(f".{member}", "may not be set for ExternalName services")


def _affinity(spec: Obj) -> Iterator[FieldError]:
    config = spec.get("sessionAffinityConfig")
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is not None and not 0 < seconds <= _DAY:
            why = f"must be greater than 0 and less than {_DAY}"
            yield invalid(".sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why)
    elif config is not None:
        yield forbidden(".sessionAffinityConfig", "must not be set when session affinity is None")


def _families(families: list[str]) -> Iterator[FieldError]:
    if len(families) == 2 and families[0] == families[1]:
        yield duplicate("[1]", families[1])


def _host(value: str) -> Iterator[FieldError]:
    if is_address(value):
        yield invalid("", value, "must be a DNS name, not an IP address")
    elif value:
        yield from (invalid("", value, why) for why in subdomain_faults(value.removeprefix("*.")))


def _ingress_path(path: Obj) -> Iterator[FieldError]:
    value = path.get("path") or ""
    if path.get("pathType") not in ("Exact", "Prefix"):
        return
    for part in ("//", "/./", "/../", "%2f", "%2F"):
        if part in value:
            yield invalid(".path", value, f"must not contain '{part}'")
    for part in ("/..", "/."):
        if value.endswith(part):
            yield invalid(".path", value, f"cannot end with '{part}'")


def _block(block: Obj) -> Iterator[FieldError]:
    whole = block.get("cidr") or ""
    if not whole:
        yield required(".cidr")
        return
    if not is_range(whole):
        return
    outer = ipaddress.ip_network(whole, strict=False)
    for index, text in enumerate(block.get("except") or []):
        if not is_range(text):
            continue
        inner = ipaddress.ip_network(text, strict=False)
        if inner.prefixlen <= outer.prefixlen or inner.supernet(new_prefix=outer.prefixlen) != outer:
            yield invalid(f".except[{index}]", text, "must be a strict subset of `cidr`")


def _domain_path(value: str) -> Iterator[FieldError]:
    domain, slash, path = value.partition("/")
    if value and not (slash and domain and path):
        yield invalid("", value, 'must be a domain-prefixed path (such as "acme.io/foo")')
    elif value:
        yield from (invalid("", domain, why) for why in subdomain_faults(domain))


def _addresses(piece: Obj) -> Iterator[FieldError]:
    """The addresses of an EndpointSlice are of its type."""
    kind = piece.get("addressType") or ""
    for index, endpoint in enumerate(piece.get("endpoints") or []):
        where, found = f".endpoints[{index}].addresses", endpoint.get("addresses") or []
        if not found:
            yield required(where, "must contain at least 1 address")
        for number, text in enumerate(found):
            if kind in FAMILIES and (not is_address(text) or (":" in text) != (kind == "IPv6")):
                yield invalid(f"{where}[{number}]", text, f"must be a valid {kind} address")
            elif kind in FAMILIES:
                yield from inside(f"{where}[{number}]", ordinary_address(text))


def _ports(spec: Obj) -> Iterator[FieldError]:
    """Names and numbers of a service's ports are unique."""
    kind, ports = spec.get("type") or "ClusterIP", spec.get("ports") or []
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required(".ports")
    names, numbers, nodes = set[str](), set[tuple[Any, Any]](), set[tuple[Any, Any]]()
    for index, port in enumerate(ports):
        field, name, protocol = f".ports[{index}]", str(port.get("name") or ""), port.get("protocol") or "TCP"
        if not name and len(ports) > 1:
            yield required(f"{field}.name")
        elif name and name in names:
            yield duplicate(f"{field}.name", name)  # as upstream, protocol and number are checked too
        names.add(name)
        yield from inside(f"{field}.port", port_number(port.get("port") or 0))
        if (pair := (protocol, port.get("port"))) in numbers:
            shown = {"Name": "", "Protocol": protocol, "AppProtocol": None, "Port": pair[1]}
            shown |= {"TargetPort": 0, "NodePort": 0}  # Go's type, with the two that were compared
            yield FieldError(field, "FieldValueDuplicate", f"Duplicate value: {to_json(shown).decode()}")
        numbers.add(pair)
        if (pair := (protocol, port.get("nodePort"))) in nodes and pair[1]:
            yield FieldError(f"{field}.nodePort", "FieldValueDuplicate", f"Duplicate value: {pair[1]}")
        nodes.add(pair)


def _policy(spec: Obj) -> Iterator[FieldError]:
    kind, policy = spec.get("type") or "ClusterIP", spec.get("externalTrafficPolicy")
    external = kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs"))
    if policy and not external:
        yield invalid(".externalTrafficPolicy", policy, "may only be set for externally-accessible services")


def _some_backend(ingress: Obj) -> Iterator[FieldError]:
    spec = ingress.get("spec") or {}
    if spec.get("defaultBackend") is None and not spec.get("rules"):
        yield invalid(".spec", None, "either `defaultBackend` or `rules` must be specified")


def _path(path: Obj) -> Iterator[FieldError]:
    kind, value = path.get("pathType"), str(path.get("path") or "")
    if kind is None:
        yield required(".pathType", "pathType must be specified")
    elif kind not in PATH_TYPES:
        yield not_supported(".pathType", str(kind), PATH_TYPES)
    elif not value.startswith("/") and (kind != "ImplementationSpecific" or value):
        yield invalid(".path", value, "must be an absolute path")
    yield from inside(".backend", _backend(path.get("backend") or {}))


def _backend(backend: Obj) -> Iterator[FieldError]:
    """A backend is either a service or another resource."""
    service, resource = backend.get("service"), backend.get("resource")
    if resource is not None and service is not None:
        yield invalid("", "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from inside(".resource", _reference(resource))
    elif service is None:
        yield required("", "either a service or a resource backend must be specified")
    else:
        yield from inside(".service", _service_backend(service))


def _service_backend(service: Obj) -> Iterator[FieldError]:
    name, port = str(service.get("name") or ""), service.get("port") or {}
    if not name:
        yield required(".name")
    yield from inside(".name", dns_label(name))
    number, named = port.get("number"), port.get("name")
    if named and number:
        yield invalid(".port", "", "cannot set both port name & port number")
    elif named:
        yield from inside(".port.name", port_or_name(str(named)))
    elif not number:
        yield required(".port", "port name or number is required")
    else:
        yield from inside(".port.number", port_number(number))


def _reference(reference: Obj) -> Iterator[FieldError]:
    """A reference to another kind in a namespace; the group may be missing."""
    yield from inside(".apiGroup", subdomain(str(reference.get("apiGroup") or "")))
    yield from has("kind", "name")(reference)


def _policy_types(types: list[str]) -> Iterator[FieldError]:
    if len(types) > len(POLICY_TYPES):
        yield invalid("", types, "may not specify more than two policyTypes")
        return
    for index, name in enumerate(types):
        if name not in POLICY_TYPES:
            yield not_supported(f"[{index}]", str(name), POLICY_TYPES)


def _policy_port(port: Obj) -> Iterator[FieldError]:
    value, end = port.get("port"), port.get("endPort")
    if value is not None:
        yield from inside(".port", port_or_name(value))
    if end is None:
        return
    if isinstance(value, str):
        yield invalid(".endPort", end, "may not be specified when `port` is non-numeric")
    elif value is None:
        yield invalid(".endPort", end, "may not be specified when `port` is not specified")
    elif end < value:
        yield invalid(".endPort", end, "must be greater than or equal to `port`")


def _peer(peer: Obj) -> Iterator[FieldError]:
    selects = peer.get("podSelector") is not None or peer.get("namespaceSelector") is not None
    if not selects and peer.get("ipBlock") is None:
        yield required("", "must specify a peer")
    elif selects and peer.get("ipBlock") is not None:
        yield forbidden("", "may not specify both ipBlock and another peer")


SERVICE: tuple[Row, ...] = below(
    "spec",
    (
        ("type", one_of("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")),
        ("ports[].protocol", one_of(*PROTOCOLS)),
        ("ports[].name", dns_label),
        ("ports[].targetPort", port_or_name),
        ("ports[].appProtocol", qualified),
        ("sessionAffinity", one_of("ClientIP", "None")),
        ("externalIPs[]", ordinary_address),
        ("loadBalancerSourceRanges[]", address_range),
        ("externalTrafficPolicy", one_of("Cluster", "Local")),
        ("internalTrafficPolicy", one_of("Cluster", "Local")),
        ("ipFamilyPolicy", one_of("PreferDualStack", "RequireDualStack", "SingleStack")),
        ("ipFamilies[]", one_of(*FAMILIES)),
        ("ipFamilies", _families),
        ("loadBalancerClass", qualified),
        ("trafficDistribution", one_of_or_none("PreferClose", "PreferSameNode", "PreferSameZone")),
        ("", _ports),
        ("selector", labels),
        ("", _policy),
        ("", _affinity),
        ("", _service),
    ),
)
ENDPOINTS: tuple[Row, ...] = below(
    "subsets[]",
    (
        ("addresses[].ip", ordinary_address),
        ("notReadyAddresses[].ip", ordinary_address),
        ("ports[].port", port_number),
        ("ports[].protocol", one_of(*PROTOCOLS)),
        ("ports[].name", dns_label),
    ),
)
ENDPOINT_SLICE: tuple[Row, ...] = (
    ("", has("addressType")),
    ("addressType", one_of("FQDN", *FAMILIES)),
    ("", _addresses),
    ("ports[].protocol", one_of(*PROTOCOLS)),
    ("ports[].port", port_number),
)
INGRESS: tuple[Row, ...] = (
    ("", _some_backend),
    ("spec.defaultBackend", _backend),
    ("spec.rules[].http", has("paths")),
    ("spec.rules[].http.paths[]", _path),
    ("spec.ingressClassName", subdomain),
    ("spec.rules[].host", _host),
    ("spec.rules[].http.paths[]", _ingress_path),
    ("spec.tls[].hosts[]", _host),
)
_PEER: tuple[Row, ...] = (
    ("", _peer),
    ("podSelector", selector),
    ("namespaceSelector", selector),
    ("ipBlock", _block),
    ("ipBlock.cidr", address_range),
    ("ipBlock.except[]", address_range),
)
_POLICY_PORT: tuple[Row, ...] = (("", _policy_port), ("protocol", one_of_or_none(*PROTOCOLS)))
NETWORK_POLICY: tuple[Row, ...] = (
    ("spec.podSelector", selector),
    *below("spec.ingress[].ports[]", _POLICY_PORT),
    *below("spec.ingress[].from[]", _PEER),
    *below("spec.egress[].ports[]", _POLICY_PORT),
    *below("spec.egress[].to[]", _PEER),
    ("spec.policyTypes", _policy_types),
)
INGRESS_CLASS: tuple[Row, ...] = (
    ("", has("spec")),
    ("spec", has("controller")),
    ("spec.controller", _domain_path),
    ("spec.parameters", _reference),
    ("spec.parameters.scope", one_of("Cluster", "Namespace")),
)
