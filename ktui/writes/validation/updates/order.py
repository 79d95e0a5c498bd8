"""In which order the rules of a kind validate an update (upstream: ValidateUpdate of its strategy)."""

from __future__ import annotations

META, CHANGE, VALUES, FIXED = "meta", "change", "values", "fixed"
"""The metadata as that of a new object, their change, the object's values, and its fixed fields."""

_USUAL = (CHANGE, VALUES, FIXED)
_FIRST = (CHANGE, FIXED, VALUES)
_WHOLE = (CHANGE, META, VALUES, FIXED)
_FIXED_THEN_WHOLE = (CHANGE, FIXED, META, VALUES)
_NEW = (META, VALUES, FIXED)
_NEW_THEN_CHANGE = (META, VALUES, CHANGE, FIXED)

_ORDERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("events", "poddisruptionbudgets.policy"), (VALUES,)),
    "events.events.k8s.io": (VALUES, CHANGE, FIXED),
    "priorityclasses.scheduling.k8s.io": (CHANGE, FIXED),
    "persistentvolumes": (*_NEW[:2], *_NEW),
    "certificatesigningrequests.certificates.k8s.io": (META, VALUES, FIXED, CHANGE),
    "resourceclaims.resource.k8s.io": (META, CHANGE, FIXED),
    "deviceclasses.resource.k8s.io": (META, CHANGE, VALUES),
    **dict.fromkeys(("daemonsets.apps", "services"), _FIRST),
    **dict.fromkeys(
        (
            "configmaps", "ingressclasses.networking.k8s.io", "secrets",
            "volumeattributesclasses.storage.k8s.io",
        ),
        _FIXED_THEN_WHOLE,
    ),
    **dict.fromkeys(
        (
            "apiservices.apiregistration.k8s.io", "controllerrevisions.apps", "endpoints",
            "ingresses.networking.k8s.io", "persistentvolumeclaims", "pods", "serviceaccounts",
        ),
        _WHOLE,
    ),
    **dict.fromkeys(
        (
            "csinodes.storage.k8s.io", "endpointslices.discovery.k8s.io", "limitranges",
            "flowschemas.flowcontrol.apiserver.k8s.io",
            "mutatingadmissionpolicies.admissionregistration.k8s.io",
            "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
            "mutatingwebhookconfigurations.admissionregistration.k8s.io",
            "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
            "validatingadmissionpolicies.admissionregistration.k8s.io",
            "validatingadmissionpolicybindings.admissionregistration.k8s.io",
            "validatingwebhookconfigurations.admissionregistration.k8s.io",
            "volumeattachments.storage.k8s.io",
        ),
        _NEW,
    ),
    **dict.fromkeys(
        (
            "clusterrolebindings.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io",
            "csistoragecapacities.storage.k8s.io", "ipaddresses.networking.k8s.io", "jobs.batch",
            "namespaces", "nodes", "resourceclaimtemplates.resource.k8s.io",
            "rolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io",
            "runtimeclasses.node.k8s.io", "storageclasses.storage.k8s.io",
            "storageversionmigrations.storagemigration.k8s.io",
        ),
        _NEW_THEN_CHANGE,
    ),
}  # fmt: skip


def update_order(resource: str, subresource: str) -> tuple[str, ...]:
    """Return the steps for a kind, by the resource's id."""
    return _USUAL if subresource else _ORDERS.get(resource, _USUAL)
