"""Merge rules of the built-in types: their markers +listType, +mapType and others, as data."""

from __future__ import annotations

# +listMapKey, by field name; lists not named are atomic.
LIST_KEYS: dict[str, tuple[str, ...]] = {
    "addresses": ("type",),
    "claims": ("name",),
    "conditions": ("type",),
    "containers": ("name",),
    "drivers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "hostIPs": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "matchConditions": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "reservedFor": ("uid",),
    "resourceClaimStatuses": ("name",),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "variables": ("name",),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
    "webhooks": ("name",),
}
CONTAINER_PORTS, SERVICE_PORTS = ("containerPort", "protocol"), ("port", "protocol")
# +listType=set
SETS = frozenset({"finalizers", "podCIDRs", "volumeLifecycleModes"})
# Atomic lists that have the name of a keyed list, by kind and path.
PLAIN_LISTS = frozenset(
    {
        ("EndpointSlice", "ports"),
        ("Job", "status.conditions"),
        ("Namespace", "spec.finalizers"),
        ("ServiceAccount", "imagePullSecrets"),
    }
)
# +mapType=atomic, and fields whose type is +structType=atomic (LabelSelector, LocalObjectReference …).
ATOMIC = frozenset(
    {
        "configMapKeyRef",
        "dataSource",
        "fieldRef",
        "involvedObject",
        "labelSelector",
        "namespaceSelector",
        "nodeSelector",
        "objectSelector",
        "paramKind",
        "paramRef",
        "podSelector",
        "regarding",
        "related",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "resourceFieldRef",
        "roleRef",
        "secretKeyRef",
        "secretRef",
        "selector",
        "targetRef",
    }
)
# Further atomic fields, by kind and path.
ATOMIC_PATHS = frozenset(
    {
        ("ControllerRevision", "data"),
        ("Ingress", "spec.defaultBackend.service.port"),
        ("PersistentVolume", "spec.nodeAffinity.required"),
    }
)
# Keyed lists with atomic items.
ATOMIC_ITEMS = frozenset({"imagePullSecrets", "ownerReferences", "secrets"})
KEY_DEFAULTS = {"protocol": "TCP"}
