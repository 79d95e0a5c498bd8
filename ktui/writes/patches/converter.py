"""Errors of the converter that types an object after a strategic merge patch.

Upstream: FromUnstructured in apimachinery/pkg/runtime/converter.go, 1.36. It goes through the members in the
order of the struct, and stops at the first error.
"""

from __future__ import annotations

from ktui.kube.golang import base64text
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.wire.misfits import OWN_DECODERS, go_types, own_fault
from ktui.wire.schema import SchemaField, fields_in_order, message_of

_KINDS = {dict: "map", list: "slice", str: "string", int: "int64", float: "float64", bool: "bool"}
_SCALARS = {"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "double": "float64"}
# Pairs of kinds between which Go has a conversion, which the converter does not use.
_CONVERTIBLE = {("int64", "string"), ("float64", "int32"), ("float64", "int64")}


def conversion_fault(obj: Obj, resource: Resource) -> str:
    """Return the first error of the patched object, "" if there is none that is implemented here."""
    message = message_of(resource.api_version, resource.kind)
    return _struct_fault(message, obj) if message else ""


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
        return f"cannot restore {'map' if field.is_map else 'slice'} from {_KINDS[type(value)]}"
    items = value.values() if isinstance(value, dict) else value
    return next((fault for item in items if (fault := _fault(field, item, item_type))), "")


def _fault(field: SchemaField, value: object, go_type: str) -> str:
    if value is None:
        return ""
    kind = _KINDS[type(value)]
    if field.kind in OWN_DECODERS:
        return own_fault(field, value)
    if field.kind == "message":
        return _struct_fault(field.type, value) if isinstance(value, dict) else _no_struct(kind)
    if field.kind == "list":
        return _texts_fault(value)
    if field.kind == "bytes":
        return _bytes_fault(value)
    return _scalar_fault(value, _SCALARS[field.kind], go_type)


def _no_struct(kind: str) -> str:
    return f"cannot restore struct from: {kind}"


def _texts_fault(value: object) -> str:
    if not isinstance(value, list):
        return f"cannot restore slice from {_KINDS[type(value)]}"
    texts = (item for item in value if item is not None)
    return next((fault for item in texts if (fault := _scalar_fault(item, "string", "string"))), "")


def _bytes_fault(value: object) -> str:
    if isinstance(value, str):
        fault = base64text.fault(value)
        return f"error decoding from json: {fault}" if fault else ""
    return "" if isinstance(value, list) else f"cannot restore slice from {_KINDS[type(value)]}"


def _scalar_fault(value: object, wanted: str, go_type: str) -> str:
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        value = float(value)  # as Go decodes it
    kind = _KINDS[type(value)]
    if kind == wanted or (kind == "int64" and wanted in ("int32", "float64")):
        return ""
    if (kind, wanted) not in _CONVERTIBLE:
        return f"unrecognized type: {wanted}"
    whole = isinstance(value, float) and value.is_integer()
    return "" if whole else f"cannot convert {kind} to {go_type}"
