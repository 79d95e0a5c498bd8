"""Strategies of built-in kinds where they differ from the usual one (upstream: pkg/registry), as data."""

from __future__ import annotations

from ktui.kube.resources import Resource

# AllowCreateOnUpdate: a PUT creates a missing object.
CREATED_BY_UPDATES = frozenset({
    "clusterrolebindings", "clusterroles", "endpoints", "events", "leases", "limitranges", "podtemplates",
    "resourcequotas", "rolebindings", "roles", "runtimeclasses", "services",
})  # fmt: skip
# AllowUnconditionalUpdate is false: an update needs a resourceVersion.
NO_UNCONDITIONAL_UPDATES = frozenset({
    "apiservices", "csidrivers", "csinodes", "csistoragecapacities", "customresourcedefinitions", "leases",
    "mutatingwebhookconfigurations", "poddisruptionbudgets", "runtimeclasses", "validatingadmissionpolicies",
    "validatingadmissionpolicybindings", "validatingwebhookconfigurations", "volumeattachments",
})  # fmt: skip
# ReturnDeletedObject: a deletion answers with the object instead of a Status.
DELETED_OBJECT_ANSWERED = frozenset({
    "csidrivers", "csinodes", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates",
    "resourcequotas", "serviceaccounts", "services", "storageclasses", "volumeattachments",
    "volumeattributesclasses",
})  # fmt: skip
# DefaultGarbageCollectionPolicy is OrphanDependents, for compatibility,
ORPHANS = frozenset({("Job", "batch/v1"), ("ReplicationController", "v1")})
# and Unsupported, as nothing depends on these objects.
WITHOUT_DEPENDENTS = frozenset({"Event"})
# Clients send the status with the object itself.
STATUS_CREATED = frozenset({"Node"})
# PrepareForCreate and PrepareForUpdate count generations: by the changes of these members, of most of `spec`.
GENERATION_COUNTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((
        "CSIDriver", "CronJob", "CustomResourceDefinition", "DaemonSet", "Deployment", "DeviceClass",
        "DeviceTaintRule", "FlowSchema", "Ingress", "IngressClass", "Job", "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding", "NetworkPolicy", "Pod", "PodDisruptionBudget",
        "PriorityLevelConfiguration", "ReplicaSet", "ReplicationController", "ResourceSlice", "StatefulSet",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    ), ("spec",)),
    "EndpointSlice": ("addressType", "endpoints", "ports"),
    "MutatingWebhookConfiguration": ("webhooks",),
    "PodTemplate": ("template",),
    "PriorityClass": (),
    "ValidatingWebhookConfiguration": ("webhooks",),
}  # fmt: skip
# PrepareForCreate leaves the generation at zero.
UNCOUNTED_WHEN_NEW = frozenset({"CSIDriver"})
# ResetFields of the status: it keeps all of these objects' metadata, as that of custom resources,
_STATUS_KEEPS_METADATA = frozenset({
    "apiservices.apiregistration.k8s.io", "customresourcedefinitions.apiextensions.k8s.io",
    "devicetaintrules.resource.k8s.io", "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "resourceclaims.resource.k8s.io",
    "servicecidrs.networking.k8s.io", "storageversionmigrations.storagemigration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io", "volumeattachments.storage.k8s.io",
})  # fmt: skip
# (upstream: ResetObjectMetaForStatus)
KEPT_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
# or these members of it.
_STATUS_KEEPS = {
    "deployments.apps": (("metadata", "labels"),),
    "pods": (("metadata", "deletionTimestamp"), ("metadata", "ownerReferences")),
}
_SIGNING_REQUESTS = "certificatesigningrequests.certificates.k8s.io"
_OF_SIGNING_REQUESTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "": (("spec",), ("status",)),
    "approval": (("spec",), ("status", "certificate")),
    "status": (("spec",), ("status", "conditions")),
}


def reset_fields(resource: Resource, subresource: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths that a write has no effect on, and that it does not own (upstream: GetResetFields)."""
    if resource.id == _SIGNING_REQUESTS:
        return _OF_SIGNING_REQUESTS.get(subresource, ())
    if subresource == "status":
        whole = resource.custom or resource.id in _STATUS_KEEPS_METADATA
        return ("spec",), *((("metadata",),) if whole else _STATUS_KEEPS.get(resource.id, ()))
    return (("status",),) if not subresource and "status" in resource.subresources else ()


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
    _SIGNING_REQUESTS: (META, VALUES, FIXED, CHANGE),
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
            "admissionregistration.k8s.io", "csinodes.storage.k8s.io", "endpointslices.discovery.k8s.io",
            "flowcontrol.apiserver.k8s.io", "limitranges", "volumeattachments.storage.k8s.io",
        ),
        _NEW,
    ),
    **dict.fromkeys(
        (
            "csistoragecapacities.storage.k8s.io", "ipaddresses.networking.k8s.io", "jobs.batch",
            "namespaces", "nodes", "rbac.authorization.k8s.io", "resourceclaimtemplates.resource.k8s.io",
            "runtimeclasses.node.k8s.io", "storageclasses.storage.k8s.io",
            "storageversionmigrations.storagemigration.k8s.io",
        ),
        _NEW_THEN_CHANGE,
    ),
}  # fmt: skip


def update_order(resource: str, subresource: str) -> tuple[str, ...]:
    """Return the steps for a kind, by the resource's id, or for all kinds of its group."""
    group = _ORDERS.get(resource.partition(".")[2], _USUAL)
    usual = subresource in ("finalize", "status") and resource != _SIGNING_REQUESTS
    return _USUAL if usual else _ORDERS.get(resource, group)
