"""Rules of Services, EndpointSlices, Ingresses and NetworkPolicies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import replace

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
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
    is_address,
    is_range,
    one_of,
    one_of_or_none,
    ordinary_address,
    port_number,
    port_or_name,
    qualified,
    subdomain,
)
from ktui.writes.validation.values.containers import PROTOCOLS

_DAY = 86400
_ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_WILDCARD = "*."
_BAD_IN_PATH = ("//", "/./", "/../", "%2f", "%2F")
_BAD_AT_END = ("/..", "/.")
FAMILIES = ("IPv4", "IPv6")


def _service(spec: Obj) -> Iterator[FieldError]:
    kind, headless = spec.get("type") or "ClusterIP", spec.get("clusterIP") == "None"
    if kind == "ExternalName":
        yield from _external(spec)
    elif headless and kind in ("LoadBalancer", "NodePort"):
        yield invalid(".clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    elif (own := spec.get("clusterIP")) and not headless and not is_address(own):
        yield invalid(".clusterIPs[0]", own, IP_FAULT)
    if kind == "ClusterIP":
        for index, port in enumerate(spec.get("ports") or []):
            if port.get("nodePort"):
                why = "may not be used when `type` is 'ClusterIP'"
                yield forbidden(f".ports[{index}].nodePort", why)
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
        why = "must not be set when session affinity is None"
        yield forbidden(".sessionAffinityConfig", why)


def _families(families: list[str]) -> Iterator[FieldError]:
    if len(families) == 2 and families[0] == families[1]:
        yield duplicate("[1]", families[1])


def _host(value: str) -> Iterator[FieldError]:
    if is_address(value):
        yield invalid("", value, "must be a DNS name, not an IP address")
    elif value.startswith(_WILDCARD):
        faults = subdomain_faults(value.removeprefix(_WILDCARD))
        yield from (invalid("", value, why) for why in faults)
    elif value:
        yield from (invalid("", value, why) for why in subdomain_faults(value))


def _ingress_path(path: Obj) -> Iterator[FieldError]:
    value = path.get("path") or ""
    if path.get("pathType") not in ("Exact", "Prefix"):
        return
    for part in _BAD_IN_PATH:
        if part in value:
            yield invalid(".path", value, f"must not contain '{part}'")
    for part in _BAD_AT_END:
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
                yield from (replace(e, field=f"{where}[{number}]") for e in ordinary_address(text))


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
INGRESS: tuple[Row, ...] = below(
    "spec",
    (
        ("ingressClassName", subdomain),
        ("rules[].host", _host),
        ("rules[].http.paths[]", _ingress_path),
        ("tls[].hosts[]", _host),
    ),
)
NETWORK_POLICY: tuple[Row, ...] = tuple(
    row
    for peers in ("spec.ingress[].from[].ipBlock", "spec.egress[].to[].ipBlock")
    for row in (
        (peers, _block),
        (f"{peers}.cidr", address_range),
        (f"{peers}.except[]", address_range),
    )
)
INGRESS_CLASS: tuple[Row, ...] = (
    ("", has("spec")),
    ("spec", has("controller")),
    ("spec.controller", _domain_path),
    ("spec.parameters.scope", one_of("Cluster", "Namespace")),
)
