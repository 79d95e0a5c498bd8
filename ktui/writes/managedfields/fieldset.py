"""Sets of field paths in the format of managedFields (FieldsV1).

A set is a tree of dicts. `{}` is a path in the set without further paths below; `{".": {}, …}` is in the set
and has paths below; a dict without "." only leads to paths below. Keys: `f:name` for a field, `k:{…}` for an
item of a keyed list, `v:…` for an item of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ktui.kube.large_trees import in_order

FieldSet = dict[str, Any]

MEMBER = "."


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the paths that are in either set."""
    return _build(one, other, lambda a, b: a or b)


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the paths of `one` that are not in `other`."""
    return _build(one, other, lambda a, b: a and not b)


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """Return the paths that are in both sets."""
    return _build(one, other, lambda a, b: a and b)


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


def _build(one: FieldSet, other: FieldSet, keep: Any) -> FieldSet:
    built = _node(one, other, keep)
    return built or {}


def _node(one: FieldSet, other: FieldSet, keep: Any) -> FieldSet | None:
    """Return the combined children of a node, None if nothing is left. The root itself is never a member."""
    children: FieldSet = {}
    alone_one, alone_other = keep(True, False), keep(False, True)
    for key in chain(one, (key for key in other if key not in one)):
        if key == MEMBER:
            continue
        a, b = one.get(key), other.get(key)
        if a is None or b is None:  # what only one of them has is either kept unchanged or dropped
            if alone_other if a is None else alone_one:
                children[key] = b if a is None else a
            continue
        below = _node(a, b, keep)
        member = keep(_is_member(a), _is_member(b))
        if below:
            children[key] = {MEMBER: {}, **below} if member else below
        elif member:
            children[key] = {}
    return children or None


def _is_member(node: FieldSet | None) -> bool:
    return node is not None and (not node or MEMBER in node)


def ordered(fields: FieldSet) -> FieldSet:
    """Return the same set with keys in kube-apiserver's order."""
    return {key: ordered(below) if (below := fields[key]) else {} for key in in_order(fields)}
