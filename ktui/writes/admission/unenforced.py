"""Objects that ktui stores but does not enforce: a Warning at their creation says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.resources import Resource

Obj = dict[str, Any]

_WEBHOOKS = (
    "ktui calls no webhooks: those with failurePolicy Fail refuse all that they match, others have no effect"
)
_POLICIES = "ktui evaluates no admission policies: this one has no effect"
_BY_ID = {
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingadmissionpolicies.admissionregistration.k8s.io": _POLICIES,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": _POLICIES,
    "mutatingadmissionpolicies.admissionregistration.k8s.io": _POLICIES,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": _POLICIES,
    "resourcequotas": "ktui runs no quota controller: a quota limits what its status.hard and used name",
}
POD_SECURITY = "pod-security.kubernetes.io/"


def unenforced(resource: Resource, obj: Obj) -> Iterator[str]:
    """Yield the warnings for a new object."""
    if warning := _BY_ID.get(resource.id):
        yield warning
    spec, labels = obj.get("spec") or {}, (obj.get("metadata") or {}).get("labels") or {}
    if resource.id == "namespaces" and any(label.startswith(POD_SECURITY) for label in labels):
        yield "ktui does not enforce pod security: these labels have no effect"
    elif resource.id == "customresourcedefinitions.apiextensions.k8s.io":
        if (spec.get("conversion") or {}).get("strategy") == "Webhook":
            yield "ktui calls no conversion webhooks: all versions show what is stored"
    elif resource.id == "apiservices.apiregistration.k8s.io" and spec.get("service"):
        yield "ktui forwards no requests to other API servers: this group is not served"
