"""Strategic merge patch: a merge patch in which keyed lists merge by key.

The full language needs each type's struct tags. Here keys depend on the field's name, which is unambiguous
for the keyed lists of the built-in types; other lists are replaced, as upstream does with lists without merge
key.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ktui.kube.golang.values import go_value
from ktui.kube.json_trees import hashed

# patchMergeKey of the built-in API types, by field name. `ports` depends on its items.
MERGE_KEYS = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "taints": "key",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
# Lists of plain values that merge as sets.
MERGED_SETS = frozenset({"finalizers", "podCIDRs"})
DELETE_PRIMITIVES = "$deleteFromPrimitiveList/"
ORDER = "$setElementOrder/"
RETAIN = "$retainKeys"


class BadDirective(Exception):
    """A directive has an invalid value."""


class BadItem(Exception):
    """A directive is unknown, or an item lacks its list's key; upstream answers 500."""


def strategic_merge(target: Any, patch: Any) -> Any:
    """Return a new tree. Knows `$patch: replace|delete`, `$retainKeys` and `$deleteFromPrimitiveList/…`."""
    if not isinstance(patch, dict):
        return patch
    directive = patch.get("$patch")
    if directive not in (None, "replace", "delete"):
        raise BadItem(f"unknown patch type: {go_value(directive)} in map: {go_value(patch)}")
    if directive == "delete":
        return {}
    body = {name: value for name, value in patch.items() if name != "$patch"}
    if directive == "replace":
        return body
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in body.items():
        _merge_member(merged, name, value)
    if RETAIN in body:
        kept = _list(merged.pop(RETAIN, None), "retainKeys")
        names = set(map(hashed, kept))
        merged = {name: value for name, value in merged.items() if name in names}
    return merged


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadDirective(f"invalid patch format of {what}")
    return value


def _merge_member(merged: dict[str, Any], name: str, value: Any) -> None:
    if name.startswith(ORDER):
        _list(value, "setElementOrder list")
        return  # the merge keeps the current order and appends; upstream sorts by this hint
    if name.startswith(DELETE_PRIMITIVES):
        field = name.removeprefix(DELETE_PRIMITIVES)
        gone = _list(value, "primitive list")
        removed = set(map(hashed, gone))
        merged[field] = [item for item in merged.get(field) or [] if hashed(item) not in removed]
    elif value is None:
        merged.pop(name, None)
    elif name not in merged and isinstance(value, dict) and "$patch" in value:
        return  # upstream drops a directive for a missing member, with the rest of its object
    elif isinstance(value, list):
        present = merged.get(name)
        merged[name] = _merge_list(name, present if isinstance(present, list) else None, value)
    elif isinstance(value, dict):
        merged[name] = strategic_merge(merged.get(name), value)
    else:
        merged[name] = value


def _merge_list(name: str, present: list[Any] | None, patch: list[Any]) -> list[Any]:
    """Return the merged list; `present` None: the object has no such list, so items are not checked."""
    there = present or []
    if name in MERGED_SETS:
        known = set(map(hashed, there))
        return there + [item for item in patch if hashed(item) not in known]
    key = merge_key(name, there + patch)
    if key is None:
        return patch
    if present is not None:
        _check_items(key, patch)
    return _merge_keyed(key, there, patch)


def _check_items(key: str, patch: list[Any]) -> None:
    """Raise BadItem for an item that cannot be found in the list by its key."""
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch):
        return
    for item in patch:
        if not isinstance(item, dict):
            continue
        if item.get("$patch") == "merge":
            raise BadItem("merging list cannot yet be specified in the patch")
        if key not in item and item.get("$patch") in (None, "delete"):
            raise BadItem(f"map: {go_value(item)} does not contain declared merge key: {key}")


def merge_key(name: str, items: list[Any]) -> str | None:
    """Return the key of a list field, None if the list is atomic."""
    if name == "ports":
        return (
            "containerPort"
            if any("containerPort" in item for item in items if isinstance(item, dict))
            else "port"
        )
    return MERGE_KEYS.get(name)


def _merge_keyed(key: str, present: list[Any], patch: list[Any]) -> list[Any]:
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch):
        return [item for item in patch if not (isinstance(item, dict) and item.get("$patch") == "replace")]
    merged = _Keyed(key, present)
    for item in patch:
        at = merged.place(item)
        if isinstance(item, dict) and item.get("$patch") == "delete":
            if at is not None:
                merged.remove(at, item)
        elif at is None:
            merged.append(strategic_merge({}, item))
        else:
            merged.items[at] = strategic_merge(merged.items[at], item)
    return [item for item in merged.items if item is not _GONE]


_GONE = object()


class _Keyed:
    """A keyed list that finds its items by their keys, each in one step."""

    def __init__(self, key: str, present: list[Any]) -> None:
        self._key = key
        self.items: list[Any] = []
        self._places: dict[Any, deque[int]] = {}  # of each key, in their order
        for item in present:
            self.append(item)

    def append(self, item: Any) -> None:
        if isinstance(item, dict):
            self._places.setdefault(hashed(item.get(self._key)), deque()).append(len(self.items))
        self.items.append(item)

    def place(self, item: Any) -> int | None:
        """Return the place of the first item with the key of `item`; None if there is none."""
        if not isinstance(item, dict) or self._key not in item:
            return None
        places = self._places.get(hashed(item[self._key]))
        return places[0] if places else None

    def remove(self, at: int, item: Any) -> None:
        self.items[at] = _GONE
        self._places[hashed(item[self._key])].popleft()
