"""The defaults, conditions and status of a CustomResourceDefinition."""

from __future__ import annotations

from ktui.kube.json_trees import Obj
from ktui.writes.objectmeta import set_condition

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
ID = "customresourcedefinitions.apiextensions.k8s.io"


def accept_names(definition: Obj, taken: dict[str, set[str]]) -> None:
    """Accept the names that no other definition of the group has, and set the conditions.

    `taken` has the others' names: `resources` (plural, singular, short) and `kinds` (kind and list kind).
    """
    names = (definition.get("spec") or {}).get("names") or {}
    status = definition["status"] = dict(definition.get("status") or {})
    accepted = dict(status.get("acceptedNames") or {})
    conflict: tuple[str, str] | None = None
    for member in ("plural", "singular", "shortNames", "kind", "listKind"):
        value = names.get(member)
        if not value:
            accepted.pop(member, None)
            continue
        used = taken["kinds" if member in ("kind", "listKind") else "resources"]
        clash = next((v for v in (value if isinstance(value, list) else [value]) if v in used), None)
        if clash is None:
            accepted[member] = value
        else:
            reason = f"{member[0].upper()}{member[1:]}Conflict"
            conflict = conflict or (reason, f'"{clash}" is already in use')
    if names.get("categories"):
        accepted["categories"] = names["categories"]
    status["acceptedNames"] = accepted
    if conflict:
        set_condition(definition, "NamesAccepted", "False", *conflict)
        if not any(c["type"] == "Established" for c in definition["status"]["conditions"]):
            set_condition(definition, "Established", "False", "NotAccepted", "not all names are accepted")
        return
    set_condition(definition, "NamesAccepted", "True", "NoConflicts", "no conflicts found")
    why = "the initial names have been accepted"
    set_condition(definition, "Established", "True", "InitialNamesAccepted", why)


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
    names = {"plural": "", "kind": ""}
    obj["status"] = {"conditions": None, "acceptedNames": names, "storedVersions": _storage(obj)}


def add_stored_version(obj: Obj) -> None:
    """Add the present storage version to those in which etcd may hold objects."""
    status = obj["status"] = dict(obj.get("status") or {})
    stored = list(status.get("storedVersions") or [])
    status["storedVersions"] = stored + [name for name in _storage(obj) if name not in stored]


def _storage(obj: Obj) -> list[str]:
    """Return the name of the storage version: the first, of several that are refused."""
    return [v.get("name") or "" for v in versions_of(obj) if v.get("storage")][:1]


def versions_of(obj: Obj) -> list[Obj]:
    return [v for v in (obj.get("spec") or {}).get("versions") or [] if isinstance(v, dict)]
