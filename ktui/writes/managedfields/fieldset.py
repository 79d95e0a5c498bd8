"""Sets of field paths in the format of managedFields (FieldsV1).

A set is a tree of dicts. `{}` is a path in the set without further paths below; `{".": {}, …}` is in the set
and has paths below; a dict without "." only leads to paths below. Keys: `f:name` for a field, `k:{…}` for an
item of a keyed list, `v:…` for an item of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ktui.kube.json_trees import in_order

FieldSet = dict[str, Any]

MEMBER = "."


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
    return _without(one, other) or {}


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the paths that are in both sets."""
    return _common(one, other) or {}


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


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# The root itself is never a member of a set.


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


def _without(one: FieldSet, other: FieldSet) -> FieldSet | None:
    left: FieldSet = {}
    for key, mine in one.items():
        if key == MEMBER:
            continue
        its = other.get(key)
        if its is None:
            left[key] = mine
            continue
        below, member = _without(mine, its), _is_member(mine) and not _is_member(its)
        if below:
            left[key] = {MEMBER: {}, **below} if member else below
        elif member:
            left[key] = {}
    return left or None


def _common(one: FieldSet, other: FieldSet) -> FieldSet | None:
    found: FieldSet = {}
    for key in one if len(one) <= len(other) else other:
        if key == MEMBER or key not in one or key not in other:
            continue
        mine, its = one[key], other[key]
        below, member = _common(mine, its), _is_member(mine) and _is_member(its)
        if below:
            found[key] = {MEMBER: {}, **below} if member else below
        elif member:
            found[key] = {}
    return found or None


def _is_member(node: FieldSet | None) -> bool:
    return node is not None and (not node or MEMBER in node)


def ordered(fields: FieldSet) -> FieldSet:
    """Return the same set with keys in kube-apiserver's order."""
    return {key: ordered(below) if (below := fields[key]) else {} for key in in_order(fields)}
