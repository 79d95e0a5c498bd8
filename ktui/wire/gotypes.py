"""What Go's JSON decoder says of a value that does not fit its field.

Like Go it names the innermost struct, the path from the outermost one without indexes
and map keys, and the field's type: `json: cannot unmarshal number into Go struct field
ObjectMeta.metadata.labels of type map[string]string`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ktui.kube.golang import base64std
from ktui.wire.schema import META, Field, fields, message_of

_SCALARS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "string": ("string", str),
    "bool": ("bool", bool),
    "int32": ("int32", int),
    "int64": ("int64", int),
    "double": ("float64", (int, float)),
    "bytes": ("[]uint8", str),
}
_LIMITS = {"int32": 1 << 31, "int64": 1 << 63}


def go_mismatch(obj: Mapping[str, Any], api_version: str, kind: str) -> str:
    """The first misfit of an object, "" when Go's decoder would find none that is known here.

    A kind without a message is a custom resource: Go decodes the metadata alone.
    """
    message = message_of(api_version, kind)
    if message is not None:
        return next(_of_struct(message, obj, ()), "")
    return next(_of_struct(META, obj.get("metadata") or {}, ()), "")


def _of_struct(message: str, value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    known = dict(_members(message))
    for name, member in value.items():
        field = known.get(name)
        if field is not None and member is not None:
            yield from _of_field(field, member, _struct_name(message), (*path, name))


def _members(message: str) -> Iterator[tuple[str, Field]]:
    """Fields by JSON name, those of inlined structs among them."""
    for field in fields(message):
        if field.has("i"):
            yield from _members(field.type)
        else:
            yield field.name, field


def _of_field(field: Field, value: Any, struct: str, path: tuple[str, ...]) -> Iterator[str]:
    if not field.repeated:
        yield from _of_value(field, value, struct, path)
    elif not isinstance(value, Mapping if field.is_map else list):
        yield _misfit(_kind(value), struct, path, _type(field))
    else:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _of_value(field, item, struct, path)


def _of_value(field: Field, value: Any, struct: str, path: tuple[str, ...]) -> Iterator[str]:
    if value is None:
        return
    if field.kind == "message":
        if isinstance(value, Mapping):
            yield from _of_struct(field.type, value, path)
        else:
            yield _misfit(_kind(value), struct, path, _item_type(field))
    elif field.kind in _SCALARS and not _fits(field.kind, value):
        number = isinstance(value, int | float) and field.kind in _LIMITS and not isinstance(value, bool)
        yield _misfit(f"number {value}" if number else _kind(value), struct, path, _item_type(field))
    elif field.kind == "bytes" and (illegal := base64std.fault(value)):
        yield illegal


def _fits(kind: str, value: Any) -> bool:
    if isinstance(value, bool) and kind != "bool":
        return False
    if kind in _LIMITS:
        return isinstance(value, int) and -_LIMITS[kind] <= value < _LIMITS[kind]
    return isinstance(value, _SCALARS[kind][1])


def _misfit(found: str, struct: str, path: tuple[str, ...], wanted: str) -> str:
    return f"json: cannot unmarshal {found} into Go struct field {struct}.{'.'.join(path)} of type {wanted}"


def _type(field: Field) -> str:
    if field.is_map:
        return f"map[string]{_item_type(field)}"
    return f"[]{_item_type(field)}" if field.repeated else _item_type(field)


def _item_type(field: Field) -> str:
    if field.kind == "message":
        version, name = field.type.split(".")[-2:]
        return f"{version}.{name}"
    return _SCALARS[field.kind][0] if field.kind in _SCALARS else field.kind


def _struct_name(message: str) -> str:
    return message.rpartition(".")[2]


def _kind(value: Any) -> str:
    """What Go's decoder calls a JSON value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list):
        return "array"
    return "string" if isinstance(value, str) else "number"
