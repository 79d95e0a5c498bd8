"""Validation of the usual kinds: what would make an object useless. Most of upstream's rules are not here."""

from __future__ import annotations

import json
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid_object, invalid_value, required, too_long
from ktui.kube.names import config_key_faults, dns_label_faults
from ktui.kube.resources import Resource

Obj = dict[str, Any]

MAX_DATA_BYTES = 1024 * 1024


def validate_object(obj: Obj, resource: Resource) -> None:
    """StatusError 422 with every cause found."""
    rule = {
        "Pod": _pod,
        "ConfigMap": _config,
        "Secret": _config,
        "Deployment": _workload,
        "Service": _service,
    }.get(str(obj.get("kind")))
    errors = rule(obj) if rule is not None and not resource.custom else []
    if errors:
        name = str((obj.get("metadata") or {}).get("name", ""))
        raise invalid_object(resource.kind, resource.group, name, errors)


def _pod(obj: Obj) -> list[FieldError]:
    containers = (obj.get("spec") or {}).get("containers") or []
    if not containers:
        return [required("spec.containers")]
    errors: list[FieldError] = []
    for at, container in enumerate(containers):
        path = f"spec.containers[{at}]"
        name = container.get("name", "")
        if not name:
            errors.append(required(f"{path}.name"))
        errors += [invalid_value(f"{path}.name", name, fault) for fault in dns_label_faults(name) if name]
        if not container.get("image"):
            errors.append(required(f"{path}.image"))
    return errors


def _service(obj: Obj) -> list[FieldError]:
    spec = obj.get("spec") or {}
    portless = spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None"
    return [] if spec.get("ports") or portless else [required("spec.ports")]


def _config(obj: Obj) -> list[FieldError]:
    errors: list[FieldError] = []
    size = 0
    for member in ("data", "binaryData"):
        for key, value in (obj.get(member) or {}).items():
            size += len(str(value).encode())
            errors += [invalid_value(f"{member}[{key}]", key, fault) for fault in config_key_faults(key)]
    if size > MAX_DATA_BYTES:
        errors.append(too_long("[]" if obj.get("kind") == "ConfigMap" else "data", MAX_DATA_BYTES))
    return errors


def _workload(obj: Obj) -> list[FieldError]:
    spec = obj.get("spec") or {}
    wanted = (spec.get("selector") or {}).get("matchLabels") or {}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if all(labels.get(key) == value for key, value in wanted.items()):
        return []
    shown = json.dumps(labels, separators=(",", ":"))
    message = f"Invalid value: {shown}: `selector` does not match template `labels`"
    return [FieldError("spec.template.metadata.labels", "FieldValueInvalid", message)]


def validate_change(old: Obj, new: Obj, resource: Resource) -> None:
    """What must not change; StatusError 422. `new` must be valid by itself as well."""
    errors: list[FieldError] = []
    if resource.id in ("configmaps", "secrets") and old.get("immutable"):
        why = "Forbidden: field is immutable when `immutable` is set"
        for member in ("immutable", "data", "binaryData"):
            if old.get(member) != new.get(member):
                errors.append(FieldError(member, "FieldValueForbidden", why))
    if resource.id == "deployments.apps":
        errors += _workload(new)
        selector = (new.get("spec") or {}).get("selector")
        if selector != (old.get("spec") or {}).get("selector"):
            shown = json.dumps(selector, separators=(",", ":"))
            why = f"Invalid value: {shown}: field is immutable"
            errors.append(FieldError("spec.selector", "FieldValueInvalid", why))
    if errors:
        name = str((new.get("metadata") or {}).get("name", ""))
        raise invalid_object(resource.kind, resource.group, name, errors)
