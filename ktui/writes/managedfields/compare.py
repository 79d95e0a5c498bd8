"""The changes between two states of an object, as sets of field paths."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ktui.writes.managedfields.fieldset import MEMBER, FieldSet
from ktui.writes.managedfields.nodes import Keys, Node

# Fields that no manager ever owns.
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


@dataclass(slots=True)
class Changes:
    """Paths with a new value (`set`), and removed paths (`removed`)."""

    set: FieldSet = field(default_factory=dict)
    removed: FieldSet = field(default_factory=dict)


def compare(old: dict[str, Any], new: dict[str, Any], root: Node) -> Changes:
    """Return the changes of a whole object; `root` has its type."""
    changes = Changes()
    bare_old, bare_new = _without_unowned(old), _without_unowned(new)
    _compare_maps(bare_old, bare_new, changes.set, changes.removed, root)
    return changes


def _without_unowned(obj: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}
    metadata = bare.get("metadata") or {}
    bare["metadata"] = {name: value for name, value in metadata.items() if name not in UNOWNED}
    return bare


def _compare_maps(
    old: dict[str, Any], new: dict[str, Any], added: FieldSet, removed: FieldSet, node: Node
) -> None:
    for name in chain(old, (name for name in new if name not in old)):
        # Without a schema, 1 may replace true, which are equal in Python.
        if node.typed and name in old and name in new and old[name] == new[name]:
            continue
        below = node.member(name)
        before, after = entry_of(name, old, below), entry_of(name, new, below)
        _compare_values(f"f:{name}", before, after, added, removed, below)


def entry_of(name: str, container: dict[str, Any], node: Node) -> Any:
    """Return a member's value at `node`; keyed lists and sets become `Items` by path element."""
    return entry(container[name], node) if name in container else _ABSENT


def entry(value: Any, node: Node) -> Any:
    """Return the value; a keyed list or a set becomes `Items`."""
    if isinstance(value, list):
        keys = node.keys(value)
        if keys is not None:
            return Items({item_key(keys, item, node): item for item in value})
    return value


class Items(dict[str, Any]):
    """Items of a keyed list or set, by path element."""


_ABSENT = object()


def _compare_values(
    key: str, before: Any, after: Any, added: FieldSet, removed: FieldSet, node: Node
) -> None:
    if after is _ABSENT:
        removed[key] = _whole(before, node)
    elif before is _ABSENT:
        added[key] = _whole(after, node)
    elif node.atomic:
        if before != after:
            added[key] = {}
    elif isinstance(after, dict) and (isinstance(before, dict) or before is None):
        below_added: FieldSet = {}
        below_removed: FieldSet = {}
        if isinstance(after, Items):
            old_items = before if isinstance(before, Items) else {}
            for item in chain(old_items, (item for item in after if item not in old_items)):
                found = old_items.get(item, _ABSENT), after.get(item, _ABSENT)
                _compare_values(item, *found, below_added, below_removed, node.item())
        else:
            _compare_maps(before or {}, after, below_added, below_removed, node)
        if below_added:
            added[key] = below_added
        if below_removed:
            removed[key] = below_removed
    elif before != after or type(before) is not type(after):
        added[key] = {}


def _whole(value: Any, node: Node) -> FieldSet:
    """Return a path with all paths below it."""
    if not isinstance(value, dict) or node.atomic:
        return {}
    if isinstance(value, Items):
        below = {key: _whole(entry(item, node.item()), node.item()) for key, item in value.items()}
    else:
        below = {}
        for name, item in value.items():
            under = node.member(name)
            below[f"f:{name}"] = _whole(entry(item, under), under) if isinstance(item, dict | list) else {}
    return {MEMBER: {}, **below} if below else {}


def item_key(keys: Keys, item: Any, node: Node) -> str:
    """Return the path element of a list's item; `node` is the list's."""
    if not keys:
        return "v:" + _compact(item)
    named = {key: item.get(key, node.key_default(key)) for key in sorted(keys)}
    return "k:" + _compact(named)


_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
