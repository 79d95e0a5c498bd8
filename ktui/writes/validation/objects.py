"""Validation of the usual kinds: errors that make an object useless. Most of upstream's rules are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid_object, invalid_value, limited, required, too_long
from ktui.kube.json_trees import copied
from ktui.kube.names import config_key_faults
from ktui.kube.resources import Resource
from ktui.writes.defaults.workloads import set_defaults
from ktui.writes.validation.pod_specs import pod_spec_errors, template_errors
from ktui.writes.validation.selectors import (
    PREFIXED_SINCE,
    controller_selector_errors,
    generated_selector_errors,
    workload_selector_errors,
)
from ktui.writes.validation.updates import definitions
from ktui.writes.validation.updates.table import RULES, update_errors

Obj = dict[str, Any]

MAX_DATA_BYTES = 1024 * 1024
# Kinds whose updates have their own rules, or are not validated at all.
_APART = frozenset({"apiVersion", "kind", "metadata", "status"})


def object_errors(obj: Obj, resource: Resource) -> list[FieldError]:
    """The errors in an object itself."""
    rule = None if resource.custom else _RULES.get(resource.id)
    return rule(obj) if rule is not None else []


def validate_new(obj: Obj, resource: Resource, minor: int) -> None:
    """Validate an object to be created; StatusError 422 with every cause found."""
    errors = []
    if resource.id == "jobs.batch":
        errors += generated_selector_errors(obj, prefixed=minor >= PREFIXED_SINCE)
    if errors := [*errors, *object_errors(obj, resource)]:
        name = str((obj.get("metadata") or {}).get("name", ""))
        raise invalid_object(resource.kind, resource.group, name, errors)


def _pod(obj: Obj) -> list[FieldError]:
    return pod_spec_errors(obj.get("spec") or {}, "spec")


def _workload(obj: Obj) -> list[FieldError]:
    return [*workload_selector_errors(obj), *template_errors(obj)]


def _controller(obj: Obj) -> list[FieldError]:
    errors = controller_selector_errors(obj)
    return errors if (obj.get("spec") or {}).get("template") is None else [*errors, *template_errors(obj)]


def _service(obj: Obj) -> list[FieldError]:
    spec = obj.get("spec") or {}
    portless = spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None"
    return [] if spec.get("ports") or portless else [required("spec.ports")]


@limited
def _config(obj: Obj) -> Iterator[FieldError]:
    size = 0
    for member in ("data", "binaryData"):
        for key, value in (obj.get(member) or {}).items():
            size += len(str(value).encode())
            for fault in config_key_faults(key):
                yield invalid_value(f"{member}[{key}]", key, fault)
    if size > MAX_DATA_BYTES:
        yield too_long("[]" if obj.get("kind") == "ConfigMap" else "data", MAX_DATA_BYTES)


_RULES: dict[str, Callable[[Obj], list[FieldError]]] = {
    definitions.ID: definitions.definition_errors,
    "configmaps": _config,
    "cronjobs.batch": template_errors,
    "daemonsets.apps": _workload,
    "deployments.apps": _workload,
    "jobs.batch": _workload,
    "pods": _pod,
    "replicasets.apps": _workload,
    "replicationcontrollers": _controller,
    "secrets": _config,
    "services": _service,
    "statefulsets.apps": _workload,
}


def change_errors(old: Obj, new: Obj, resource: Resource) -> list[FieldError]:
    """The errors of an update: changed immutable fields."""
    if resource.id not in RULES:
        return []
    before = copied(old)
    set_defaults(before)  # as decoding it would
    return update_errors(resource.id, before, new)


def has_changed(old: Obj, new: Obj) -> bool:
    """True if an update changes more than metadata and status: most do not, and skip the other checks."""
    return any(old.get(name) != new.get(name) for name in (old.keys() | new.keys()) - _APART)
