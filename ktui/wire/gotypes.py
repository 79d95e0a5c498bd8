"""What Go's JSON decoder makes of an object: errors for values that do not fit, unknown fields, nulls.

As in Go, errors have the innermost struct, the path from the outermost struct without indexes and map keys,
and the field's type: `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type
map[string]string`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ktui.kube.fielderrors import Path, joined, within_limit
from ktui.kube.golang import base64text
from ktui.kube.golang.times import RFC3339_MICRO, time_fault
from ktui.kube.quantity import quantity_fault
from ktui.wire.schema import META, SchemaField, fields_by_name, message_of

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


class _Misfit(Exception):
    """A value does not fit. `path` grows while the error propagates, so values that fit need no path."""

    def __init__(self, found: str, wanted: str, whole: str = "") -> None:
        super().__init__(found)
        self.found, self.wanted, self.whole = found, wanted, whole
        self.struct = ""
        self.path: list[str] = []

    @property
    def text(self) -> str:
        path = ".".join(reversed(self.path))
        field = f"Go struct field {self.struct}.{path} of type {self.wanted}"
        return self.whole or f"json: cannot unmarshal {self.found} into {field}"


def go_mismatch(obj: Mapping[str, Any], api_version: str, kind: str) -> str:
    """Return the first error in an object, "" if Go's decoder would report none that is implemented here.

    A kind without a message is a custom resource: Go decodes only its metadata.
    """
    message = message_of(api_version, kind)
    try:
        if message is not None:
            _check_struct(message, obj)
        elif isinstance(metadata := obj.get("metadata"), Mapping):
            _check_struct(META, metadata)
    except _Misfit as misfit:
        return misfit.text
    return ""


def _check_struct(message: str, value: Mapping[str, Any]) -> None:
    known = fields_by_name(message)
    for name, member in value.items():
        field = known.get(name)
        if field is None or member is None:
            continue
        try:
            _check_field(field, member)
        except _Misfit as misfit:
            misfit.struct = misfit.struct or message.rpartition(".")[2]
            misfit.path.append(name)
            raise


def _check_field(field: SchemaField, value: Any) -> None:
    if not field.repeated:
        _check_value(field, value)
    elif not isinstance(value, dict if field.is_map else list):
        raise _Misfit(_kind(value), _type(field))
    else:
        for item in value.values() if isinstance(value, dict) else value:
            _check_value(field, item)


def _check_value(field: SchemaField, value: Any) -> None:
    if value is None:
        return
    kind = field.kind
    if kind == "message":
        if not isinstance(value, dict):
            raise _Misfit(_kind(value), _item_type(field))
        _check_struct(field.type, value)
    elif kind in _SCALARS and not _fits(kind, value):
        raise _Misfit(_found(kind, value), _SCALARS[kind][0])
    elif fault := _OF_TEXT[kind](value) if kind in _OF_TEXT else "":
        raise _Misfit("", "", fault)


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


def _type(field: SchemaField) -> str:
    if field.is_map:
        return f"map[string]{_item_type(field)}"
    return f"[]{_item_type(field)}" if field.repeated else _item_type(field)


def _item_type(field: SchemaField) -> str:
    if field.kind == "message":
        version, name = field.type.split(".")[-2:]
        return f"{version}.{name}"
    return _SCALARS[field.kind][0] if field.kind in _SCALARS else field.kind


# Go's names for the types of JSON values.
_KINDS = {bool: "bool", dict: "object", list: "array", str: "string"}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "number")


_TYPE_META = ("apiVersion", "kind")
# Kinds that are members of others, with their type: claim templates.
_WHOLE = frozenset({"core.v1.PersistentVolumeClaim"})


def unknown_fields(obj: Mapping[str, Any], api_version: str, kind: str, release: int | None) -> list[str]:
    """Return the paths of fields that the type does not have: `["spec.nope", "spec.containers[0].x"]`.

    As in kube-apiserver's strict decoding, in the object's order. The value does not matter: empty and null
    fields are reported too. Kubernetes 1.`release` determines the known fields (None: those of all releases).
    An object of a kind without a message has no unknown fields. Paths after the first MOST_CHARACTERS are
    left out.
    """
    message = message_of(api_version, kind)
    if message is None:
        return []
    own = {name: value for name, value in obj.items() if name not in _TYPE_META}
    return [*within_limit(joined(path)[1:] for path in _of_struct(message, own, None, release))]


def _of_struct(
    message: str, obj: Mapping[str, Any], path: Path | None, release: int | None
) -> Iterator[Path]:
    known = fields_by_name(message, release)
    for name, value in obj.items():
        at = path, f".{name}"
        field = known.get(name)
        if field is None:
            if name not in _TYPE_META or message not in _WHOLE:
                yield at
        elif field.kind == "message":
            yield from _of_value(field, value, at, release)


def _of_value(field: SchemaField, value: Any, path: Path, release: int | None) -> Iterator[Path]:
    items: list[tuple[Path, Any]]
    if not field.repeated:
        items = [(path, value)]
    elif field.is_map:
        items = [((path, f".{key}"), item) for key, item in value.items()] if isinstance(value, dict) else []
    else:
        items = [((path, f"[{n}]"), item) for n, item in enumerate(value)] if isinstance(value, list) else []
    for at, item in items:
        if isinstance(item, dict):
            yield from _of_struct(field.type, item, at, release)


def drop_unknown(obj: dict[str, Any], api_version: str, kind: str, release: int | None) -> None:
    """Remove in place what `unknown_fields` names."""
    message = message_of(api_version, kind)
    if message is not None:
        _drop(message, obj, release, frozenset(_TYPE_META))


def _drop(message: str, obj: dict[str, Any], release: int | None, more: frozenset[str] = frozenset()) -> None:
    known = fields_by_name(message, release)
    for name in [name for name in obj if name not in known and name not in more]:
        del obj[name]
    for name, value in obj.items():
        field = known.get(name)
        if field is not None and field.kind == "message" and not isinstance(value, str):
            items = value.values() if field.is_map else value if field.repeated else (value,)
            for item in items or ():
                if isinstance(item, dict):
                    _drop(field.type, item, release)


_ZEROS: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "double": 0, "quantity": "0"}


def clear_nulls(obj: dict[str, Any], api_version: str, kind: str) -> None:
    """Remove nulls in place, as Go's decoder treats them: a member counts as missing, an item as its zero.

    The object is of a known kind, and its members have the right types.
    """
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
