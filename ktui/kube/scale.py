"""Read and write a workload's autoscaling/v1 Scale: replicas and selector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ktui.kube.golang.formatting import go_type, go_value
from ktui.kube.json_trees import Obj, copied
from ktui.kube.selectors.requirements import requirements_of
from ktui.kube.status import bad_request, bare_error, internal_error
from ktui.kube.tables.object_fields import dig

KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where a kind keeps its replicas, as in a CustomResourceDefinition (`.spec.replicas`).

    `selector` is "" if there is none. The field holds a selector as text, or a built-in kind's label
    selector.
    """

    replicas: str = ".spec.replicas"
    observed: str = ".status.replicas"
    selector: str = ".spec.selector"
    custom: bool = False


BUILTIN_PATHS = ScalePaths()


def paths_of(scale: Mapping[str, Any]) -> ScalePaths:
    """Return the paths of a CustomResourceDefinition's `subresources.scale`."""
    return ScalePaths(
        scale.get("specReplicasPath", ""),
        scale.get("statusReplicasPath", ""),
        scale.get("labelSelectorPath") or "",
        custom=True,
    )


def scale_of(obj: Obj, paths: ScalePaths = BUILTIN_PATHS) -> Obj:
    """Return the Scale of a workload.

    Raises StatusError 500 for a custom resource without replicas or with a value of another type at that
    path, and 400 for an invalid selector.
    """
    metadata = obj.get("metadata") or {}
    replicas = _checked(obj, paths.replicas, paths, int)
    if replicas is None and paths.custom:
        raise internal_error(f'the spec replicas field "{paths.replicas}" does not exist')
    status: Obj = {"replicas": _checked(obj, paths.observed, paths, int) or 0}
    if selector := selector_text(_checked(obj, paths.selector, paths, str)):
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in KEPT if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def rescaled(obj: Obj, replicas: int | None, paths: ScalePaths = BUILTIN_PATHS) -> Obj:
    """Return a copy of the object with this number of replicas; None: without a number."""
    new = copied(obj)
    *above, last = _names(paths.replicas)
    container = new
    for name in above:
        container = container.setdefault(name, {})
    container[last] = replicas
    if replicas is None:
        del container[last]
    return new


def owns_replicas(entry: Obj, paths: ScalePaths = BUILTIN_PATHS) -> bool:
    """Whether an entry of managedFields has the number of replicas."""
    node = entry.get("fieldsV1")
    for name in _names(paths.replicas):
        node = node.get(f"f:{name}") if isinstance(node, dict) else None
    return node is not None


def selector_text(selector: Any) -> str:
    """Return a LabelSelector or plain labels as selector text; text is returned unchanged."""
    if isinstance(selector, str):
        return selector
    if not isinstance(selector, dict):
        return ""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        selector = {"matchLabels": selector}
    try:
        wanted = requirements_of(selector)
    except ValueError as error:
        raise bad_request(str(error)) from None
    return ",".join(map(str, sorted(wanted, key=lambda requirement: requirement.key)))


def _checked(obj: Obj, path: str, paths: ScalePaths, wanted: type) -> Any:
    """Return the value at a path, None without a path; that of a custom resource has to be of the type."""
    if not path:
        return None
    if paths.custom and (fault := accessor_fault(obj, path, wanted)):
        raise bare_error(fault)
    return value_at(obj, path)


def accessor_fault(obj: Obj, path: str, wanted: type) -> str:
    """Return the error of NestedInt64 (`int`) or NestedString (`str`) for the value at a path.

    "" for a value of that type, and for none: if a member on the way is missing, or null above it.
    """
    value, names = obj, _names(path)
    for at, name in enumerate(names):
        if value is None:
            return ""
        if not isinstance(value, dict):
            return _fault(f".{'.'.join(names[: at + 1])}", value, "map[string]interface{}")
        if name not in value:
            return ""
        value = value[name]
    if type(value) is wanted:
        return ""
    return _fault(path, value, {int: "int64", str: "string"}[wanted])


def _fault(path: str, value: Any, expected: str) -> str:
    return f"{path} accessor error: {go_value(value)} is of the type {go_type(value)}, expected {expected}"


def _names(path: str) -> list[str]:
    return path.removeprefix(".").split(".")


def value_at(obj: Obj, path: str) -> Any:
    """Return the value at a path like `.spec.replicas`, None if it is missing."""
    return dig(obj, path.removeprefix("."))
