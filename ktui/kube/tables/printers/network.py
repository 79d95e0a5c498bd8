"""Printers of Services and of routing to them."""

from __future__ import annotations

from ktui.kube.tables.object_fields import (
    NONE,
    UNSET,
    Obj,
    born,
    dig,
    first_few,
    items,
    labels,
    row,
    selector,
)


def _ports(service: Obj) -> str:
    return ",".join(map(_port, items(service, "spec.ports"))) or NONE


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


def _slice_port(port: Obj) -> str:
    number = port.get("port")
    return str(number) if number is not None else port.get("name") or "*"


def _class_parameters(obj: Obj) -> str:
    if not (reference := dig(obj, "spec.parameters")):
        return NONE
    group = reference.get("apiGroup")
    kind = f"{reference.get('kind', '')}.{group}" if group else reference.get("kind", "")
    return f"{kind}/{reference.get('name', '')}"


def _parent(address: Obj) -> str:
    parent = dig(address, "spec.parentRef", {})
    resource = ".".join(filter(None, (parent.get("resource", "").lower(), parent.get("group", "").lower())))
    return "/".join(filter(None, (resource, parent.get("namespace"), parent.get("name")))) or NONE


PRINTERS = {
    "services": row(
        "spec.type", lambda service: next(iter(items(service, "spec.clusterIPs")), "") or NONE,
        _external_ip, _ports, born, labels("spec.selector"),
    ),
    "endpointslices.discovery.k8s.io": row(
        "addressType",
        lambda piece: first_few([_slice_port(p) for p in items(piece, "ports")]) or UNSET,
        lambda one: first_few([a for e in items(one, "endpoints") for a in items(e, "addresses")]) or UNSET,
        born,
    ),
    "ingresses.networking.k8s.io": row(
        ("spec.ingressClassName", NONE),
        lambda obj: first_few([r["host"] for r in items(obj, "spec.rules") if r.get("host")]) or "*",
        load_balancer_addresses, lambda obj: "80, 443" if items(obj, "spec.tls") else "80", born,
    ),
    "ingressclasses.networking.k8s.io": row("spec.controller", _class_parameters, born),
    "networkpolicies.networking.k8s.io": row(selector("spec.podSelector"), born),
    "servicecidrs.networking.k8s.io": row(lambda obj: ",".join(items(obj, "spec.cidrs")), born),
    # Upstream sends the age as well, though it defines no column for it.
    "ipaddresses.networking.k8s.io": row(_parent, born),
}  # fmt: skip
