"""Summarize what admission changed in a new object: fields at most two levels deep."""

from __future__ import annotations

from typing import Any

MOST = 8
Outline = dict[str, int]


def outline(obj: dict[str, Any]) -> Outline:
    """Return `spec.tolerations` and the like, each with its number of entries or its hash."""
    found: Outline = {}
    for name, value in obj.items():
        if name == "metadata":
            value = {key: value[key] for key in ("labels", "annotations", "finalizers") if key in value}
        if not isinstance(value, dict):
            found[name] = _mark(value)
            continue
        for key, inner in value.items():
            found[f"{name}.{key}"] = _mark(inner)
    return found


def changes(before: Outline, after: Outline) -> str:
    """Return `changed spec.priority, spec.tolerations`, or that nothing changed."""
    changed = [name for name, mark in after.items() if before.get(name) != mark]
    if not changed:
        return "changed nothing"
    more = f" and {len(changed) - MOST} more" if len(changed) > MOST else ""
    return f"changed {', '.join(changed[:MOST])}{more}"


def _mark(value: Any) -> int:
    return len(value) if isinstance(value, dict | list) else hash(value)
