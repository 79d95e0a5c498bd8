"""Printers of kinds of the control plane: rights, certificates, admission, classes, flow control, devices."""

from __future__ import annotations

from ktui.kube.tables.object_fields import (
    NONE,
    UNKNOWN,
    UNSET,
    Cell,
    Obj,
    age,
    born,
    condition,
    count,
    deleting,
    dig,
    human_duration,
    items,
    labels,
    pair,
    row,
    selector_text,
    size,
)


def _subjects(kind: str) -> Cell:
    def cell(binding: Obj) -> str:
        of_kind = [s for s in items(binding, "subjects") if s.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{s.get('namespace', '')}/{s.get('name', '')}" for s in of_kind)
        return ", ".join(s.get("name", "") for s in of_kind)

    return cell


def _expiration(request: Obj) -> str:
    seconds = dig(request, "spec.expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _certificate_condition(request: Obj) -> str:
    kinds = {c.get("type") for c in items(request, "status.conditions")}
    word = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    failed = ",Failed" if "Failed" in kinds else ""
    return word + failed + (",Issued" if dig(request, "status.certificate") else "")


def _certified(request: Obj) -> str:
    kinds = [c.get("type") for c in items(request, "status.conditions")]
    return next((k for k in kinds if k in ("Issued", "Denied", "Failed")), "Pending")


def _parameters(binding: Obj) -> str:
    reference = dig(binding, "spec.paramRef")
    if not reference:
        return UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return selector_text(reference.get("selector"))


def _claim_state(obj: Obj) -> str:
    words = ["deleted"] if deleting(obj) else []
    if dig(obj, "status.allocation") is None:
        words.append("pending")
    else:
        words.append("allocated")
        words += ["reserved"] if items(obj, "status.reservedFor") else []
    return ",".join(words)


_SHARES = "spec.limited.nominalConcurrencyShares"
_QUEUING = "spec.limited.limitResponse.queuing."


def _available(api_service: Obj) -> str:
    available = condition(api_service, "Available")
    status = str(available.get("status", "Unknown"))
    return f"False ({available['reason']})" if status == "False" and available.get("reason") else status


def _migrated(migration: Obj) -> str:
    resource = dig(migration, "spec.resource", {})
    return ".".join(filter(None, (resource.get("resource", ""), resource.get("group", ""))))


def _migration(migration: Obj) -> str:
    kinds = ("Succeeded", "Failed", "Running")
    return next((k for k in kinds if condition(migration, k).get("status") == "True"), "Unknown")


def _encodings(obj: Obj) -> str:
    versions = items(obj, "status.storageVersions")
    each = (f"{v.get('apiServerID', '')}={v.get('encodingVersion', '')}" for v in versions)
    return ",".join(each) or UNKNOWN


_ROLE = pair("roleRef", "kind", "name", missing="/")
_BINDING = row(_ROLE, born, _subjects("User"), _subjects("Group"), _subjects("ServiceAccount"))
_POLICY = row(
    lambda policy: size(policy, "spec.validations") or size(policy, "spec.mutations"),
    pair("spec.paramKind", "apiVersion", "kind", UNSET),
    born,
)
_POLICY_BINDING = row("spec.policyName", _parameters, born)
_WEBHOOKS = row(count("webhooks"), born)
PRINTERS = {
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
    "certificatesigningrequests.certificates.k8s.io": row(
        born, ("spec.signerName", NONE), "spec.username", _expiration, _certificate_condition,
    ),
    "clustertrustbundles.certificates.k8s.io": row(("spec.signerName", NONE)),
    "podcertificaterequests.certificates.k8s.io": row(
        "spec.podName", "spec.serviceAccountName", "spec.nodeName", "spec.signerName", _certified,
        labels("spec.unverifiedUserAnnotations"),
    ),
    "mutatingadmissionpolicies.admissionregistration.k8s.io": _POLICY,
    "validatingadmissionpolicies.admissionregistration.k8s.io": _POLICY,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": _POLICY_BINDING,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": _POLICY_BINDING,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "deviceclasses.resource.k8s.io": row(born),
    "resourceclaims.resource.k8s.io": row(_claim_state, born),
    "resourceclaimtemplates.resource.k8s.io": row(born),
    "resourceslices.resource.k8s.io": row("spec.nodeName", "spec.driver", "spec.pool.name", born),
    "devicetaintrules.resource.k8s.io": row(
        "spec.taint.key", "spec.taint.value", "spec.taint.effect",
        lambda obj: age(dig(obj, "spec.taint.timeAdded")), born,
    ),
    "leases.coordination.k8s.io": row("spec.holderIdentity", born),
    "leasecandidates.coordination.k8s.io": row(
        "spec.leaseName", "spec.binaryVersion", "spec.emulationVersion", born,
    ),
    "priorityclasses.scheduling.k8s.io": row(
        ("value", 0), ("globalDefault", False), born, "preemptionPolicy",
    ),
    "runtimeclasses.node.k8s.io": row("handler", born),
    "flowschemas.flowcontrol.apiserver.k8s.io": row(
        "spec.priorityLevelConfiguration.name", ("spec.matchingPrecedence", 0),
        ("spec.distinguisherMethod.type", NONE), born,
        lambda schema: str(condition(schema, "Dangling").get("status", "?")),
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": row(
        "spec.type", (_SHARES, NONE),
        *((_QUEUING + path, NONE) for path in ("queues", "handSize", "queueLengthLimit")), born,
    ),
    "apiservices.apiregistration.k8s.io": row(
        pair("spec.service", "namespace", "name", "Local"), _available, born,
    ),
    "storageversionmigrations.storagemigration.k8s.io": row(_migrated, _migration),
    "storageversions.internal.apiserver.k8s.io": row(
        ("status.commonEncodingVersion", UNKNOWN), _encodings, born,
    ),
}  # fmt: skip
