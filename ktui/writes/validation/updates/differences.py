"""The differences between two trees as lines, for the message of a refused change of a whole spec.

Upstream's lines are go-cmp's, over internal Go types, and deliberately unstable. These name each changed
field by its path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.golang.formatting import to_json


def differences(old: Any, new: Any, path: str) -> str:
    """Return `- path: value` for the old and `+ path: value` for the new value, one per line."""
    return "".join(f"{line}\n" for line in _lines(old, new, path))


def _lines(old: Any, new: Any, path: str) -> Iterator[str]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from _lines(old.get(name), new.get(name), f"{path}.{name}")
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            yield from _lines(_item(old, index), _item(new, index), f"{path}[{index}]")
    else:
        if old is not None:
            yield f"- {path}: {to_json(old).decode()}"
        if new is not None:
            yield f"+ {path}: {to_json(new).decode()}"


def _item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else None
