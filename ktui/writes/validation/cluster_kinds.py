"""Errors in roles, nodes, runtime classes, storage classes and volumes."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, invalid_tree, invalid_value, limited, not_supported, required
from ktui.kube.names import label_key_faults
from ktui.writes.validation.updates.field_rules import Obj, spec_of

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STANDARD_RESOURCES = frozenset({*CONTAINER_RESOURCES, "storage", "pods", "services"})


@limited
def role_errors(obj: Obj) -> Iterator[FieldError]:
    for index, rule in enumerate(obj.get("rules") or []):
        field = f"rules[{index}]"
        if not rule.get("verbs"):
            yield required(f"{field}.verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            if obj.get("kind") == "Role":
                why = "namespaced rules cannot apply to non-resource URLs"
                yield invalid_tree(f"{field}.nonResourceURLs", rule["nonResourceURLs"], why)
            elif any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
                why = "rules cannot apply to both regular resources and non-resource URLs"
                yield invalid_tree(f"{field}.nonResourceURLs", rule["nonResourceURLs"], why)
            continue
        for name, what in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(name):
                yield required(f"{field}.{name}", f"resource rules must supply at least one {what}")


@limited
def node_errors(obj: Obj) -> Iterator[FieldError]:
    for index, taint in enumerate(spec_of(obj).get("taints") or []):
        key = str(taint.get("key") or "")
        for fault in label_key_faults(key):
            yield invalid_value(f"metadata.taints[{index}].key", key, fault)


@limited
def runtime_class_errors(obj: Obj) -> Iterator[FieldError]:
    for name in (obj.get("overhead") or {}).get("podFixed") or {}:
        field = f"overhead.limits[{name}]"
        if "/" not in name and name not in STANDARD_RESOURCES and not name.startswith("hugepages-"):
            yield invalid_value(field, name, "must be a standard resource type or fully qualified")
            yield invalid_value(field, name, "must be a standard resource for containers")
        elif "/" in name:
            yield from (invalid_value(field, name, fault) for fault in label_key_faults(name))


@limited
def storage_class_errors(obj: Obj) -> Iterator[FieldError]:
    provisioner = str(obj.get("provisioner") or "")
    if not provisioner:
        yield required("provisioner")
        return
    for fault in label_key_faults(provisioner.lower()):
        yield invalid_value("provisioner", provisioner, fault)


@limited
def volume_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    for mode in spec.get("accessModes") or []:
        if mode not in ACCESS_MODES:
            yield not_supported("spec.accessModes", str(mode), ACCESS_MODES)
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield required("spec.capacity")
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported("spec.capacity", [*capacity], ("storage",))
