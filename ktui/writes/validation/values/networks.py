"""Rules of EndpointSlices, Ingresses and NetworkPolicies, in upstream's order."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from functools import partial

from ktui.kube.fielderrors import (
    FieldError,
    domain_path,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, label_value_faults, subdomain_faults, wildcard_faults
from ktui.writes.validation.values.addresses import (
    address,
    address_range,
    is_address,
    is_range,
    ordinary_address,
    reachable,
    usual_address,
    without_zeros,
)
from ktui.writes.validation.values.checks import (
    REFERENCE,
    Check,
    Rows,
    any_dns_label,
    any_subdomain,
    at_most,
    at_most_bytes,
    below,
    conforms,
    distinct,
    dns_label,
    has,
    inside,
    items,
    label_key,
    labels,
    listed,
    needs,
    one_of,
    port_number,
    selector,
    subdomain,
    table_of,
    there,
    up_to,
)
from ktui.writes.validation.values.containers import PROTOCOLS
from ktui.writes.validation.values.int_or_string import port_or_name
from ktui.writes.validation.values.services import FAMILIES

_CLASS = "kubernetes.io/ingress.class"
_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_SLICE_PORTS, _MOST_HINTS = 1000, 100, 20_000, 8
_BAD_IN_PATH = ("//", "/./", "/../", "%2f", "%2F")
_BAD_AT_END = ("/..", "/.")
PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
POLICY_TYPES = ("Ingress", "Egress")


def _host(value: str) -> Iterable[FieldError]:
    return conforms(wildcard_faults)(value) if "*" in value else any_subdomain(value)


def _host_of_rule(host: str) -> Iterator[FieldError]:
    if is_address(host):
        yield invalid("", host, "must be a DNS name, not an IP address")
    if host:
        yield from _host(host)


def _path(path: Obj) -> Iterator[FieldError]:
    kind, value = path.get("pathType"), str(path.get("path") or "")
    if kind is None:
        yield required(".pathType", "pathType must be specified")
        return
    if kind not in PATH_TYPES:
        yield not_supported(".pathType", str(kind), PATH_TYPES)
    elif not value.startswith("/") and (kind != "ImplementationSpecific" or value):
        yield invalid(".path", value, "must be an absolute path")
    if kind in ("Exact", "Prefix"):
        bad = [f"must not contain '{part}'" for part in _BAD_IN_PATH if part in value]
        bad += [f"cannot end with '{part}'" for part in _BAD_AT_END if value.endswith(part)]
        yield from (invalid(".path", value, why) for why in bad)
    yield from inside(".backend", _backend(path.get("backend") or {}))


def _backend(backend: Obj) -> Iterator[FieldError]:
    """A backend is either a service or another resource."""
    service, resource = backend.get("service"), backend.get("resource")
    if resource is not None and service is not None:
        yield invalid("", "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from inside(".resource", _REFERENCE(resource))
    elif service is None:
        yield invalid("", "", "resource or service backend is required")
    else:
        yield from _service_backend(service)


def _service_backend(service: Obj) -> Iterator[FieldError]:
    """Check a backend's service; upstream's path of its port is that of the backend."""
    name, port = str(service.get("name") or ""), service.get("port") or {}
    if not name:
        yield required(".service.name")
    yield from inside(".service.name", dns_label(name))
    number, named = port.get("number"), port.get("name")
    if named and number:
        yield invalid("", "", "cannot set both port name & port number")
    elif named:
        yield from inside(".service.port.name", port_or_name(str(named)))
    elif not number:
        yield required("", "port name or number is required")
    else:
        yield from inside(".service.port.number", port_number(number))


# A reference to another kind; the group may be missing.
_REFERENCE = table_of(("apiGroup", any_subdomain), *REFERENCE)


def _in_scope(reference: Obj) -> Iterator[FieldError]:
    """Check where the parameters of an IngressClass are: in a namespace, or in the cluster."""
    scope, namespace = reference.get("scope"), reference.get("namespace")
    if scope == "Cluster" and namespace is not None:
        yield forbidden(".namespace", "`parameters.scope` is set to 'Cluster'")
    elif scope == "Namespace" and namespace is None:
        yield required(".namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == "Namespace":
        yield from inside(".namespace", any_dns_label(namespace))


def _class_of_annotation(ingress: Obj) -> Iterator[FieldError]:
    """An ingress has one class; upstream's path of the annotation skips `metadata`."""
    named = ((ingress.get("metadata") or {}).get("annotations") or {}).get(_CLASS)
    own = (ingress.get("spec") or {}).get("ingressClassName")
    if None not in (named, own) and named != own:
        why = "must match `ingressClassName` when both are specified"
        yield invalid(f".annotations.{_CLASS}", named, why)


def _some_backend(ingress: Obj) -> Iterator[FieldError]:
    spec = ingress.get("spec") or {}
    if spec.get("defaultBackend") is None and not spec.get("rules"):
        yield invalid(".spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")


def _block(block: Obj) -> Iterator[FieldError]:
    whole = block.get("cidr") or ""
    if not whole:
        yield required(".cidr")
        return
    yield from inside(".cidr", address_range(whole))
    if not is_range(whole):
        return
    outer = ipaddress.ip_network(without_zeros(whole), strict=False)
    for index, text in enumerate(block.get("except") or []):
        yield from inside(f".except[{index}]", address_range(text))
        if not is_range(text):
            continue
        inner = ipaddress.ip_network(without_zeros(text), strict=False)
        if (
            inner.version != outer.version
            or inner.prefixlen <= outer.prefixlen
            or inner.supernet(new_prefix=outer.prefixlen) != outer
        ):
            yield invalid(f".except[{index}]", text, "must be a strict subset of `cidr`")


def _addresses(piece: Obj) -> Iterator[FieldError]:
    """Check the endpoints of an EndpointSlice, whose addresses are of its type."""
    kind = piece.get("addressType") or ""
    check = _ENDPOINTS[kind if kind in _ENDPOINTS else ""]
    yield from inside(".endpoints", check(piece.get("endpoints") or []))


def _of_type(kind: str, addresses: list[str]) -> Iterator[FieldError]:
    for index, text in enumerate(addresses):
        if kind in FAMILIES and is_address(text) and (":" in text) != (kind == "IPv6"):
            yield invalid("", text, f"must be an {kind} address")
        yield from inside(f"[{index}]", _address_of(kind, text))


def _address_of(kind: str, text: str) -> Iterator[FieldError]:
    if kind in FAMILIES:
        unusual = list(usual_address(text)) if kind == "IPv6" else []
        yield from unusual or ordinary_address(text)
    elif kind == "FQDN":
        name = text.removesuffix(".")
        if not text:
            yield required("")
        elif faults := subdomain_faults(name):
            yield invalid("", name, ",".join(faults))
        elif "." not in name:
            yield invalid("", name, "should be a domain with at least two segments separated by dots")
        elif long := next((part for part in name.split(".") if dns_label_faults(part)), ""):
            yield invalid("", long, ",".join(dns_label_faults(long)))


def _policy_types(types: list[str]) -> Iterable[FieldError]:
    if len(types) > len(POLICY_TYPES):
        return [invalid("", types, "may not specify more than two policyTypes")]
    return table_of(("[]", listed(*POLICY_TYPES)))(types)


def _policy_port(port: Obj) -> Iterator[FieldError]:
    value, end = port.get("port"), port.get("endPort")
    if end is not None and isinstance(value, str):
        yield invalid(".endPort", end, "may not be specified when `port` is non-numeric")
    elif end is not None and value is None:
        yield invalid(".endPort", end, "may not be specified when `port` is not specified")
    if value is not None:
        yield from inside(".port", port_or_name(value))
    if end is not None and isinstance(value, int):
        if end < value:
            yield invalid(".endPort", value, "must be greater than or equal to `port`")
        yield from inside(".endPort", port_number(end))


def _peer(peer: Obj) -> Iterator[FieldError]:
    selects = peer.get("podSelector") is not None or peer.get("namespaceSelector") is not None
    if not selects and peer.get("ipBlock") is None:
        yield required("", "must specify a peer")
    elif selects and peer.get("ipBlock") is not None:
        yield forbidden("", "may not specify both ipBlock and another peer")


_slice_ports = up_to(_MOST_SLICE_PORTS, distinct(
    "name", table_of(("name", dns_label)),
    table_of(("protocol", listed(*PROTOCOLS)), ("appProtocol", label_key)),
))  # fmt: skip


def _named_ports(ports: list[Obj]) -> Iterator[FieldError]:
    for index, port in enumerate(ports):
        if len(ports) > 1 and not port.get("name"):
            yield required(f"[{index}].name")
        yield from inside(f"[{index}]", _SUBSET_PORT(port))


def _hinted(check: Check) -> Check:
    return distinct("name", then=table_of(("name:text", check)))


_HINTS = {"forZones": _hinted(conforms(label_value_faults)), "forNodes": _hinted(any_subdomain)}


def _hints(hints: Obj) -> Iterator[FieldError]:
    for member, check in _HINTS.items():
        found = hints.get(member) or []
        if len(found) > _MOST_HINTS:
            yield too_many(f".{member}", len(found), _MOST_HINTS)
            return
        yield from inside(f".{member}", check(found))


_SUBSET_PORT = table_of(
    ("name", dns_label), ("port", port_number), ("protocol", one_of(*PROTOCOLS)), ("appProtocol", label_key)
)
_ENDPOINT: Rows = (
    ("nodeName", any_subdomain), ("deprecatedTopology", labels), ("hostname", any_dns_label),
    ("hints", _hints),
)  # fmt: skip
_ENDPOINTS = {
    kind: items(_MOST_ENDPOINTS, table_of(
        ("", has("addresses", why="must contain at least 1 address")),
        ("addresses", at_most(_MOST_ADDRESSES)), ("addresses", partial(_of_type, kind)), *_ENDPOINT,
    ))
    for kind in ("FQDN", *FAMILIES, "")
}  # fmt: skip
_ADDRESS: Rows = (
    ("ip:text", address), ("hostname", dns_label), ("nodeName", any_subdomain),
    ("ip:text", reachable),
)  # fmt: skip
_PEER: Rows = (("podSelector", selector), ("namespaceSelector", selector), ("ipBlock", _block), ("", _peer))
_POLICY_RULE: Rows = (
    ("ports[].protocol", listed("TCP", "UDP", "SCTP")), ("ports[]", _policy_port), *below("from[]", _PEER),
    *below("to[]", _PEER),
)  # fmt: skip
KINDS: dict[str, Rows] = {
    "endpoints": below("subsets[]", (
        ("", needs(lambda subset: subset.get("addresses") or subset.get("notReadyAddresses"),
                   "", "must specify `addresses` or `notReadyAddresses`")),
        *below("addresses[]", _ADDRESS), *below("notReadyAddresses[]", _ADDRESS), ("ports", _named_ports),
    )),
    "endpointslices.discovery.k8s.io": (
        ("addressType:text", one_of("FQDN", *FAMILIES)), ("ports", _slice_ports), ("", _addresses),
    ),
    "ingressclasses.networking.k8s.io": (
        ("spec!.controller:text", at_most_bytes(250)), ("spec!.controller:text", domain_path),
        ("spec!.parameters", _REFERENCE), ("spec!.parameters", there("scope")),
        ("spec!.parameters.scope", listed("Cluster", "Namespace")), ("spec!.parameters", _in_scope),
    ),
    "ingresses.networking.k8s.io": (
        ("", _some_backend), ("spec.defaultBackend", _backend), ("spec.rules[].host", _host_of_rule),
        ("spec.rules[].http", has("paths")), ("spec.rules[].http.paths[]", _path),
        ("spec.tls[].hosts[]", _host), ("spec.tls[].secretName", subdomain),
        ("spec.ingressClassName", any_subdomain), ("", _class_of_annotation),
    ),
    "networkpolicies.networking.k8s.io": (
        ("spec.podSelector", selector),
        *below("spec.ingress[]", _POLICY_RULE),
        *below("spec.egress[]", _POLICY_RULE),
        ("spec.policyTypes", _policy_types),
    ),
}  # fmt: skip
