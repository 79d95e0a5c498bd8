"""The errors of upstream's converter for decoded JSON, which it uses after a strategic merge patch."""

from __future__ import annotations

from typing import Any

from ktui.kube.golang import base64text
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.wire.schema import SchemaField, fields_by_name, message_of

_KINDS = {dict: "map", list: "slice", str: "string", int: "int64", float: "float64", bool: "bool"}
_SCALARS = {"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "double": "float64"}
# Pairs of kinds between which Go has a conversion, which the converter does not use.
_CONVERTIBLE = {("int64", "string"), ("float64", "int32"), ("float64", "int64")}


def conversion_fault(obj: Obj, resource: Resource) -> str:
    """Return the first error in an object, "" if there is none that is implemented here."""
    message = message_of(resource.api_version, resource.kind)
    return _struct_fault(message, obj) if message else ""


def _struct_fault(message: str, obj: Obj) -> str:
    members = ((field, obj.get(name)) for name, field in fields_by_name(message).items())
    return next((fault for field, value in members if (fault := _member_fault(field, value))), "")


def _member_fault(field: SchemaField, value: Any) -> str:
    if not field.repeated:
        return _fault(field, value)
    if value is not None and not isinstance(value, dict if field.is_map else list):
        return f"cannot restore {'map' if field.is_map else 'slice'} from {_KINDS[type(value)]}"
    items = value.values() if isinstance(value, dict) else value or ()
    return next((fault for item in items if (fault := _fault(field, item))), "")


def _fault(field: SchemaField, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        value = float(value)  # as Go decodes it
    kind, wanted = _KINDS[type(value)], _SCALARS.get(field.kind)
    if field.kind == "message":
        return _struct_fault(field.type, value) if kind == "map" else f"cannot restore struct from: {kind}"
    if field.kind == "bytes":
        fault = base64text.fault(value) if kind == "string" else ""
        return f"error decoding from json: {fault}" if fault else ""
    if wanted is None or kind == wanted or (kind == "int64" and wanted in ("int32", "float64")):
        return ""
    if (kind, wanted) not in _CONVERTIBLE:
        return f"unrecognized type: {wanted}"
    whole = kind == "float64" and value.is_integer()
    return "" if whole else f"cannot convert {kind} to {wanted}"
