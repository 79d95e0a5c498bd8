"""Copy JSON trees and limit their depth."""

from __future__ import annotations

import json
import marshal
from collections.abc import Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


LARGE_BYTES = 128 * 1024


def copied(tree: T) -> T:
    """Return a deep copy, five times as fast as `copy.deepcopy`, for the types that JSON has.

    A tree of more than LARGE_BYTES is copied in Python, which lets other threads run meanwhile.
    """
    text = marshal.dumps(cast("Any", tree))
    own: T = marshal.loads(text) if len(text) <= LARGE_BYTES else _copied(tree)
    return own


def _copied(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _copied(value) for name, value in tree.items()}
    return [_copied(item) for item in tree] if isinstance(tree, list) else tree


def deeper_than(tree: Any, most: int) -> bool:
    """Return True if a tree has more than `most` levels of objects and lists; without recursion."""
    level = [tree]
    for _ in range(most + 1):
        level = [value for value in level if isinstance(value, dict | list)]
        if not level:
            return False
        level = [v for inner in level for v in (inner.values() if isinstance(inner, dict) else inner)]
    return True


def hashed(value: Any) -> Hashable:
    """Return a key that is equal for equal JSON values: in a set of them an item is found at once."""
    if isinstance(value, dict | list):
        return ("", json.dumps(value, sort_keys=True))
    return cast("Hashable", value)
