"""The converter that types an object after a strategic merge patch or an apply: its errors and its numbers.

Upstream: FromUnstructured in apimachinery/pkg/runtime/converter.go, 1.36. It goes through the members in the
order of the struct, and stops at the first error.
"""

from __future__ import annotations

from typing import Any

from ktui.kube.golang import base64text
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.wire.misfits import OWN_DECODERS, go_types, own_fault
from ktui.wire.schema import SchemaField, fields_by_name, fields_in_order, message_of

_KINDS = {dict: "map", list: "slice", str: "string", int: "int64", float: "float64", bool: "bool"}
_INT64 = range(-(1 << 63), 1 << 63)
_SCALARS = {"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "double": "float64"}
# Pairs of kinds between which Go has a conversion, which the converter does not use.
_CONVERTIBLE = {("int64", "string"), ("float64", "int32"), ("float64", "int64"), ("float64", "uint8")}


def conversion_fault(obj: Obj, resource: Resource) -> str:
    """Return the first error of the patched object, "" if there is none that is implemented here."""
    message = message_of(resource.api_version, resource.kind)
    if message is None:
        return ""
    names = (obj.get(name) for name in ("kind", "apiVersion"))
    faults = (_scalar_fault(name, "string", "string") for name in names if name is not None)
    return next(filter(None, faults), "") or _struct_fault(message, obj)


def _struct_fault(message: str, obj: Obj) -> str:
    for field in fields_in_order(message):
        if field.has("i"):
            fault = _struct_fault(field.type, obj)
        else:
            fault = _member_fault(message, field, obj.get(field.name))
        if fault:
            return fault
    return ""


def _member_fault(message: str, field: SchemaField, value: object) -> str:
    _, item_type = go_types(message, field)
    if not field.repeated:
        return _fault(field, value, item_type)
    if value is None:
        return ""
    if not isinstance(value, dict if field.is_map else list):
        return f"cannot restore {'map' if field.is_map else 'slice'} from {_kind(value)}"
    items = value.values() if isinstance(value, dict) else value
    return next((fault for item in items if (fault := _fault(field, item, item_type))), "")


def _fault(field: SchemaField, value: object, go_type: str) -> str:
    if value is None:
        return ""
    if field.kind in OWN_DECODERS:
        return own_fault(field, value)
    if field.kind == "message":
        if isinstance(value, dict):
            return _struct_fault(field.type, value)
        return f"cannot restore struct from: {_kind(value)}"
    if field.kind == "list":
        return _texts_fault(value)
    if field.kind == "bytes":
        return _bytes_fault(value)
    return _scalar_fault(value, _SCALARS[field.kind], go_type)


def _kind(value: object) -> str:
    """Return Go's kind of a decoded JSON value; a number too large for int64 is a float64."""
    number = isinstance(value, int) and value not in _INT64
    return "float64" if number else _KINDS[type(value)]


def _texts_fault(value: object) -> str:
    if not isinstance(value, list):
        return f"cannot restore slice from {_kind(value)}"
    texts = (item for item in value if item is not None)
    return next((fault for item in texts if (fault := _scalar_fault(item, "string", "string"))), "")


def _bytes_fault(value: object) -> str:
    if isinstance(value, str):
        fault = base64text.fault(value)
        return f"error decoding from json: {fault}" if fault else ""
    if not isinstance(value, list):
        return f"cannot restore slice from {_kind(value)}"
    octets = (item for item in value if item is not None)
    return next((fault for item in octets if (fault := _scalar_fault(item, "uint8", "uint8"))), "")


def _scalar_fault(value: object, wanted: str, go_type: str) -> str:
    kind = _kind(value)
    if kind == wanted or (kind == "int64" and wanted in ("int32", "uint8", "float64")):
        return ""
    if (kind, wanted) not in _CONVERTIBLE:
        return f"unrecognized type: {wanted}"
    whole = isinstance(value, int | float) and kind == "float64" and float(value).is_integer()
    return "" if whole else f"cannot convert {kind} to {go_type}"


def go_numbers(value: Any) -> Any:
    """Return decoded JSON with the numbers that Go decodes into an interface: int64 or else float64."""
    if isinstance(value, dict):
        return {name: go_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [go_numbers(item) for item in value]
    return float(value) if isinstance(value, int) and value not in _INT64 else value


def converted(obj: Obj, resource: Resource) -> Obj:
    """Return an object without fault, with its numbers as Go converts them: the lower bits of an int64.

    That is how `replicas: 2147483648` becomes -2147483648.
    """
    new = copied(obj)
    if message := message_of(resource.api_version, resource.kind):
        _convert(message, new)
    return new


def _convert(message: str, obj: Obj) -> None:
    known = fields_by_name(message)
    for name in known.keys() & obj.keys():
        field, value = known[name], obj[name]
        if not field.repeated:
            obj[name] = _converted(field, value)
        elif isinstance(value, dict):
            obj[name] = {key: _converted(field, item) for key, item in value.items()}
        elif isinstance(value, list):
            obj[name] = [_converted(field, item) for item in value]


def _converted(field: SchemaField, value: Any) -> Any:
    if field.kind == "message" and isinstance(value, dict):
        _convert(field.type, value)
    if field.kind == "bytes" and isinstance(value, list):
        return [0 if item is None else int(item) % 256 for item in value]
    if field.kind not in ("int32", "int64") or not isinstance(value, int | float):
        return value
    whole = int(value)
    return _lower(whole if whole in _INT64 else _INT64[0], int(field.kind[3:]))


def _lower(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half
