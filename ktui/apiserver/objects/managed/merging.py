"""Server-side apply's view of objects: what a configuration sets, merging it in, taking fields away."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.objects.managed.compare import (
    ATOMIC,
    UNOWNED,
    Items,
    KeysOf,
    builtin_keys,
    entry_of,
    item_key,
    no_keys,
)
from ktui.apiserver.objects.managed.fieldset import MEMBER, FieldSet
from ktui.apiserver.objects.trees import copied

Obj = dict[str, Any]


def keys_for(*, custom: bool) -> KeysOf:
    """How lists are taken apart: those of custom resources are one value each."""
    return no_keys if custom else builtin_keys


def applied_fields(config: Obj, keys_of: KeysOf) -> FieldSet:
    """The fields that a configuration sets: its leaves, and items of keyed lists."""
    bare = {name: value for name, value in config.items() if name not in ("apiVersion", "kind", "metadata")}
    metadata = {k: v for k, v in (config.get("metadata") or {}).items() if k not in UNOWNED}
    return _fields({**bare, "metadata": metadata} if metadata else bare, keys_of)


def _fields(container: Obj, keys_of: KeysOf) -> FieldSet:
    found: FieldSet = {}
    for name in container:
        value = entry_of(name, container, keys_of)
        key = f"f:{name}"
        if isinstance(value, Items):
            found[key] = {item: _item_fields(below, keys_of) for item, below in value.items()}
        elif isinstance(value, dict) and not _atomic(key, keys_of):
            found[key] = _fields(value, keys_of)
        else:
            found[key] = {}
    return found


def _item_fields(item: Any, keys_of: KeysOf) -> FieldSet:
    return {MEMBER: {}, **_fields(item, keys_of)} if isinstance(item, dict) and item else {}


def _atomic(key: str, keys_of: KeysOf) -> bool:
    return keys_of is builtin_keys and key in ATOMIC


def merge_config(live: Obj, config: Obj, keys_of: KeysOf) -> Obj:
    """A new tree: maps and keyed lists merge, everything else is what the configuration says."""
    merged = dict(live)
    for name, value in config.items():
        old = live.get(name)
        if isinstance(value, dict) and isinstance(old, dict) and not _atomic(f"f:{name}", keys_of):
            merged[name] = merge_config(old, value, keys_of)
        elif isinstance(value, list) and isinstance(old, list):
            merged[name] = _merged_list(name, old, value, keys_of)
        else:
            merged[name] = copied(value)
    return merged


def _merged_list(name: str, old: list[Any], new: list[Any], keys_of: KeysOf) -> list[Any]:
    keys = keys_of(name, new) if new else None
    if keys is None:
        return copied(new)
    merged = {item_key(keys, item): item for item in old}
    for item in new:
        key = item_key(keys, item)
        there = merged.get(key)
        both = isinstance(there, dict) and isinstance(item, dict)
        merged[key] = merge_config(there, item, keys_of) if both else copied(item)  # type: ignore[arg-type]
    return list(merged.values())


def without(value: Any, paths: FieldSet, keys_of: KeysOf, name: str = "") -> Any:
    """A new tree without the fields and items of `paths`."""
    if isinstance(value, list):
        keys = keys_of(name, value) if value else None
        if keys is None:
            return value
        kept = ((item_key(keys, item), item) for item in value)
        return [without(item, paths.get(key, {}), keys_of) for key, item in kept if _stays(key, paths)]
    if not isinstance(value, dict):
        return value
    return {
        name: without(member, paths.get(f"f:{name}", {}), keys_of, name)
        for name, member in value.items()
        if _stays(f"f:{name}", paths)
    }


def _stays(key: str, paths: FieldSet) -> bool:
    below = paths.get(key)
    return below is None or (bool(below) and MEMBER not in below)
