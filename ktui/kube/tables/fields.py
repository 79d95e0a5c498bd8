"""Read an object's JSON: members that may be missing, lists as text, selectors as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Obj = Mapping[str, Any]

NONE = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"


def dig(obj: Any, path: str, default: Any = None) -> Any:
    """Return the member at a dotted path; `default` if it or a parent is missing or null."""
    for key in path.split("."):
        if not isinstance(obj, dict):
            return default
        obj = obj.get(key)
    return default if obj is None else obj


def items(obj: Any, path: str) -> list[Any]:
    """Return the list at a dotted path; [] if it is missing."""
    found = dig(obj, path)
    return found if isinstance(found, list) else []


def size(obj: Any, path: str) -> int:
    """Return the number of members of the map or list at a dotted path; 0 if it is missing."""
    found = dig(obj, path)
    return len(found) if isinstance(found, list | dict) else 0


def joined(values: Iterable[Any], key: str) -> str:
    """Return the member `key` of each value, comma separated."""
    return ",".join(str(value.get(key, "")) for value in values)


def containers(obj: Obj, template: str) -> list[str]:
    """Return the names and the images of a pod template's containers, each comma separated."""
    found = items(obj, f"{template}.spec.containers")
    return [joined(found, "name"), joined(found, "image")]


def labels_text(labels: Mapping[str, str] | None) -> str:
    """Return `k=v,…` sorted by key; `<none>` without labels."""
    return ",".join(f"{k}={v}" for k, v in sorted((labels or {}).items())) or NONE


def selector_text(selector: Obj | None) -> str:
    """Format a LabelSelector object as `a=b,c in (d,e),!f`; `<none>` if it is empty."""
    selector = selector or {}
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    terms += [(e["key"], _expression(e)) for e in selector.get("matchExpressions") or []]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0])) or NONE


def _expression(expression: Obj) -> str:
    key, operator = expression["key"], expression.get("operator")
    values = ",".join(sorted(expression.get("values") or []))
    match operator:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "DoesNotExist":
            return f"!{key}"
        case _:
            return str(key)


def first_few(values: list[str], limit: int = 3) -> str:
    """Return the first `limit` values, comma separated, then ` + N more...`."""
    shown = ",".join(values[:limit])
    return f"{shown} + {len(values) - limit} more..." if len(values) > limit else shown


def condition(obj: Obj, kind: str) -> Obj:
    """Return the condition of type `kind` in status.conditions; {} if it is absent."""
    return next((c for c in items(obj, "status.conditions") if c.get("type") == kind), {})


def deleting(obj: Obj) -> bool:
    """True if the object waits for its finalizers or grace period."""
    return bool(dig(obj, "metadata.deletionTimestamp"))
