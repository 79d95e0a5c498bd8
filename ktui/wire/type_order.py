"""The order in which Go prints the members of a built-in object: that of its structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from ktui.kube.json_trees import Obj
from ktui.wire.schema import SchemaField, fields_by_name, fields_in_order, message_of

_TYPE_META = ("kind", "apiVersion")


def in_type_order(obj: Mapping[str, Any], api_version: str, kind: str) -> dict[str, Any]:
    """Return an object with its members in the order of its type, those of maps sorted."""
    message = message_of(api_version, kind)
    return dict(obj) if message is None else _struct(dict(obj), message)


def as_go_writes(part: Mapping[str, Any], message: str) -> dict[str, Any]:
    """Return a part of an object that is stored as JSON, with those zero values that Go writes."""
    written: dict[str, Any] = {}
    for field in fields_in_order(message):
        value = part.get(field.name)
        typed = field.repeated or (isinstance(value, dict) and field.type)
        if value or (value is not None and not field.repeated and (typed or field.has("p"))):
            written[field.name] = _converted(value, field, as_go_writes) if typed else value
        elif not field.has("o"):
            written[field.name] = _zero(field)
    return written


def _zero(field: SchemaField) -> Any:
    if field.kind == "message" and not field.repeated:
        return as_go_writes({}, field.type)
    return None if field.repeated else _ZEROS.get(field.kind)


_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0}


def _converted(value: Any, field: SchemaField, convert: Callable[[Obj, str], Obj]) -> Any:
    """Return a value with the objects of the field's type in it converted, a map sorted."""

    def one(item: Any) -> Any:
        return convert(item, field.type) if typed and isinstance(item, dict) else item

    typed = field.type and field.kind != "list"
    if field.is_map and isinstance(value, dict):
        return {key: one(value[key]) for key in sorted(value)}
    return [one(item) for item in value] if isinstance(value, list) else one(value)


def _struct(obj: Obj, message: str) -> Obj:
    known = fields_by_name(message)
    ordered = {name: obj[name] for name in _names(message) if name in obj} | obj
    return {n: _converted(value, known[n], _struct) if n in known else value for n, value in ordered.items()}


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


# metav1.ObjectMeta and ManagedFieldsEntry: members in the order in which Go encodes them.
OBJECT_META = (
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations",
    "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip
MANAGED_FIELDS = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")
