"""Printers of core kinds: pods, nodes, namespaces, configuration, events."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.age import Age, age
from ktui.kube.tables.fields import (
    NONE,
    UNKNOWN,
    Obj,
    condition,
    containers,
    dig,
    first_few,
    items,
    labels_text,
    size,
)
from ktui.kube.tables.podstatus import pod_status

_ROLE_PREFIX = "node-role.kubernetes.io/"


def born(obj: Obj) -> Age | str:
    """The Age column."""
    return age(dig(obj, "metadata.creationTimestamp"))


def pods(obj: Obj) -> list[Any]:
    status = pod_status(obj)
    addresses = items(obj, "status.podIPs")
    return [
        f"{status.ready}/{status.total}",
        status.reason,
        status.restarts_cell(),
        born(obj),
        (addresses[0].get("ip") if addresses else "") or NONE,
        dig(obj, "spec.nodeName") or NONE,
        dig(obj, "status.nominatedNodeName") or NONE,
        _readiness_gates(obj),
    ]


def _readiness_gates(pod: Obj) -> str:
    gates = items(pod, "spec.readinessGates")
    passed = sum(condition(pod, g.get("conditionType", "")).get("status") == "True" for g in gates)
    return f"{passed}/{len(gates)}" if gates else NONE


def nodes(obj: Obj) -> list[Any]:
    info = dig(obj, "status.nodeInfo", {})
    kernel = info.get("kernelVersion") or UNKNOWN
    architecture = info.get("architecture")
    return [
        _node_status(obj),
        ",".join(_node_roles(obj)) or NONE,
        born(obj),
        info.get("kubeletVersion") or "",
        _node_address(obj, "InternalIP"),
        _node_address(obj, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        f"{kernel} ({architecture})" if architecture else kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _node_status(node: Obj) -> str:
    ready = condition(node, "Ready")
    word = ("Ready" if ready.get("status") == "True" else "NotReady") if ready else "Unknown"
    return f"{word},SchedulingDisabled" if dig(node, "spec.unschedulable") else word


def _node_roles(node: Obj) -> list[str]:
    labels = dig(node, "metadata.labels", {})
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    return sorted(role for role in roles | {labels.get("kubernetes.io/role", "")} if role)


def _node_address(node: Obj, kind: str) -> str:
    addresses = items(node, "status.addresses")
    return next((a.get("address") or NONE for a in addresses if a.get("type") == kind), NONE)


def namespaces(obj: Obj) -> list[Any]:
    return [dig(obj, "status.phase", ""), born(obj)]


def configmaps(obj: Obj) -> list[Any]:
    return [size(obj, "data") + size(obj, "binaryData"), born(obj)]


def componentstatuses(obj: Obj) -> list[Any]:
    healthy: Obj = next((c for c in obj.get("conditions") or [] if c.get("type") == "Healthy"), {})
    status = {"True": "Healthy", "False": "Unhealthy"}.get(healthy.get("status", ""), "Unknown")
    return [status, healthy.get("message", ""), healthy.get("error", "")]


def secrets(obj: Obj) -> list[Any]:
    return [dig(obj, "type", ""), size(obj, "data"), born(obj)]


def only_age(obj: Obj) -> list[Any]:
    return [born(obj)]


def podtemplates(obj: Obj) -> list[Any]:
    return [*containers(obj, "template"), labels_text(dig(obj, "template.metadata.labels"))]


def resourcequotas(obj: Obj) -> list[Any]:
    hard, used = dig(obj, "status.hard", {}), dig(obj, "status.used", {})
    shown = {key: f"{key}: {used.get(key, '0')}/{hard[key]}" for key in sorted(hard)}
    requests = ", ".join(text for key, text in shown.items() if not key.startswith("limits."))
    limits = ", ".join(text for key, text in shown.items() if key.startswith("limits."))
    return [requests, limits, born(obj)]


def endpoints(obj: Obj) -> list[Any]:
    subsets = items(obj, "subsets")
    found = [address for subset in subsets for address in _addresses(subset)]
    return [first_few(found) if found else NONE, born(obj)]


def _addresses(subset: Obj) -> list[str]:
    ports, addresses = items(subset, "ports"), items(subset, "addresses")
    if not ports:
        return [a.get("ip", "") for a in addresses]
    return [host_port(a.get("ip", ""), p.get("port", 0)) for p in ports for a in addresses]


def host_port(host: str, port: int) -> str:
    """Join host and port: `10.0.0.1:80`, `[::1]:80`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def events(obj: Obj) -> list[Any]:
    """Return the cells of events of both groups, which name the same fields differently."""
    involved = dig(obj, "involvedObject") or dig(obj, "regarding", {})
    first = dig(obj, "firstTimestamp") or dig(obj, "deprecatedFirstTimestamp") or dig(obj, "eventTime")
    last = dig(obj, "lastTimestamp") or dig(obj, "deprecatedLastTimestamp") or first
    source = dig(obj, "source") or dig(obj, "deprecatedSource", {})
    component = (
        source.get("component") or dig(obj, "reportingComponent") or dig(obj, "reportingController", "")
    )
    host = source.get("host") or dig(obj, "reportingInstance", "")
    count = dig(obj, "count") or dig(obj, "deprecatedCount") or 1
    return [
        age(dig(obj, "series.lastObservedTime") or last),
        dig(obj, "type", ""),
        dig(obj, "reason", ""),
        _involved(involved),
        involved.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        str(dig(obj, "message") or dig(obj, "note", "")).strip(),
        age(first),
        dig(obj, "series.count") or count,
        dig(obj, "metadata.name", ""),
    ]


def _involved(target: Obj) -> str:
    kind, name = str(target.get("kind", "")).lower(), target.get("name", "")
    return f"{kind}/{name}" if name else kind


PRINTERS = {
    "pods": pods,
    "nodes": nodes,
    "namespaces": namespaces,
    "componentstatuses": componentstatuses,
    "configmaps": configmaps,
    "secrets": secrets,
    "serviceaccounts": only_age,
    "podtemplates": podtemplates,
    "resourcequotas": resourcequotas,
    "endpoints": endpoints,
    "events": events,
    "events.events.k8s.io": events,
}
