"""fmt's %v and %T of JSON values, which some of upstream's errors contain."""

from __future__ import annotations

from typing import Any

_TYPES = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    dict: "map[string]interface {}",
    list: "[]interface {}",
}


def go_type(value: Any) -> str:
    """Return the Go type of a decoded JSON value: `map[string]interface {}`, `int64`, `<nil>` …"""
    return _TYPES.get(type(value), "<nil>")


def go_value(value: Any) -> str:
    """Format a value as %v does: `map[a:1 b:[x y]]`, keys sorted, strings without quotes."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_value, value))}]"
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)
