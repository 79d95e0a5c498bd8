"""Set the defaults and the status of a CustomResourceDefinition."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]

ID = "customresourcedefinitions.apiextensions.k8s.io"


def set_definition_defaults(obj: Obj) -> None:
    """Set the names that follow from the kind, and no conversion."""
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    names = spec.get("names")
    if isinstance(names, dict) and isinstance(kind := names.get("kind"), str) and kind:
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")
    spec.setdefault("conversion", {"strategy": "None"})


def set_new_status(obj: Obj) -> None:
    """Set the status of a new definition, in which nothing is accepted yet."""
    stored = [v["name"] for v in _versions(obj) if v.get("storage")]
    names = {"plural": "", "kind": ""}
    obj["status"] = {"conditions": None, "acceptedNames": names, "storedVersions": stored}


def add_stored_version(obj: Obj) -> None:
    """Add the present storage version to those in which etcd may hold objects."""
    status = obj["status"] = dict(obj.get("status") or {})
    stored = list(status.get("storedVersions") or [])
    status["storedVersions"] = [
        *stored, *(v["name"] for v in _versions(obj) if v.get("storage") and v["name"] not in stored)
    ]  # fmt: skip


def _versions(obj: Obj) -> list[Obj]:
    return [v for v in (obj.get("spec") or {}).get("versions") or [] if isinstance(v, dict)]
