"""The errors of Go's JSON decoder for values that do not fit their types.

As in Go, errors have the innermost struct, the path from the outermost struct without indexes and map keys,
but with the names of embedded structs, and the field's type:

    json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type map[string]string
    json: cannot unmarshal string into Go struct field Probe.spec.….ProbeHandler.exec of type v1.ExecAction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from ktui.kube.golang import base64text
from ktui.kube.golang.times import RFC3339_MICRO, time_fault
from ktui.kube.quantity import quantity_fault
from ktui.wire.schema import META, SchemaField, fields, fields_by_name, message_of, named_types

_SCALARS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "string": ("string", str), "bool": ("bool", bool), "int32": ("int32", int), "int64": ("int64", int),
    "double": ("float64", (int, float)), "bytes": ("[]uint8", str), "intstr": ("int32", int),
    "time": ("string", str), "microtime": ("string", str),
}  # fmt: skip
_LIMITS = {"int32": 1 << 31, "int64": 1 << 63, "intstr": 1 << 31}
# Parsers of kinds that are written as a string, for their error for an invalid one.
_OF_TEXT: dict[str, Callable[[Any], str]] = {
    "bytes": base64text.fault,
    "quantity": quantity_fault,
    "time": time_fault,
    "microtime": partial(time_fault, layout=RFC3339_MICRO),
}
OWN_DECODERS = {
    "quantity": "resource.Quantity",
    "intstr": "intstr.IntOrString",
    "time": "v1.Time",
    "microtime": "v1.MicroTime",
    "raw": "runtime.RawExtension",
    "fieldsv1": "v1.FieldsV1",
    "rawjson": "v1.JSON",
    "schemaOrBool": "v1.JSONSchemaPropsOrBool",
    "schemaOrArray": "v1.JSONSchemaPropsOrArray",
    "schemaOrStrings": "v1.JSONSchemaPropsOrStringArray",
}
"""Kinds whose Go types decode themselves. Their errors end the decoding; others are kept while it goes on."""


class _Misfit(Exception):
    """A value does not fit. `path` grows while the error propagates, so values that fit need no path.

    `wanted` is the type, if that is not the one of the field (of its items, for an `item`); `whole` the whole
    message of a parser; `last` if it ends the decoding.
    """

    def __init__(self, found: str, wanted: str = "", whole: str = "", *, item: bool = True) -> None:
        super().__init__(found)
        self.found, self.wanted, self.whole, self.item = found, wanted, whole, item
        self.struct = ""
        self.path: list[str] = []
        self.last = False

    def within(self, message: str, name: str) -> None:
        """Enter the struct and the field that the value is in."""
        path, types = _go_fields(message)[name]
        self.path.append(path)
        self.wanted = self.wanted or types[self.item]
        self.struct = self.struct or message.rpartition(".")[2]

    @property
    def text(self) -> str:
        place = f"struct field {self.struct}.{'.'.join(reversed(self.path))}" if self.path else "value"
        return self.whole or f"json: cannot unmarshal {self.found} into Go {place} of type {self.wanted}"


def go_mismatch(obj: Mapping[str, Any], api_version: str, kind: str) -> str:
    """Return the error for an object, "" if Go's decoder would report none that is implemented here.

    It is the first of a type that decodes itself, else the first (upstream: decode.go of sigs.k8s.io/json).
    A kind without a message is a custom resource: Go decodes only its metadata.
    """
    message = message_of(api_version, kind)
    if message is None:
        metadata = obj.get("metadata")
        if not isinstance(metadata, Mapping):
            return ""
        message, obj = META, metadata
    first = _misfit(message, obj)
    if first is None:
        return ""
    last = first if first.last else _misfit(message, obj, only_last=True)
    return (last or first).text


def _misfit(message: str, obj: Mapping[str, Any], *, only_last: bool = False) -> _Misfit | None:
    try:
        _check_struct(message, obj, only_last)
    except _Misfit as misfit:
        return misfit
    return None


def _check_struct(message: str, value: Mapping[str, Any], only_last: bool) -> None:
    """Raise _Misfit for the first member that does not fit; `only_last`: the first that ends the decoding."""
    known = fields_by_name(message)
    for name, member in value.items():
        field = known.get(name)
        if field is None or member is None:
            continue
        try:
            _check_field(field, member, only_last)
        except _Misfit as misfit:
            misfit.within(message, name)
            raise


def _check_field(field: SchemaField, value: Any, only_last: bool) -> None:
    if not field.repeated:
        _check_value(field, value, only_last)
    elif isinstance(value, dict if field.is_map else list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_value(field, item, only_last)
    elif not only_last:
        raise _Misfit(_kind(value), item=False)


def _check_value(field: SchemaField, value: Any, only_last: bool) -> None:
    if value is None:
        return
    kind = field.kind
    if kind in OWN_DECODERS:
        try:
            _check_own(field, value)
        except _Misfit as misfit:
            misfit.struct, misfit.last = "", True  # the decoder around it names its own struct
            raise
    elif kind == "message" and isinstance(value, dict):
        _check_struct(field.type, value, only_last)
    elif only_last:
        return
    elif kind == "message":
        raise _Misfit(_kind(value))
    elif kind == "list":
        _check_texts(value)
    elif kind == "bytes" and isinstance(value, list):
        _check_octets(value)
    elif kind in _SCALARS and not _fits(kind, value):
        raise _Misfit(_found(kind, value))
    elif fault := _OF_TEXT[kind](value) if kind in _OF_TEXT else "":
        raise _Misfit("", whole=fault)


def _check_texts(value: Any) -> None:
    """Raise _Misfit for what is no list of strings."""
    if not isinstance(value, list):
        raise _Misfit(_kind(value))
    for item in value:
        if item is not None and not isinstance(item, str):
            raise _Misfit(_kind(item), "string")


def own_fault(field: SchemaField, value: Any) -> str:
    """Return the error of a type that decodes itself, if it decodes nothing else: "" if the value fits."""
    try:
        _check_own(field, value)
    except _Misfit as misfit:
        return misfit.text
    return ""


def _check_octets(value: list[Any]) -> None:
    """Raise _Misfit for what is no list of numbers that fit uint8, which Go takes for bytes as well."""
    for item in value:
        number = isinstance(item, int | float) and not isinstance(item, bool)
        if item is not None and not (number and isinstance(item, int) and 0 <= item < 256):
            raise _Misfit(f"number {item}" if number else _kind(item), "uint8")


def _check_own(field: SchemaField, value: Any) -> None:
    if field.kind.startswith("schemaOr"):
        _check_schemas(field, value)
    elif field.kind in _SCALARS and not _fits(field.kind, value):
        raise _Misfit(_found(field.kind, value), _SCALARS[field.kind][0])
    elif fault := _OF_TEXT[field.kind](value) if field.kind in _OF_TEXT else "":
        raise _Misfit("", whole=fault)


def _check_schemas(field: SchemaField, value: Any) -> None:
    """Raise _Misfit for a schema that does not fit, where also something else may stand."""
    if field.kind == "schemaOrBool" and not isinstance(value, dict | bool):
        raise _Misfit("", whole="boolean or JSON schema expected")
    if field.kind == "schemaOrStrings" and isinstance(value, list):
        _check_texts(value)
    for schema in value if isinstance(value, list) else [value]:
        if isinstance(schema, dict):
            if (misfit := _misfit(field.type, schema)) is not None:
                raise misfit
        elif isinstance(value, list) and schema is not None and field.kind == "schemaOrArray":
            raise _Misfit(_kind(schema), field.type.partition(".")[2])


def _found(kind: str, value: Any) -> str:
    number = isinstance(value, int | float) and kind in _LIMITS and not isinstance(value, bool)
    return f"number {value}" if number else _kind(value)


def _fits(kind: str, value: Any) -> bool:
    if isinstance(value, bool) and kind != "bool":
        return False
    if kind == "intstr" and isinstance(value, str):
        return True
    if kind in _LIMITS:
        return isinstance(value, int) and -_LIMITS[kind] <= value < _LIMITS[kind]
    return isinstance(value, _SCALARS[kind][1])


@cache
def _go_fields(message: str) -> dict[str, tuple[str, tuple[str, str]]]:
    """Return for each member its path with the embedded structs around it, its type and that of its items.

    `{"exec": ("ProbeHandler.exec", ("v1.ExecAction", "v1.ExecAction"))}`
    """
    found: dict[str, tuple[str, tuple[str, str]]] = {}
    for field in fields(message):
        if field.has("i"):
            struct = field.type.rpartition(".")[2]
            inner = _go_fields(field.type).items()
            found |= {name: (f"{struct}.{path}", types) for name, (path, types) in inner}
        else:
            found[field.name] = field.name, go_types(message, field)
    return found


def go_types(message: str, field: SchemaField) -> tuple[str, str]:
    """Return the Go types of a field of a message and of its items: `("[]v1.Container", "v1.Container")`."""
    whole = named_types(message).get(field.name) or plain_type(field)
    if not field.repeated:
        return whole, whole
    _, bracket, item = whole.partition("]")
    return whole, item if bracket else _item_type(field)


def plain_type(field: SchemaField) -> str:
    """Return a field's Go type as its message tells it: `map[string]string`, `[]v1.Container`, `int32`."""
    if field.is_map:
        return f"map[string]{_item_type(field)}"
    return f"[]{_item_type(field)}" if field.repeated else _item_type(field)


def _item_type(field: SchemaField) -> str:
    if field.kind == "message":
        version, name = field.type.split(".")[-2:]
        return f"{version}.{name}"
    return OWN_DECODERS.get(field.kind) or _SCALARS.get(field.kind, (field.kind,))[0]


# Go's names for the types of JSON values.
_KINDS = {bool: "bool", dict: "object", list: "array", str: "string"}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "number")
