"""Printers of kinds of the control plane: rights, certificates, admission, classes, flow control, devices."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.object_fields import (
    NONE,
    UNKNOWN,
    UNSET,
    Obj,
    age,
    condition,
    deleting,
    dig,
    human_duration,
    items,
    labels_text,
    selector_text,
    size,
)
from ktui.kube.tables.printers.core import born, paths


def bindings(obj: Obj) -> list[Any]:
    role = dig(obj, "roleRef", {})
    return [
        f"{role.get('kind', '')}/{role.get('name', '')}",
        born(obj),
        _subjects(obj, "User"),
        _subjects(obj, "Group"),
        _subjects(obj, "ServiceAccount"),
    ]


def _subjects(binding: Obj, kind: str) -> str:
    of_kind = [s for s in items(binding, "subjects") if s.get("kind") == kind]
    if kind == "ServiceAccount":
        return ", ".join(f"{s.get('namespace', '')}/{s.get('name', '')}" for s in of_kind)
    return ", ".join(s.get("name", "") for s in of_kind)


def certificatesigningrequests(obj: Obj) -> list[Any]:
    seconds = dig(obj, "spec.expirationSeconds")
    return [
        born(obj),
        dig(obj, "spec.signerName") or NONE,
        dig(obj, "spec.username", ""),
        NONE if seconds is None else human_duration(seconds),
        _certificate_condition(obj),
    ]


def _certificate_condition(request: Obj) -> str:
    kinds = {c.get("type") for c in items(request, "status.conditions")}
    word = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    failed = ",Failed" if "Failed" in kinds else ""
    return word + failed + (",Issued" if dig(request, "status.certificate") else "")


def clustertrustbundles(obj: Obj) -> list[Any]:
    return [dig(obj, "spec.signerName") or NONE]


def podcertificaterequests(obj: Obj) -> list[Any]:
    kinds = [c.get("type") for c in items(obj, "status.conditions")]
    names = ("podName", "serviceAccountName", "nodeName", "signerName")
    return [
        *(dig(obj, f"spec.{name}", "") for name in names),
        next((k for k in kinds if k in ("Issued", "Denied", "Failed")), "Pending"),
        labels_text(dig(obj, "spec.unverifiedUserAnnotations")),
    ]


def admission_policies(obj: Obj) -> list[Any]:
    parameters = dig(obj, "spec.paramKind")
    rules = size(obj, "spec.validations") or size(obj, "spec.mutations")
    return [rules, _kind(parameters) if parameters else UNSET, born(obj)]


def _kind(reference: Obj) -> str:
    return f"{reference.get('apiVersion', '')}/{reference.get('kind', '')}"


def admission_bindings(obj: Obj) -> list[Any]:
    reference = dig(obj, "spec.paramRef")
    return [dig(obj, "spec.policyName", ""), _parameters(reference) if reference else UNSET, born(obj)]


def _parameters(reference: Obj) -> str:
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return selector_text(reference.get("selector"))


def webhooks(obj: Obj) -> list[Any]:
    return [size(obj, "webhooks"), born(obj)]


def resourceclaims(obj: Obj) -> list[Any]:
    words = ["deleted"] if deleting(obj) else []
    if dig(obj, "status.allocation") is None:
        words.append("pending")
    else:
        words.append("allocated")
        words += ["reserved"] if items(obj, "status.reservedFor") else []
    return [",".join(words), born(obj)]


def devicetaintrules(obj: Obj) -> list[Any]:
    taint = dig(obj, "spec.taint", {})
    words = [taint.get(member, "") for member in ("key", "value", "effect")]
    return [*words, age(taint.get("timeAdded")), born(obj)]


_SHARES = "spec.limited.nominalConcurrencyShares"
_QUEUING = "spec.limited.limitResponse.queuing."


def priorityclasses(obj: Obj) -> list[Any]:
    return [
        dig(obj, "value", 0),
        dig(obj, "globalDefault", False),
        born(obj),
        dig(obj, "preemptionPolicy", ""),
    ]


def flowschemas(obj: Obj) -> list[Any]:
    return [
        dig(obj, "spec.priorityLevelConfiguration.name", ""),
        dig(obj, "spec.matchingPrecedence", 0),
        dig(obj, "spec.distinguisherMethod.type") or NONE,
        born(obj),
        condition(obj, "Dangling").get("status", "?"),
    ]


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
    "rolebindings.rbac.authorization.k8s.io": bindings,
    "clusterrolebindings.rbac.authorization.k8s.io": bindings,
    "certificatesigningrequests.certificates.k8s.io": certificatesigningrequests,
    "clustertrustbundles.certificates.k8s.io": clustertrustbundles,
    "podcertificaterequests.certificates.k8s.io": podcertificaterequests,
    "mutatingadmissionpolicies.admissionregistration.k8s.io": admission_policies,
    "validatingadmissionpolicies.admissionregistration.k8s.io": admission_policies,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": admission_bindings,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": admission_bindings,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": webhooks,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": webhooks,
    "deviceclasses.resource.k8s.io": paths(),
    "resourceclaims.resource.k8s.io": resourceclaims,
    "resourceclaimtemplates.resource.k8s.io": paths(),
    "resourceslices.resource.k8s.io": paths("spec.nodeName", "spec.driver", "spec.pool.name"),
    "devicetaintrules.resource.k8s.io": devicetaintrules,
    "leases.coordination.k8s.io": paths("spec.holderIdentity"),
    "leasecandidates.coordination.k8s.io": paths(
        "spec.leaseName", "spec.binaryVersion", "spec.emulationVersion"
    ),
    "priorityclasses.scheduling.k8s.io": priorityclasses,
    "runtimeclasses.node.k8s.io": paths("handler"),
    "flowschemas.flowcontrol.apiserver.k8s.io": flowschemas,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": paths(
        "spec.type",
        (_SHARES, NONE),
        *((_QUEUING + path, NONE) for path in ("queues", "handSize", "queueLengthLimit")),
    ),
    "apiservices.apiregistration.k8s.io": apiservices,
    "storageversionmigrations.storagemigration.k8s.io": storageversionmigrations,
    "storageversions.internal.apiserver.k8s.io": storageversions,
}
