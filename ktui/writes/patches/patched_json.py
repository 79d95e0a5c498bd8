"""Format a patched object's JSON as kube-apiserver quotes it in errors.

Upstream's patch library decodes only the containers that a patch changes, and encodes those with sorted
members; all others keep the order of the type.
"""

from __future__ import annotations

import json
from typing import Any

Touched = dict[str, Any]


def of_merge_patch(patch: Any) -> Touched:
    """Return the containers that a merge patch changes, as a tree of member names."""
    if not isinstance(patch, dict):
        return {}
    return {name: of_merge_patch(value) for name, value in patch.items() if isinstance(value, dict)}


def of_json_patch(operations: list[Any]) -> Touched:
    """Return the containers on the paths of a JSON patch's operations."""
    touched: Touched = {}
    for operation in operations:
        for member in ("path", "from"):
            pointer = operation.get(member) if isinstance(operation, dict) else None
            if isinstance(pointer, str):
                _mark(touched, pointer)
    return touched


def patched_text(patched: Any, touched: Touched | None) -> str:
    """Compact JSON; the outermost object counts as touched. `touched` None: a custom resource, all sorted."""
    arranged = patched if touched is None else _arranged(patched, touched)
    return json.dumps(arranged, separators=(",", ":"), ensure_ascii=False, sort_keys=touched is None)


def _mark(touched: Touched, pointer: str) -> None:
    for token in pointer.split("/")[1:-1]:
        touched = touched.setdefault(token.replace("~1", "/").replace("~0", "~"), {})


def _arranged(value: Any, touched: Touched) -> Any:
    if isinstance(value, list):
        return [_inner(item, touched.get(str(at))) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return {name: _inner(value[name], touched.get(name)) for name in sorted(value)}


def _inner(value: Any, touched: Touched | None) -> Any:
    return value if touched is None else _arranged(value, touched)
