"""Sets of field paths in the format of managedFields (FieldsV1).

A set is a tree of dicts. `{}` is a path in the set without further paths below; `{".": {}, …}` is in the set
and has paths below; a dict without "." only leads to paths below. Keys: `f:name` for a field, `k:{…}` for an
item of a keyed list, `v:…` for an item of a set. The root itself is never a member of a set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import msgspec

from ktui.kube.json_trees import Obj, in_order
from ktui.writes.managedfields.nodes import Keys, Node

FieldSet = Obj

MEMBER = "."
_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
# Fields that no manager ever owns.
UNOWNED = frozenset({
    "name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields",
    "resourceVersion",
})  # fmt: skip
_ABSENT = object()


def union(*sets: FieldSet) -> FieldSet:
    """Return the paths that are in any of the sets, in one pass over each."""
    if len(sets) == 1:
        return sets[0]
    whole: FieldSet = {}
    for each in sets:
        _absorb(whole, each)
    return whole


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the paths of `one` that are not in `other`."""
    left: FieldSet = {}
    for key, mine in one.items():
        if key == MEMBER:
            continue
        its = other.get(key)
        if its is None:
            left[key] = mine
            continue
        below, member = difference(mine, its), _is_member(mine) and not _is_member(its)
        if below:
            left[key] = {MEMBER: {}, **below} if member else below
        elif member:
            left[key] = {}
    return left


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the paths that are in both sets."""
    found: FieldSet = {}
    for key in one if len(one) <= len(other) else other:
        if key == MEMBER or key not in one or key not in other:
            continue
        mine, its = one[key], other[key]
        below, member = intersection(mine, its), _is_member(mine) and _is_member(its)
        if below:
            found[key] = {MEMBER: {}, **below} if member else below
        elif member:
            found[key] = {}
    return found


def paths_of(fields: FieldSet, prefix: str = "") -> Iterator[str]:
    """Yield every path as text (`.spec.containers[name="a"].image`), each level before the next."""
    for key in sorted(fields):
        if key != MEMBER and _is_member(fields[key]):
            yield prefix + step_text(key)
    for key in sorted(fields):
        if key != MEMBER:
            yield from paths_of(fields[key], prefix + step_text(key))


def step_text(key: str) -> str:
    """Return a path element as text."""
    kind, _, rest = key.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        pairs = sorted(json.loads(rest).items())
        return f"[{','.join(f'{name}={_compact(value)}' for name, value in pairs)}]"
    return f"[={rest}]"


def _absorb(whole: FieldSet, other: FieldSet) -> None:
    """Add the paths of `other` in place; the trees of `other` are not shared."""
    for key, below in other.items():
        if key == MEMBER:
            continue
        mine = whole.get(key)
        if mine is None:
            mine = whole[key] = {}
            member = _is_member(below)
        else:
            member = _is_member(mine) or _is_member(below)
        _absorb(mine, below)
        if member and mine:
            mine.setdefault(MEMBER, {})


def _is_member(node: FieldSet) -> bool:
    return not node or MEMBER in node


def parsed(sent: Any) -> FieldSet:
    """Return the set that a client sent (upstream: structured-merge-diff, fieldpath/serialize.go).

    Elements of an unknown kind are left out. Raises ValueError for what is no set.
    """
    if sent is None:
        return {}
    if not isinstance(sent, dict):
        raise ValueError("a set of fields is an object")
    found: FieldSet = {}
    for key, below in sent.items():
        if key == MEMBER:
            continue
        if key[1:2] != ":":
            raise ValueError(f"no path element: {key}")
        if key[0] == "i":
            int(key[2:])
        elif key[0] in "kv":
            value = json.loads(key[2:])
            if key[0] == "k" and not isinstance(value, dict):
                raise ValueError(f"no key of an item: {key}")
        elif key[0] != "f":
            continue
        found[key] = parsed(below)
    return {MEMBER: {}, **found} if found and MEMBER in sent else found


def ordered(fields: FieldSet) -> FieldSet:
    """Return the same set with keys in kube-apiserver's order."""
    place = _place if any(map(_WITH_NUMBER, fields)) else None
    keys = in_order(fields, place)
    return {key: ordered(below) if (below := fields[key]) else {} for key in keys}


_WITH_NUMBER = re.compile(r'k:.*":[-0-9]').match
_RANKS = {int: 0, float: 0, str: 1, bool: 2}


def _place(key: str) -> tuple[str, list[tuple[str, int, Any]]]:
    """Return what an element is sorted by: of a keyed list, the values of the keys, numbers before texts."""
    try:
        named = msgspec.json.decode(key[2:], type=dict[str, Any]) if key.startswith("k:") else None
        if named is None:
            return key, []
        ranked = [(name, _RANKS.get(type(value), 3), value) for name, value in named.items()]
        return "k:", [(name, rank, value if rank < 3 else str(value)) for name, rank, value in ranked]
    except (ValueError, RecursionError):  # as a client sent it
        return key, []


@dataclass(slots=True)
class Changes:
    """Paths with a new value (`set`), and removed paths (`removed`)."""

    set: FieldSet = field(default_factory=dict)
    removed: FieldSet = field(default_factory=dict)


def compare(old: Obj, new: Obj, root: Node) -> Changes:
    """Return the changes of a whole object; `root` has its type."""
    changes = Changes()
    bare_old, bare_new = _without_unowned(old), _without_unowned(new)
    _compare_maps(bare_old, bare_new, changes.set, changes.removed, root)
    return changes


def _without_unowned(obj: Obj) -> Obj:
    bare = {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}
    metadata = bare.get("metadata") or {}
    bare["metadata"] = {name: value for name, value in metadata.items() if name not in UNOWNED}
    return bare


def _compare_maps(old: Obj, new: Obj, added: FieldSet, removed: FieldSet, node: Node) -> None:
    for name in chain(old, (name for name in new if name not in old)):
        # Without a schema, 1 may replace true, which are equal in Python.
        if node.typed and name in old and name in new and old[name] == new[name]:
            continue
        below = node.member(name)
        before, after = entry_of(name, old, below), entry_of(name, new, below)
        _compare_values(f"f:{name}", before, after, added, removed, below)


def entry_of(name: str, container: Obj, node: Node) -> Any:
    """Return a member's value at `node`; keyed lists and sets become `Items` by path element."""
    return entry(container[name], node) if name in container else _ABSENT


def entry(value: Any, node: Node) -> Any:
    """Return the value; a keyed list or a set becomes `Items`."""
    keys = node.keys(value) if isinstance(value, list) else None
    if keys is None:
        return value
    found = Items()
    for item in value:
        key = item_key(keys, item, node)
        if key not in found:
            found[key] = item
        elif isinstance(first := found[key], Duplicates):
            first.append(item)
        else:
            found[key] = Duplicates([first, item])
    return found


class Items(Obj):
    """Items of a keyed list or set, by path element."""


class Duplicates(list[Any]):
    """Items of a list with the same path element, which are owned as one value."""


def _compare_values(
    key: str, before: Any, after: Any, added: FieldSet, removed: FieldSet, node: Node
) -> None:
    """Note how a value changed (upstream: structured-merge-diff, typed/compare.go).

    A value of another type is a new one: what the old one held is removed, what the new one holds is added.
    Null instead of a container only removes what that held.
    """
    if after is _ABSENT:
        removed[key] = _whole(before, node)
    elif before is _ABSENT:
        added[key] = _whole(after, node)
    elif isinstance(before, Duplicates) or isinstance(after, Duplicates):
        _compare_duplicates(key, before, after, added, removed, node)
    elif node.atomic or not (_holds(before) or _holds(after)):
        nothing = node.typed and not (before or after) and {type(before), type(after)} == {dict, type(None)}
        if not nothing and (before != after or type(before) is not type(after)):
            added[key] = {}
    else:
        below_added: FieldSet = {}
        below_removed: FieldSet = {}
        was, now = _container(before), _container(after)
        if isinstance(was, Items) or isinstance(now, Items):
            for item in chain(was, (item for item in now if item not in was)):
                found = was.get(item, _ABSENT), now.get(item, _ABSENT)
                _compare_values(item, *found, below_added, below_removed, node.item())
        else:
            _compare_maps(was, now, below_added, below_removed, node)
        if not (isinstance(before, dict | None) and isinstance(after, dict | None)):
            added[key] = as_member(below_added)
        elif below_added:
            added[key] = below_added
        if below_removed:
            removed[key] = below_removed


def _holds(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _container(value: Any) -> Obj:
    return value if isinstance(value, dict) else {}


def as_member(below: FieldSet) -> FieldSet:
    return {MEMBER: {}, **below} if below else {}


def _compare_duplicates(
    key: str, before: Any, after: Any, added: FieldSet, removed: FieldSet, node: Node
) -> None:
    """Note how items with the same key changed, of which there are or were several."""
    if isinstance(before, Duplicates) and isinstance(after, Duplicates):
        if before != after:
            added[key] = {}
    elif isinstance(after, Duplicates):
        added[key], removed[key] = {}, _whole(before, node)
    else:
        added[key], removed[key] = _whole(after, node), {}


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
    return as_member(below)


def item_key(keys: Keys, item: Any, node: Node) -> str:
    """Return the path element of a list's item, without the keys that it lacks; `node` is the list's."""
    if not keys:
        return "v:" + _compact(item)
    named = {}
    for key in sorted(keys):
        if key in item or node.key_default(key) is not None:
            named[key] = item.get(key, node.key_default(key))
    return "k:" + _compact(named)
