"""Treat null as Go's decoder does: a member counts as missing, an item as the zero value of its type."""

from typing import Any

from ktui.wire.schema import SchemaField, fields_by_name, message_of

_ZEROS: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "double": 0, "quantity": "0"}


def clear_nulls(obj: dict[str, Any], api_version: str, kind: str) -> None:
    """Remove the nulls from an object of a known kind, in place. Its members must have the right types."""
    message = message_of(api_version, kind)
    if message is not None and _holds_null(obj):
        _clear(message, obj)


def _holds_null(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(item is None or _holds_null(item) for item in items)


def _clear(message: str, obj: dict[str, Any]) -> None:
    known = fields_by_name(message)
    for name, value in [*obj.items()]:
        field = known.get(name)
        if value is None:
            del obj[name]
        elif field is None:
            continue
        elif field.repeated:
            _clear_items(field, value)
        elif field.kind == "message":
            _clear(field.type, value)


def _clear_items(field: SchemaField, items: Any) -> None:
    for at, item in [*(items.items() if field.is_map else enumerate(items))]:
        if item is None:
            items[at] = {} if field.kind == "message" else _ZEROS.get(field.kind)
        elif field.kind == "message":
            _clear(field.type, item)
