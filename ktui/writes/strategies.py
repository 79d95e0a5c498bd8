"""Strategies of built-in kinds where they differ from the usual one (upstream: pkg/registry), as data."""

from __future__ import annotations

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
        "CSIDriver", "CronJob", "CustomResourceDefinition", "DaemonSet", "Deployment", "FlowSchema",
        "Ingress", "IngressClass", "Job", "NetworkPolicy", "Pod", "PodDisruptionBudget",
        "PriorityLevelConfiguration", "ReplicaSet", "ReplicationController", "StatefulSet",
    ), ("spec",)),
    "EndpointSlice": ("addressType", "endpoints", "ports"),
    "MutatingWebhookConfiguration": ("webhooks",),
    "PodTemplate": ("template",),
    "PriorityClass": (),
    "ValidatingWebhookConfiguration": ("webhooks",),
}  # fmt: skip
# Their generation counts from the first change.
WITHOUT_FIRST_GENERATION = frozenset({"CSIDriver"})
