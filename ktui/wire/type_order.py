"""The order in which Go prints the members of a built-in object: that of its structs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ktui.wire.schema import SchemaField, fields_by_name, fields_in_order, message_of

_TYPE_META = ("kind", "apiVersion")


def in_type_order(obj: Mapping[str, Any], api_version: str, kind: str) -> dict[str, Any]:
    """Return an object with its members in the order of its type, those of maps sorted."""
    message = message_of(api_version, kind)
    return dict(obj) if message is None else _struct(message, obj)


def as_go_writes(part: Mapping[str, Any], message: str) -> dict[str, Any]:
    """Return a part of an object that is stored as JSON, with those zero values that Go writes."""
    written: dict[str, Any] = {}
    for field in fields_in_order(message):
        value = part.get(field.name)
        if not field.repeated and isinstance(value, dict) and field.type:
            written[field.name] = as_go_writes(value, field.type)
        elif field.repeated and value:
            written[field.name] = _each(value, field)
        elif value or (value is not None and field.has("p")):
            written[field.name] = value
        elif not field.has("o"):
            written[field.name] = _zero(field)
    return written


def _zero(field: SchemaField) -> Any:
    if field.kind == "message" and not field.repeated:
        return as_go_writes({}, field.type)
    return None if field.repeated else _ZEROS.get(field.kind)


_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0}


def _each(value: Any, field: SchemaField) -> Any:
    """Return a list or a map, whose items may be of a type."""
    if not field.type:
        return value
    if isinstance(value, dict):
        return {key: _item(item, field.type) for key, item in value.items()}
    return [_item(item, field.type) for item in value]


def _item(value: Any, message: str) -> Any:
    return as_go_writes(value, message) if isinstance(value, dict) else value


def _struct(message: str, obj: Mapping[str, Any]) -> dict[str, Any]:
    known = fields_by_name(message)
    ordered = {name: _member(known.get(name), obj[name]) for name in _names(message) if name in obj}
    return ordered | {name: value for name, value in obj.items() if name not in ordered}


@cache
def _names(message: str) -> tuple[str, ...]:
    """Return the JSON names of a message's members in the order of its struct; first those of all objects."""
    found = list(_own_names(message))
    return *(name for name in _TYPE_META if name not in found), *found


def _own_names(message: str) -> Iterator[str]:
    for field in fields_in_order(message):
        if field.has("i"):
            yield from _own_names(field.type)
        else:
            yield field.name


def _member(field: SchemaField | None, value: Any) -> Any:
    if field is None:
        return value
    if field.is_map and isinstance(value, dict):
        return {key: _value(field, value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_value(field, item) for item in value]
    return _value(field, value)


def _value(field: SchemaField, value: Any) -> Any:
    typed = field.type and field.kind != "list" and isinstance(value, dict)
    return _struct(field.type, value) if typed else value


# metav1.ObjectMeta and ManagedFieldsEntry: members in the order in which Go encodes them.
OBJECT_META = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations",
    "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip
MANAGED_FIELDS = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")
