"""Server-side apply on objects: the fields of a configuration, merging it, and removing fields."""

from __future__ import annotations

from typing import Any

from ktui.kube.json_trees import copied
from ktui.writes.managedfields.compare import UNOWNED, Items, entry_of, item_key
from ktui.writes.managedfields.fieldset import MEMBER, FieldSet
from ktui.writes.managedfields.nodes import Node

Obj = dict[str, Any]


def applied_fields(config: Obj, root: Node) -> FieldSet:
    """Return the fields that a configuration sets: its leaves, and items of keyed lists."""
    bare = {name: value for name, value in config.items() if name not in ("apiVersion", "kind", "metadata")}
    metadata = {k: v for k, v in (config.get("metadata") or {}).items() if k not in UNOWNED}
    return _fields({**bare, "metadata": metadata} if metadata else bare, root)


def _fields(container: Obj, node: Node) -> FieldSet:
    found: FieldSet = {}
    for name in container:
        below = node.member(name)
        value = entry_of(name, container, below)
        if isinstance(value, Items):
            found[f"f:{name}"] = {key: _item_fields(item, below.item()) for key, item in value.items()}
        elif isinstance(value, dict) and not below.atomic:
            found[f"f:{name}"] = _fields(value, below)
        else:
            found[f"f:{name}"] = {}
    return found


def _item_fields(item: Any, node: Node) -> FieldSet:
    return {MEMBER: {}, **_fields(item, node)} if isinstance(item, dict) and item and not node.atomic else {}


def merge_config(live: Obj, config: Obj, node: Node) -> Obj:
    """Return a new tree: maps and keyed lists merge, everything else is replaced by the configuration."""
    merged = dict(live)
    for name, value in config.items():
        merged[name] = _merged(live.get(name), value, node.member(name))
    return merged


def _merged(old: Any, new: Any, node: Node) -> Any:
    if isinstance(new, dict) and isinstance(old, dict) and not node.atomic:
        return merge_config(old, new, node)
    if isinstance(new, list) and isinstance(old, list):
        return _merged_list(old, new, node)
    return copied(new)


def _merged_list(old: list[Any], new: list[Any], node: Node) -> list[Any]:
    keys = node.keys([*old, *new]) if new else None
    if keys is None:
        return copied(new)
    merged = {item_key(keys, item, node): item for item in old}
    for item in new:
        key = item_key(keys, item, node)
        merged[key] = _merged(merged.get(key), item, node.item())
    return list(merged.values())


def without(value: Any, paths: FieldSet, node: Node) -> Any:
    """Return a new tree without the fields and items of `paths`, and without containers that become empty."""
    if isinstance(value, list):
        keys = node.keys(value) if value else None
        if keys is None:
            return value
        kept = ((item_key(keys, item, node), item) for item in value)
        below = node.item()
        return [without(item, paths.get(key, {}), below) for key, item in kept if _stays(key, paths)]
    if not isinstance(value, dict):
        return value
    left = {}
    for name, member in value.items():
        if not _stays(f"f:{name}", paths):
            continue
        below = paths.get(f"f:{name}", {})
        rest = without(member, below, node.member(name)) if below else member
        if rest or rest == member:
            left[name] = rest
    return left


def _stays(key: str, paths: FieldSet) -> bool:
    below = paths.get(key)
    return below is None or (bool(below) and MEMBER not in below)
