"""Table cells of custom resources: additionalPrinterColumns."""

from __future__ import annotations

import json
from typing import Any

from ktui.kube.golang.jsonencode import escaped
from ktui.kube.resources import Resource, TableColumn
from ktui.kube.tables.age import age
from ktui.kube.tables.fields import Obj, dig
from ktui.kube.tables.jsonpath import first


def custom_cells(resource: Resource, obj: Obj) -> list[Any]:
    """Return the name, then one cell per column; null if the object has no such value."""
    return [dig(obj, "metadata.name", ""), *(_cell(column, obj) for column in resource.columns)]


def _cell(column: TableColumn, obj: Obj) -> Any:
    value = first(column.source, obj)
    if value is None:
        return None
    match column.type:
        case "string":
            return _text(value)
        case "date":
            return age(value) if isinstance(value, str) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "integer" | "number":
            return _number(column.type, value)
        case _:
            return None


def _number(kind: str, value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if kind == "integer" else value


def _text(value: Any) -> str:
    """Format a value as Go's fmt does; maps and lists as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return escaped(text.encode("utf-8", "replace")).decode()
