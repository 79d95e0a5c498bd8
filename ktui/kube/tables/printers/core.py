"""Printers of core kinds: pods, nodes, namespaces, configuration, events."""

from __future__ import annotations

from typing import Any, NamedTuple

from ktui.kube.tables.object_fields import (
    NONE,
    UNKNOWN,
    Age,
    Cell,
    Obj,
    age,
    born,
    condition,
    containers,
    count,
    deleting,
    dig,
    first_few,
    holds,
    items,
    labels,
    row,
    size,
)


class PodStatus(NamedTuple):
    """A pod's ready and total containers, STATUS, and restarts with the last one's time (RFC 3339 or "")."""

    ready: int
    total: int
    reason: str
    restarts: int
    last_restart: str

    def restarts_cell(self) -> Age | str:
        """Return the RESTARTS cell: `3`, or `3 (5m ago)` if the time is known."""
        if self.restarts and self.last_restart:
            return age(self.last_restart, f"{self.restarts} (", " ago)")
        return str(self.restarts)


def pod_status(pod: Obj) -> PodStatus:
    """Return a pod's status as `kubectl get pods` shows it."""
    always = (c for c in items(pod, "spec.initContainers") if c.get("restartPolicy") == "Always")
    sidecars = {container.get("name") for container in always}
    waits_for, ready, seen = _initialization(pod, sidecars)
    reason = waits_for or _phase(pod)
    if not waits_for or holds(pod, "Initialized"):
        statuses = items(pod, "status.containerStatuses")
        seen = [status for status in seen if status.get("name") in sidecars] + statuses
        running = 0
        errors: list[str] = []
        for status in reversed(statuses):
            state = _main_state(status)
            if state == "ready":
                running += 1
            elif state:
                reason = state
                if dig(status, "state.terminated.exitCode", 0) and not dig(status, "state.waiting.reason"):
                    errors.append(state)
        ready += running
        if reason == "Completed":
            reason = _completed(pod, running > 0, errors)
    total = len(items(pod, "spec.containers")) + len(sidecars)
    restarts = sum(status.get("restartCount") or 0 for status in seen)
    # RFC 3339 times with the same offset sort as text.
    last = max((dig(status, "lastState.terminated.finishedAt", "") for status in seen), default="")
    return PodStatus(ready, total, _terminating(pod) or reason, restarts, last)


def _phase(pod: Obj) -> str:
    gated = condition(pod, "PodScheduled").get("reason") == "SchedulingGated"
    reason = dig(pod, "status.reason", "") or dig(pod, "status.phase", "")
    return "SchedulingGated" if gated else str(reason)


def _initialization(pod: Obj, sidecars: set[Any]) -> tuple[str, int, list[Obj]]:
    """Return what a pod waits for ("" if its containers may start), its ready sidecars, and all statuses so
    far.
    """
    statuses, ready = items(pod, "status.initContainerStatuses"), 0
    total = len(items(pod, "spec.initContainers"))
    for i, status in enumerate(statuses):
        sidecar = status.get("name") in sidecars
        terminated = dig(status, "state.terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if sidecar and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        waiting = dig(status, "state.waiting.reason", "")
        if terminated is not None:
            reason = f"Init:{_terminated(terminated)}"
        elif waiting and waiting != "PodInitializing":
            reason = f"Init:{waiting}"
        else:
            reason = f"Init:{i}/{total}"
        return reason, ready, statuses[: i + 1]
    return "", ready, statuses


def _terminated(state: Obj) -> str:
    if state.get("reason"):
        return str(state["reason"])
    return f"Signal:{state['signal']}" if state.get("signal") else f"ExitCode:{state.get('exitCode', 0)}"


def _main_state(status: Obj) -> str:
    """The value for the STATUS column, "ready", or "" if this container does not decide it."""
    if waiting := dig(status, "state.waiting.reason", ""):
        return str(waiting)
    terminated = dig(status, "state.terminated")
    if terminated is not None:
        return _terminated(terminated)
    return "ready" if status.get("ready") and dig(status, "state.running") is not None else ""


def _completed(pod: Obj, running: bool, errors: list[str]) -> str:
    if running and holds(pod, "Ready"):
        return "Running"
    if errors:
        return errors[-1]
    return "NotReady" if running else "Completed"


def _terminating(pod: Obj) -> str:
    if not deleting(pod):
        return ""
    if dig(pod, "status.reason") == "NodeLost":
        return "Unknown"
    return "" if dig(pod, "status.phase") in ("Succeeded", "Failed") else "Terminating"


_ROLE_PREFIX = "node-role.kubernetes.io/"


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
    passed = sum(holds(pod, gate.get("conditionType", "")) for gate in gates)
    return f"{passed}/{len(gates)}" if gates else NONE


def _kernel(node: Obj) -> str:
    kernel = dig(node, "status.nodeInfo.kernelVersion") or UNKNOWN
    architecture = dig(node, "status.nodeInfo.architecture")
    return f"{kernel} ({architecture})" if architecture else kernel


def _node_status(node: Obj) -> str:
    ready = condition(node, "Ready")
    word = ("Ready" if ready.get("status") == "True" else "NotReady") if ready else "Unknown"
    return f"{word},SchedulingDisabled" if dig(node, "spec.unschedulable") else word


def _node_roles(node: Obj) -> str:
    named = dig(node, "metadata.labels", {})
    roles = {key.removeprefix(_ROLE_PREFIX) for key in named if key.startswith(_ROLE_PREFIX)}
    return ",".join(sorted(role for role in roles | {named.get("kubernetes.io/role", "")} if role)) or NONE


def _node_address(kind: str) -> Cell:
    def cell(node: Obj) -> str:
        addresses = items(node, "status.addresses")
        return next((a.get("address") or NONE for a in addresses if a.get("type") == kind), NONE)

    return cell


def componentstatuses(obj: Obj) -> list[Any]:
    healthy: Obj = next((c for c in obj.get("conditions") or [] if c.get("type") == "Healthy"), {})
    status = {"True": "Healthy", "False": "Unhealthy"}.get(healthy.get("status", ""), "Unknown")
    return [status, healthy.get("message", ""), healthy.get("error", "")]


def _quota(of_limits: bool) -> Cell:
    def cell(quota: Obj) -> str:
        hard, used = dig(quota, "status.hard", {}), dig(quota, "status.used", {})
        names = [name for name in sorted(hard) if name.startswith("limits.") == of_limits]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


def _endpoints(obj: Obj) -> str:
    subsets = items(obj, "subsets")
    return first_few([address for subset in subsets for address in _addresses(subset)]) if subsets else NONE


def _addresses(subset: Obj) -> list[str]:
    ports, addresses = items(subset, "ports"), items(subset, "addresses")
    if not ports:
        return [a.get("ip", "") for a in addresses]
    hosts = [f"[{host}]" if ":" in (host := a.get("ip", "")) else host for a in addresses]
    return [f"{host}:{port.get('port', 0)}" for port in ports for host in hosts]


def events(obj: Obj) -> list[Any]:
    """Return the cells of events of both groups, which name the same fields differently."""
    involved = dig(obj, "involvedObject") or dig(obj, "regarding", {})
    kind, name = str(involved.get("kind", "")).lower(), involved.get("name", "")
    first = dig(obj, "firstTimestamp") or dig(obj, "deprecatedFirstTimestamp") or dig(obj, "eventTime")
    last = dig(obj, "lastTimestamp") or dig(obj, "deprecatedLastTimestamp") or first
    source = dig(obj, "source") or dig(obj, "deprecatedSource", {})
    reporter = dig(obj, "reportingComponent") or dig(obj, "reportingController", "")
    component, host = (
        source.get("component") or reporter,
        source.get("host") or dig(obj, "reportingInstance", ""),
    )
    count = dig(obj, "count") or dig(obj, "deprecatedCount") or 1
    if (series := dig(obj, "series")) is not None:
        last, count = series.get("lastObservedTime"), series.get("count", 0)
    return [
        age(last),
        dig(obj, "type", ""),
        dig(obj, "reason", ""),
        f"{kind}/{name}" if name else kind,
        involved.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        str(dig(obj, "message") or dig(obj, "note", "")).strip(),
        age(first),
        count,
        dig(obj, "metadata.name", ""),
    ]


_INFO = "status.nodeInfo"
PRINTERS = {
    "pods": pods,
    "nodes": row(
        _node_status, _node_roles, born, f"{_INFO}.kubeletVersion", _node_address("InternalIP"),
        _node_address("ExternalIP"), (f"{_INFO}.osImage", UNKNOWN), _kernel,
        (f"{_INFO}.containerRuntimeVersion", UNKNOWN),
    ),
    "namespaces": row("status.phase", born),
    "componentstatuses": componentstatuses,
    "configmaps": row(lambda obj: size(obj, "data") + size(obj, "binaryData"), born),
    "secrets": row("type", count("data"), born),
    "serviceaccounts": row(born),
    "podtemplates": row(*containers("template"), labels("template.metadata.labels")),
    "resourcequotas": row(_quota(False), _quota(True), born),
    "endpoints": row(_endpoints, born),
    "events": events,
    "events.events.k8s.io": events,
}  # fmt: skip
