"""Errors in Ingresses, IngressClasses, NetworkPolicies and Services (upstream: pkg/apis/networking, core)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, limited, not_supported, required
from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, label_key_faults, label_value_faults, subdomain_faults
from ktui.writes.validation.selectors import label_selector_errors
from ktui.writes.validation.updates.field_rules import spec_of

PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
POLICY_TYPES = ("Ingress", "Egress")
MOST_PORT = 65535
_PORT_NAME = re.compile("[a-z0-9-]+")


@limited
def ingress_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    backend, rules = spec.get("defaultBackend"), spec.get("rules") or []
    if backend is None and not rules:
        yield invalid("spec", None, "either `defaultBackend` or `rules` must be specified")
    if backend is not None:
        yield from _backend(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        http = rule.get("http")
        if http is None:
            continue
        field = f"spec.rules[{index}].http.paths"
        if not http.get("paths"):
            yield required(field)
        for number, path in enumerate(http.get("paths") or []):
            yield from _path(path, f"{field}[{number}]")


def _path(path: Obj, field: str) -> Iterator[FieldError]:
    kind, value = path.get("pathType"), str(path.get("path") or "")
    if kind is None:
        yield required(f"{field}.pathType", "pathType must be specified")
    elif kind not in PATH_TYPES:
        yield not_supported(f"{field}.pathType", str(kind), PATH_TYPES)
    elif not value.startswith("/") and (kind != "ImplementationSpecific" or value):
        yield invalid(f"{field}.path", value, "must be an absolute path")
    yield from _backend(path.get("backend") or {}, f"{field}.backend")


def _backend(backend: Obj, field: str) -> Iterator[FieldError]:
    """Yield the errors of a backend: either a service or another resource."""
    service, resource = backend.get("service"), backend.get("resource")
    if resource is not None and service is not None:
        yield invalid(field, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(resource, f"{field}.resource")
    elif service is None:
        yield required(field, "either a service or a resource backend must be specified")
    else:
        yield from _service_backend(service, f"{field}.service")


def _service_backend(service: Obj, field: str) -> Iterator[FieldError]:
    name, port = str(service.get("name") or ""), service.get("port") or {}
    if not name:
        yield required(f"{field}.name")
    for fault in dns_label_faults(name) if name else ():
        yield invalid(f"{field}.name", name, fault)
    number, named = port.get("number"), port.get("name")
    if named and number:
        yield invalid(f"{field}.port", "", "cannot set both port name & port number")
    elif named:
        for fault in port_name_faults(str(named)):
            yield invalid(f"{field}.port.name", str(named), fault)
    elif not number:
        yield required(f"{field}.port", "port name or number is required")
    else:
        yield from port_errors(number, f"{field}.port.number")


def _reference(reference: Obj, field: str) -> Iterator[FieldError]:
    """Yield the errors of a reference to another kind in a namespace; the group may be missing."""
    group = str(reference.get("apiGroup") or "")
    for fault in subdomain_faults(group) if group else ():
        yield invalid(f"{field}.apiGroup", group, fault)
    for name in ("kind", "name"):
        if not reference.get(name):
            yield required(f"{field}.{name}")


@limited
def ingress_class_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    if parameters := spec.get("parameters"):
        yield from _reference(parameters, "spec.parameters")


@limited
def network_policy_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    yield from label_selector_errors(spec.get("podSelector"), "spec.podSelector")
    for member, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(member) or []):
            field = f"spec.{member}[{index}]"
            for number, port in enumerate(rule.get("ports") or []):
                yield from _policy_port(port, f"{field}.ports[{number}]")
            for number, peer in enumerate(rule.get(peers) or []):
                yield from _peer(peer, f"{field}.{peers}[{number}]")
    types = spec.get("policyTypes") or []
    if len(types) > len(POLICY_TYPES):
        yield invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, name in enumerate(types):
        if name not in POLICY_TYPES:
            yield not_supported(f"spec.policyTypes[{index}]", str(name), POLICY_TYPES)


def _policy_port(port: Obj, field: str) -> Iterator[FieldError]:
    protocol, value, end = port.get("protocol"), port.get("port"), port.get("endPort")
    if protocol is not None and protocol not in ("TCP", "UDP", "SCTP"):
        yield not_supported(f"{field}.protocol", protocol, ("SCTP", "TCP", "UDP"))
    if isinstance(value, str):
        for fault in port_name_faults(value):
            yield invalid(f"{field}.port", value, fault)
        if end is not None:
            yield invalid(f"{field}.endPort", end, "may not be specified when `port` is non-numeric")
    elif value is None:
        if end is not None:
            yield invalid(f"{field}.endPort", end, "may not be specified when `port` is not specified")
    else:
        yield from port_errors(value, f"{field}.port")
        if end is not None and end < value:
            yield invalid(f"{field}.endPort", end, "must be greater than or equal to `port`")


def _peer(peer: Obj, field: str) -> Iterator[FieldError]:
    selectors = [name for name in ("podSelector", "namespaceSelector") if peer.get(name) is not None]
    for name in selectors:
        yield from label_selector_errors(peer[name], f"{field}.{name}")
    if not selectors and peer.get("ipBlock") is None:
        yield required(field, "must specify a peer")
    elif selectors and peer.get("ipBlock") is not None:
        yield FieldError(
            field, "FieldValueForbidden", "Forbidden: may not specify both ipBlock and another peer"
        )


def port_errors(value: Any, field: str) -> Iterator[FieldError]:
    if not 1 <= value <= MOST_PORT:
        yield invalid(field, value, f"must be between 1 and {MOST_PORT}, inclusive")


def port_name_faults(name: str) -> Iterator[str]:
    """Yield why a port's name is invalid (upstream: IsValidPortName)."""
    if len(name.encode()) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name[:1] == "-" or name[-1:] == "-":
        yield "must not begin or end with a hyphen"


@limited
def service_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    kind, ports = spec.get("type") or "ClusterIP", spec.get("ports") or []
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required("spec.ports")
    names: set[str] = set()
    numbers: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        field, name = f"spec.ports[{index}]", str(port.get("name") or "")
        if not name and len(ports) > 1:
            yield required(f"{field}.name")
        elif name and name in names:
            yield FieldError(
                f"{field}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"'
            )  # as upstream, the pair of protocol and number is checked too
        names.add(name)
        yield from port_errors(port.get("port") or 0, f"{field}.port")
        pair = port.get("protocol") or "TCP", port.get("port")
        if pair in numbers:
            shown = {"Name": "", "Protocol": pair[0], "AppProtocol": None, "Port": pair[1]}
            shown |= {"TargetPort": 0, "NodePort": 0}  # Go's type, with the two that were compared
            yield FieldError(field, "FieldValueDuplicate", f"Duplicate value: {to_json(shown).decode()}")
        numbers.add(pair)
    given: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        pair = port.get("protocol") or "TCP", port.get("nodePort")
        if pair[1] and pair in given:
            field = f"spec.ports[{index}].nodePort"
            yield FieldError(field, "FieldValueDuplicate", f"Duplicate value: {pair[1]}")
        given.add(pair)
    for key, value in (spec.get("selector") or {}).items():
        for fault in label_key_faults(key):
            yield invalid("spec.selector", key, fault)
        for fault in label_value_faults(str(value)):
            yield invalid("spec.selector", str(value), fault)
    external = kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs"))
    if (policy := spec.get("externalTrafficPolicy")) and not external:
        why = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", policy, why)
