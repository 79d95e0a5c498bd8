"""Printers of kinds that the control plane uses internally."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.fields import NONE, UNKNOWN, Obj, condition, dig
from ktui.kube.tables.printers.core import born

_QUEUING = "spec.limited.limitResponse.queuing"


def leases(obj: Obj) -> list[Any]:
    return [dig(obj, "spec.holderIdentity", ""), born(obj)]


def leasecandidates(obj: Obj) -> list[Any]:
    fields = ("leaseName", "binaryVersion", "emulationVersion")
    return [*(dig(obj, f"spec.{field}", "") for field in fields), born(obj)]


def priorityclasses(obj: Obj) -> list[Any]:
    return [
        dig(obj, "value", 0),
        dig(obj, "globalDefault", False),
        born(obj),
        dig(obj, "preemptionPolicy", ""),
    ]


def runtimeclasses(obj: Obj) -> list[Any]:
    return [dig(obj, "handler", ""), born(obj)]


def flowschemas(obj: Obj) -> list[Any]:
    return [
        dig(obj, "spec.priorityLevelConfiguration.name", ""),
        dig(obj, "spec.matchingPrecedence", 0),
        dig(obj, "spec.distinguisherMethod.type") or NONE,
        born(obj),
        condition(obj, "Dangling").get("status", "?"),
    ]


def prioritylevelconfigurations(obj: Obj) -> list[Any]:
    limits = (
        "spec.limited.nominalConcurrencyShares",
        f"{_QUEUING}.queues",
        f"{_QUEUING}.handSize",
        f"{_QUEUING}.queueLengthLimit",
    )
    return [dig(obj, "spec.type", ""), *(dig(obj, path, NONE) for path in limits), born(obj)]


def apiservices(obj: Obj) -> list[Any]:
    service = dig(obj, "spec.service")
    available = condition(obj, "Available")
    status = available.get("status", "Unknown")
    if status == "False" and available.get("reason"):
        status = f"False ({available['reason']})"
    place = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    return [place, status, born(obj)]


def storageversionmigrations(obj: Obj) -> list[Any]:
    resource = dig(obj, "spec.resource", {})
    name = ".".join(filter(None, (resource.get("resource", ""), resource.get("group", ""))))
    kinds = ("Running", "Failed", "Succeeded")
    reached = [k for k in kinds if condition(obj, k).get("status") == "True"]
    return [name, reached[-1] if reached else "Unknown"]


def storageversions(obj: Obj) -> list[Any]:
    versions = dig(obj, "status.storageVersions") or []
    encodings = ",".join(f"{v.get('apiServerID', '')}={v.get('encodingVersion', '')}" for v in versions)
    return [dig(obj, "status.commonEncodingVersion") or UNKNOWN, encodings or UNKNOWN, born(obj)]


PRINTERS = {
    "leases.coordination.k8s.io": leases,
    "leasecandidates.coordination.k8s.io": leasecandidates,
    "priorityclasses.scheduling.k8s.io": priorityclasses,
    "runtimeclasses.node.k8s.io": runtimeclasses,
    "flowschemas.flowcontrol.apiserver.k8s.io": flowschemas,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": prioritylevelconfigurations,
    "apiservices.apiregistration.k8s.io": apiservices,
    "storageversionmigrations.storagemigration.k8s.io": storageversionmigrations,
    "storageversions.internal.apiserver.k8s.io": storageversions,
}
