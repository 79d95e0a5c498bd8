"""What changed between two states of an object, as sets of field paths."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ktui.apiserver.objects.managed.fieldset import MEMBER, FieldSet

# x-kubernetes-list-map-keys of the built-in types, by field name; lists not named are one value.
LIST_KEYS: dict[str, tuple[str, ...]] = {
    "addresses": ("type",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "hostIPs": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
SETS = frozenset({"finalizers", "podCIDRs"})
# x-kubernetes-map-type: atomic of the built-in types.
ATOMIC = frozenset(
    {
        "f:configMapKeyRef",
        "f:fieldRef",
        "f:involvedObject",
        "f:labelSelector",
        "f:namespaceSelector",
        "f:nodeSelector",
        "f:regarding",
        "f:resourceFieldRef",
        "f:scaleTargetRef",
        "f:secretKeyRef",
        "f:secretRef",
        "f:selector",
    }
)
# Never owned by anybody.
UNOWNED = frozenset(
    {
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "generation",
        "managedFields",
        "resourceVersion",
    }
)

KeysOf = Callable[[str, list[Any]], tuple[str, ...] | None]


@dataclass(slots=True)
class Changes:
    """Paths that are new or have another value (`set`), and paths that are gone (`removed`)."""

    set: FieldSet = field(default_factory=dict)
    removed: FieldSet = field(default_factory=dict)


def compare(old: dict[str, Any], new: dict[str, Any], *, keyed_lists: bool) -> Changes:
    """Changes of a whole object. Lists of custom resources are taken as one value (`keyed_lists` False)."""
    changes = Changes()
    keys_of = builtin_keys if keyed_lists else no_keys
    bare_old, bare_new = _without_unowned(old), _without_unowned(new)
    _compare_maps(bare_old, bare_new, changes.set, changes.removed, keys_of)
    return changes


def _without_unowned(obj: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}
    metadata = bare.get("metadata") or {}
    bare["metadata"] = {name: value for name, value in metadata.items() if name not in UNOWNED}
    return bare


def _compare_maps(
    old: dict[str, Any], new: dict[str, Any], added: FieldSet, removed: FieldSet, keys_of: KeysOf
) -> None:
    same_types = keys_of is builtin_keys
    for name in {**old, **new}:
        # In a schemaless object 1 may follow true, which Python takes for equal.
        if same_types and name in old and name in new and old[name] == new[name]:
            continue
        before = entry_of(name, old, keys_of)
        after = entry_of(name, new, keys_of)
        _compare_values(f"f:{name}", before, after, added, removed, keys_of)


def entry_of(name: str, container: dict[str, Any], keys_of: KeysOf) -> Any:
    """A member's value; keyed lists and sets become `Items` by path element."""
    if name not in container:
        return _ABSENT
    value = container[name]
    if isinstance(value, list):
        keys = keys_of(name, value)
        if keys is not None:
            return Items({item_key(keys, item): item for item in value})
    return value


class Items(dict[str, Any]):
    """Items of a keyed list or set, by path element."""


_ABSENT = object()


def _compare_values(
    key: str, before: Any, after: Any, added: FieldSet, removed: FieldSet, keys_of: KeysOf
) -> None:
    if after is _ABSENT:
        removed[key] = _whole(before, keys_of, key)
    elif before is _ABSENT:
        added[key] = _whole(after, keys_of, key)
    elif keys_of is builtin_keys and key in ATOMIC:
        if before != after:
            added[key] = {}
    elif isinstance(after, dict) and (isinstance(before, dict) or before is None):
        below_added: FieldSet = {}
        below_removed: FieldSet = {}
        if isinstance(after, Items):
            old_items = before if isinstance(before, Items) else {}
            for item in {**old_items, **after}:
                _compare_values(
                    item,
                    old_items.get(item, _ABSENT),
                    after.get(item, _ABSENT),
                    below_added,
                    below_removed,
                    keys_of,
                )
        else:
            _compare_maps(before or {}, after, below_added, below_removed, keys_of)
        if below_added:
            added[key] = below_added
        if below_removed:
            removed[key] = below_removed
    elif before != after or type(before) is not type(after):
        added[key] = {}


def _whole(value: Any, keys_of: KeysOf, path: str) -> FieldSet:
    """A path and all below it."""
    if not isinstance(value, dict) or (keys_of is builtin_keys and path in ATOMIC):
        return {}
    if isinstance(value, Items):
        below = {key: _whole(item, keys_of, key) for key, item in value.items()}
    else:
        below = {}
        for name, item in value.items():
            key = f"f:{name}"
            nested = isinstance(item, dict | list)
            below[key] = _whole(entry_of(name, value, keys_of), keys_of, key) if nested else {}
    return {MEMBER: {}, **below} if below else {}


def item_key(keys: tuple[str, ...], item: Any) -> str:
    if not keys:
        return "v:" + _compact(item)
    named = {key: item.get(key, _DEFAULTS.get(key)) for key in sorted(keys)}
    return "k:" + _compact(named)


_DEFAULTS = {"protocol": "TCP"}
_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def builtin_keys(name: str, items: list[Any]) -> tuple[str, ...] | None:
    if name in SETS:
        return ()
    keys = LIST_KEYS.get(name)
    if name == "ports":
        first = items[0] if items and isinstance(items[0], dict) else {}
        keys = ("containerPort", "protocol") if "containerPort" in first else ("port", "protocol")
    if keys is None or not all(isinstance(item, dict) for item in items):
        return None
    return keys


def no_keys(name: str, items: list[Any]) -> tuple[str, ...] | None:
    """Schemaless lists are one value, but metadata's own lists are keyed everywhere."""
    return builtin_keys(name, items) if name in ("finalizers", "ownerReferences") else None
