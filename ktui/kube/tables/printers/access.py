"""Printers of RBAC, certificates and admission."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.age import human_duration
from ktui.kube.tables.fields import NONE, UNSET, Obj, dig, items, labels_text, selector_text, size
from ktui.kube.tables.printers.core import born


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
}
