"""Apply the defaults of a structural schema, in place. Nulls that are not allowed are removed first."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ktui.kube.structural.schema import Schema, additional, has_default, items, no_null


def apply_defaults(value: Any, schema: Schema) -> None:
    """Remove nulls that are not allowed, then set `default` for missing properties, recursively."""
    drop_nulls(value, schema)
    _default(value, schema)


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Remove members that are null, not nullable, and have no default to replace the null."""
    if schema is None:
        return
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        rest = additional(schema)[1]
        for name in list(value):
            sub = properties.get(name)
            if sub is not None and no_null(value[name], sub) and not has_default(sub):
                del value[name]
            else:
                drop_nulls(value[name], rest if sub is None else sub)
    elif isinstance(value, list):
        for item in value:
            drop_nulls(item, items(schema))


def _default(value: Any, schema: Schema | None) -> None:
    if schema is None:
        return
    if isinstance(value, dict):
        _default_members(value, schema)
    elif isinstance(value, list):
        each = items(schema)
        for at, item in enumerate(value):
            if each is not None and no_null(item, each):
                value[at] = deepcopy(each.get("default"))
            _default(value[at], each)


def _default_members(value: dict[str, Any], schema: Schema) -> None:
    properties = schema.get("properties") or {}
    for name, sub in properties.items():
        if has_default(sub) and (name not in value or no_null(value[name], sub)):
            value[name] = deepcopy(sub["default"])
    rest = additional(schema)[1]
    for name in value:
        sub = properties.get(name)
        if sub is None and rest is not None and no_null(value[name], rest):
            value[name] = deepcopy(rest.get("default"))
        _default(value[name], rest if sub is None else sub)
