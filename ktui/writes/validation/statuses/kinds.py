"""The errors and the warnings of a status, by its kind; a kind without rules here has none upstream."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited, not_supported, required, too_long
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount
from ktui.writes.validation import conditions
from ktui.writes.validation.pod_warnings import WarningRows, address_warnings, warned
from ktui.writes.validation.statuses import allocations, jobs, pods, signing_requests
from ktui.writes.validation.updates.field_rules import Rule, spec_of
from ktui.writes.validation.updates.services import type_of
from ktui.writes.validation.values import nodes
from ktui.writes.validation.values.addresses import address, is_address
from ktui.writes.validation.values.checks import (
    Rows,
    below,
    counts,
    duplicate,
    has,
    inside,
    listed,
    subdomain,
    table_of,
    user_id,
)
from ktui.writes.validation.values.policies import amounts

_INGRESS = "status.loadBalancer.ingress"
_MODES = ("Proxy", "VIP")
_ONLY_BALANCERS = "may only be used when `spec.type` is 'LoadBalancer'"


def _points_of(obj: Obj) -> list[Obj]:
    """Return the addresses and names at which a load balancer is reached."""
    return ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


@limited
def _service(old: Obj, new: Obj) -> Iterator[FieldError]:
    """Only a load balancer has addresses, each of them with a mode."""
    points = _points_of(new)
    if points and type_of(spec_of(new)) != "LoadBalancer":
        yield forbidden(_INGRESS, _ONLY_BALANCERS)
        return
    for at, faults in _points(old, points):
        point, field = points[at], f"{_INGRESS}[{at}]"
        yield from (fault for fault in faults if not fault.field.endswith(".hostname"))
        yield from inside(field, _mode(point))
        yield from (fault for fault in faults if fault.field.endswith(".hostname"))


@limited
def _ingress(old: Obj, new: Obj) -> Iterator[FieldError]:
    for _, faults in _points(old, _points_of(new)):
        yield from faults


def _points(old: Obj, points: list[Obj]) -> Iterator[tuple[int, list[FieldError]]]:
    """Yield the errors of each point: its address, which may be one of before, and its name."""
    known = {point.get("ip") for point in _points_of(old)}
    for at, point in enumerate(points):
        ip, host = point.get("ip") or "", point.get("hostname") or ""
        faults = [*inside(".ip", address(ip))] if ip and ip not in known else []
        faults += inside(".hostname", subdomain(host))
        if host and is_address(host):
            faults.append(invalid(".hostname", host, "must be a DNS name, not an IP address"))
        yield at, [*inside(f"{_INGRESS}[{at}]", faults)]


def _mode(point: Obj) -> Iterator[FieldError]:
    """How packets reach an address."""
    mode, ip = point.get("ipMode"), point.get("ip")
    if mode is None:
        if ip:
            yield required(".ipMode", "must be specified when `ip` is set")
    elif not ip:
        yield forbidden(".ipMode", "may not be specified when `ip` is not set")
    elif mode not in _MODES:
        yield not_supported(".ipMode", mode, _MODES)


_CONDITIONS = "status.conditions"
_LONGEST_ERROR, _MOST_FACTS = 1024, 256 * 1024
_NUMBER = re.compile(r"[-+]?[0-9][0-9.]*")
_RESIZES = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
    "NodeResizeInfeasible", "NodeResizePending",
)  # fmt: skip


def _namespace(obj: Obj) -> Iterator[FieldError]:
    phase = (obj.get("status") or {}).get("phase") or "Active"
    going = (obj.get("metadata") or {}).get("deletionTimestamp")
    if going and phase != "Terminating":
        why = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        yield invalid("status.Phase", phase, why)
    elif not going and phase != "Active":
        yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")


def _replicas(
    some: tuple[str, ...], others: tuple[str, ...], ready: str = "readyReplicas", first: tuple[str, ...] = ()
) -> Rows:
    """Return the rules of replicas: numbers from 0 on, and no more that are ready, updated … than there are.

    `some` count some of the replicas, `first` and `others` do not; upstream's text names `ready`.
    """

    def parts(status: Obj) -> Iterator[FieldError]:
        for name in some:
            if (number := status.get(name) or 0) > (status.get("replicas") or 0):
                yield invalid(f".{name}", number, "cannot be greater than status.replicas")
        if (number := status.get("availableReplicas") or 0) > (status.get("readyReplicas") or 0):
            yield invalid(".availableReplicas", number, f"cannot be greater than {ready}")

    return (*below("status", counts(*first, "replicas", *some, *others)), ("status", parts))


@limited
def _collisions(old: Obj, new: Obj) -> Iterator[FieldError]:
    """The number of collisions of names only grows (upstream: IsDecremented)."""
    was, now = ((obj.get("status") or {}).get("collisionCount") for obj in (old, new))
    if was is not None and (now is None or now < was):
        yield invalid("status.collisionCount", now or 0, "cannot be decremented")


def _node_addresses(addresses: list[Obj]) -> Iterator[FieldError]:
    seen = set()
    for at, each in enumerate(addresses):
        pair = each.get("type") or "", each.get("address") or ""
        if pair in seen:
            yield duplicate(f"[{at}]", {"Type": pair[0], "Address": pair[1]})
        seen.add(pair)


def _valid(value: str) -> Iterator[FieldError]:
    """An amount is shown in whole units, rounded away from zero (upstream: validateBasicResource)."""
    if (number := amount(value)) < 0:
        yield invalid("", math.floor(number), "must be a valid resource quantity")


def _of_claims(name: str) -> Iterator[FieldError]:
    """Of Kubernetes' own resources, a claim has storage alone."""
    faults = label_key_faults(name)
    yield from (invalid("", name, why) for why in faults)
    if not faults and name != "storage" and ("/" not in name or "kubernetes.io/" in name):
        yield not_supported("", name, ("storage",))


def _resizes(states: Obj) -> Iterator[FieldError]:
    """How far a claim's resizing is; upstream's errors of a state show the resource."""
    for name, state in states.items():
        yield from _of_claims(name)
        if state not in _RESIZES:
            yield not_supported("", name, _RESIZES)


def _allocated(resources: Obj) -> Iterator[FieldError]:
    for name, value in resources.items():
        faults = [*_of_claims(name)]
        yield from faults or inside(f"[{name}]", _valid(value))


def _facts(facts: Obj) -> Iterator[FieldError]:
    if sum(len(f"{name}{value}".encode()) for name, value in facts.items()) > _MOST_FACTS:
        yield too_long("", _MOST_FACTS)


def _volume_error(error: Obj) -> Iterator[FieldError]:
    """Why a volume is not attached or detached; upstream's error of a long message has another limit."""
    if len((error.get("message") or "").encode()) > _LONGEST_ERROR:
        yield too_long(".message", _MOST_FACTS)
    if (code := error.get("errorCode")) is not None:
        yield from inside(".errorCode", user_id(code))


def _reference(warning: Obj) -> Iterator[FieldError]:
    """Check what a path of a field begins with; the rest of it is not (upstream: jsonpath.Parse)."""
    path = (warning.get("fieldRef") or "").strip()
    number = _NUMBER.match(path)
    if not path:
        yield required(".fieldRef")
    elif number and number[0].count(".") > 1:
        yield invalid(".fieldRef", path, f"invalid JSONPath: cannot parse number {number[0]}")
    elif not path[0].isalnum() and path[0] not in "@$[\"'.+-_{}":
        why = f"unrecognized character in action: U+{ord(path[0]):04X} '{path[0]}'"
        yield invalid(".fieldRef", path, f"invalid JSONPath: {why}")


_DAEMONS = (
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
    "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
)  # fmt: skip
_DISRUPTIONS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_WARNING = "status.typeChecking.expressionWarnings[]"
_LABELED = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
_FLOW = table_of((_CONDITIONS, conditions.of_flow_control))
_TABLES = {
    "apiservices.apiregistration.k8s.io": table_of(
        (f"{_CONDITIONS}[].status:text", listed("True", "False", "Unknown"))
    ),
    "daemonsets.apps": table_of(*below("status", counts(*_DAEMONS))),
    "deployments.apps": table_of(*_replicas(
        ("updatedReplicas", "readyReplicas", "availableReplicas"),
        ("unavailableReplicas", "terminatingReplicas", "collisionCount"), first=("observedGeneration",),
    )),
    "flowschemas.flowcontrol.apiserver.k8s.io": _FLOW,
    "horizontalpodautoscalers.autoscaling": table_of(
        *below("status", counts("currentReplicas", "desiredReplicas"))
    ),
    "namespaces": table_of(("", _namespace)),
    "nodes": table_of(
        ("status", nodes.amounts), ("status.declaredFeatures", nodes.features),
        ("status.addresses", _node_addresses),
    ),
    "persistentvolumeclaims": table_of(
        ("status.capacity{}", _valid), ("status.allocatedResourceStatuses", _resizes),
        ("status.allocatedResources", _allocated),
    ),
    "poddisruptionbudgets.policy": table_of(
        (_CONDITIONS, conditions.common), *below("status", counts(*_DISRUPTIONS))
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": _FLOW,
    "replicasets.apps": table_of(*_replicas(_LABELED, ("observedGeneration", "terminatingReplicas"))),
    "replicationcontrollers": table_of(*_replicas(_LABELED, ("observedGeneration",))),
    "resourcequotas": table_of(("status.hard", amounts), ("status.used", amounts)),
    "statefulsets.apps": table_of(*_replicas(
        ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
        ("observedGeneration", "collisionCount"), "status.readyReplicas",
    )),
    "volumeattachments.storage.k8s.io": table_of(
        ("status.attachmentMetadata", _facts), ("status.attachError", _volume_error),
        ("status.detachError", _volume_error),
    ),
    "validatingadmissionpolicies.admissionregistration.k8s.io": table_of(
        (_WARNING, has("warning")), (_WARNING, _reference), (_CONDITIONS, conditions.common),
    ),
}  # fmt: skip
_RULES: dict[str, Rule] = {
    "certificatesigningrequests.certificates.k8s.io": signing_requests.status,
    "certificatesigningrequests.certificates.k8s.io/approval": signing_requests.approval,
    **dict.fromkeys(("daemonsets.apps", "deployments.apps", "statefulsets.apps"), _collisions),
    "ingresses.networking.k8s.io": _ingress,
    "jobs.batch": jobs.job,
    "pods": pods.pod,
    "resourceclaims.resource.k8s.io": allocations.claim,
    "services": _service,
}


def status_errors(resource: str, obj: Obj, old: Obj) -> list[FieldError]:
    """Return the errors of a status that replaces that of `old`; only some kinds have rules."""
    errors = _TABLES[resource].errors(obj) if resource in _TABLES else []
    return [*errors, *_RULES[resource](old, obj)] if resource in _RULES else errors


_POINTS: WarningRows = (
    ("status.loadBalancer.ingress[]", lambda point, at: address_warnings(point.get("ip") or "", at)),
)
_WARNINGS: dict[str, WarningRows] = {
    "ingresses.networking.k8s.io": _POINTS,
    "pods": tuple((f"status.{member}[].ip:text", address_warnings) for member in ("podIPs", "hostIPs")),
    "services": _POINTS,
}


def status_warnings(resource: str, obj: Obj) -> Iterator[str]:
    """Yield the warnings for addresses in unusual forms (upstream: WarningsOnUpdate of the statuses)."""
    return warned(_WARNINGS.get(resource, ()), obj)
