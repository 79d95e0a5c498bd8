"""Server-side apply on objects: the fields of a configuration, merging it, and removing fields."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ktui.kube.json_trees import Obj, copied
from ktui.writes.managedfields.fieldset import (
    MEMBER,
    UNOWNED,
    FieldSet,
    Items,
    as_member,
    difference,
    entry_of,
    intersection,
    item_key,
    union,
)
from ktui.writes.managedfields.nodes import Node


def fields_of(obj: Obj, root: Node) -> FieldSet:
    """Return the fields that an object sets: its leaves, items of keyed lists, and entries of maps."""
    bare = {name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata")}
    metadata = {k: v for k, v in (obj.get("metadata") or {}).items() if k not in UNOWNED}
    return _fields({**bare, "metadata": metadata} if metadata else bare, root)


def _fields(container: Obj, node: Node) -> FieldSet:
    found: FieldSet = {}
    for name in container:
        below = node.member(name)
        value = entry_of(name, container, below)
        if isinstance(value, Items):
            each = below.item()
            inner = {
                key: as_member(_fields(item, each)) if isinstance(item, dict) and not each.atomic else {}
                for key, item in value.items()
            }
        elif isinstance(value, dict) and value and not below.atomic:
            inner = _fields(value, below)
        else:
            found[f"f:{name}"] = {}
            continue
        if not node.declares(name):
            found[f"f:{name}"] = as_member(inner)
        elif inner:  # an empty keyed list has no owner
            found[f"f:{name}"] = inner
    return found


def with_structs(fields: FieldSet, node: Node) -> FieldSet:
    """Return the set with every struct field on the way to its paths (upstream: EnsureNamedFieldsAreMembers).

    An entry of a map and an item of a list are not added.
    """
    found: FieldSet = {}
    for key, below in fields.items():
        if not below:
            found[key] = {}
            continue
        kind, _, name = key.partition(":")
        inner = with_structs(below, node.member(name) if kind == "f" else node.item())
        found[key] = as_member(inner) if kind == "f" and node.declares(name) else inner
    return found


def pruned(merged: Obj, last: FieldSet, managed: FieldSet, root: Node, *, null: bool = False) -> Obj:
    """Return `merged` without what its applier owned (`last`), but for what has an owner now (`managed`).

    A struct that others still have fields in stays, and so do fields that had no owner. `null` as `without`.
    """
    if not difference(last, managed):
        return merged
    whole, last = with_structs(fields_of(merged, root), root), with_structs(last, root)
    left = with_structs(fields_of(without(merged, last, root, null=True), root), root)
    unowned = difference(whole, union(left, with_structs(managed, root)))
    owned = with_structs(fields_of(without(merged, unowned, root, null=True), root), root)
    gone = intersection(difference(whole, union(owned, {"f:metadata": {}})), last)
    result = without(merged, gone, root, null=null)
    assert isinstance(result, dict)
    return result


def merge_config(live: Obj, config: Obj, node: Node) -> Obj:
    """Return a new tree: maps and keyed lists merge, everything else is replaced by the configuration."""
    merged = dict(live)
    for name, value in config.items():
        merged[name] = _merged(live.get(name), value, node.member(name))
    return merged


def _merged(old: Any, new: Any, node: Node) -> Any:
    if isinstance(new, dict) and isinstance(old, dict) and not node.atomic:
        return merge_config(old, new, node)
    if new is None and old and _has_parts(old, node):
        return old
    if isinstance(new, list) and isinstance(old, list):
        return _merged_list(old, new, node)
    return copied(new)


def _has_parts(value: Any, node: Node) -> bool:
    """Return True for a container whose members are owned one by one: null does not replace it."""
    if isinstance(value, list):
        return node.keys(value) is not None
    return isinstance(value, dict) and not node.atomic


def _merged_list(old: list[Any], new: list[Any], node: Node) -> list[Any]:
    keys = node.keys([*old, *new]) if old or new else None
    if keys is None:
        return copied(new)
    wanted = {item_key(keys, item, node): item for item in new}
    present: Obj = {}
    for item in old:
        key = item_key(keys, item, node)
        present[key] = None if key in present else item  # a duplicate merges with nothing
    below = node.item()

    def merge(key: str) -> Any:
        return _merged(present.get(key), wanted[key], below)

    return _in_merged_order([(item_key(keys, item, node), item) for item in old], list(wanted), merge)


def _in_merged_order(old: list[tuple[str, Any]], new: list[str], merge: Callable[[str], Any]) -> list[Any]:
    """Return the items: those in both lists in the order of `new`, all others where they are.

    An item of `new` alone comes after those of `old` that precede the next item in both.
    """
    wanted = set(new)
    there = {key for key, _ in old}
    shared = deque(key for key in new if key in there)
    merged: list[Any] = []
    done: set[str] = set()
    at, then = 0, 0
    while at < len(old) or then < len(new):
        if at < len(old):
            key, item = old[at]
            if then < len(new) and key == new[then]:
                at += 1
            elif then < len(new) and key in wanted and shared and shared[0] != key:
                at += 1
                continue
            elif key not in wanted:
                merged.append(item)
                at += 1
                continue
            elif key in done:
                at += 1
        if then < len(new):
            key = new[then]
            done.add(key)
            merged.append(merge(key))
            then += 1
            if shared and shared[0] == key:
                shared.popleft()
    return merged


def without(value: Any, paths: FieldSet, node: Node, *, null: bool = False) -> Any:
    """Return a new tree without the fields and items of `paths`.

    Containers that become empty go too; with `null`, or in a custom resource, they become null.
    """
    if isinstance(value, list):
        keys = node.keys(value) if value else None
        if keys is None:
            return value
        kept = ((item_key(keys, item, node), item) for item in value)
        below = node.item()
        return [
            without(item, paths.get(key, {}), below, null=null) for key, item in kept if _stays(key, paths)
        ]
    if not isinstance(value, dict):
        return value
    left = {}
    for name, member in value.items():
        if not _stays(f"f:{name}", paths):
            continue
        inner, below = paths.get(f"f:{name}", {}), node.member(name)
        rest = without(member, inner, below, null=null) if inner else member
        if rest or rest == member:
            left[name] = rest
        elif null or not below.typed:
            left[name] = None
    return left


def _stays(key: str, paths: FieldSet) -> bool:
    below = paths.get(key)
    return below is None or (bool(below) and MEMBER not in below)
