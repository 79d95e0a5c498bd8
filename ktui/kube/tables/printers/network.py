"""Printers of Services and of routing to them."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.object_fields import NONE, UNSET, Obj, dig, first_few, items, labels_text, selector_text
from ktui.kube.tables.printers.core import born


def services(obj: Obj) -> list[Any]:
    addresses = items(obj, "spec.clusterIPs")
    return [
        dig(obj, "spec.type", ""),
        (addresses[0] if addresses else "") or NONE,
        _external_ip(obj),
        ",".join(map(_port, items(obj, "spec.ports"))) or NONE,
        born(obj),
        labels_text(dig(obj, "spec.selector")),
    ]


def _external_ip(service: Obj) -> str:
    extra = items(service, "spec.externalIPs")
    match dig(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(extra) or NONE
        case "LoadBalancer":
            balanced = load_balancer_addresses(service)
            return ",".join([*([balanced] if balanced else []), *extra]) or "<pending>"
        case "ExternalName":
            return str(dig(service, "spec.externalName", ""))
        case _:
            return "<unknown>"


def load_balancer_addresses(obj: Obj) -> str:
    """Addresses of a load balancer: IPs or host names, sorted, without duplicates."""
    ingress = items(obj, "status.loadBalancer.ingress")
    return ",".join(sorted({i.get("ip") or i.get("hostname") or "" for i in ingress} - {""}))


def _port(port: Obj) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', 'TCP')}"


def endpointslices(obj: Obj) -> list[Any]:
    addresses = [a for endpoint in items(obj, "endpoints") for a in endpoint.get("addresses") or []]
    return [
        dig(obj, "addressType", ""),
        first_few([_slice_port(p) for p in items(obj, "ports")]) or UNSET,
        first_few(addresses) or UNSET,
        born(obj),
    ]


def _slice_port(port: Obj) -> str:
    number = port.get("port")
    return str(number) if number is not None else port.get("name") or "*"


def ingresses(obj: Obj) -> list[Any]:
    hosts = [rule["host"] for rule in items(obj, "spec.rules") if rule.get("host")]
    return [
        dig(obj, "spec.ingressClassName") or NONE,
        first_few(hosts) or "*",
        load_balancer_addresses(obj),
        "80, 443" if items(obj, "spec.tls") else "80",
        born(obj),
    ]


def ingressclasses(obj: Obj) -> list[Any]:
    parameters = dig(obj, "spec.parameters")
    return [dig(obj, "spec.controller", ""), _parameters(parameters) if parameters else NONE, born(obj)]


def _parameters(reference: Obj) -> str:
    group = reference.get("apiGroup")
    kind = f"{reference.get('kind', '')}.{group}" if group else reference.get("kind", "")
    return f"{kind}/{reference.get('name', '')}"


def networkpolicies(obj: Obj) -> list[Any]:
    return [selector_text(dig(obj, "spec.podSelector")), born(obj)]


def servicecidrs(obj: Obj) -> list[Any]:
    return [",".join(items(obj, "spec.cidrs")), born(obj)]


def ipaddresses(obj: Obj) -> list[Any]:
    """Upstream sends the age as well, though it defines no column for it."""
    parent = dig(obj, "spec.parentRef", {})
    resource = ".".join(filter(None, (parent.get("resource", "").lower(), parent.get("group", "").lower())))
    path = "/".join(filter(None, (resource, parent.get("namespace"), parent.get("name"))))
    return [path or NONE, born(obj)]


PRINTERS = {
    "services": services,
    "endpointslices.discovery.k8s.io": endpointslices,
    "ingresses.networking.k8s.io": ingresses,
    "ingressclasses.networking.k8s.io": ingressclasses,
    "networkpolicies.networking.k8s.io": networkpolicies,
    "servicecidrs.networking.k8s.io": servicecidrs,
    "ipaddresses.networking.k8s.io": ipaddresses,
}
