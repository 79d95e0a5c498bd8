"""What Go's JSON decoder makes of an object whose values fit: unknown fields, nulls, bytes as numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ktui.kube.fielderrors import Path, joined, within_limit
from ktui.wire.schema import SchemaField, fields_by_name, message_of

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
    found = _of_struct(message, obj, None, release, {message, *_WHOLE})
    return [*within_limit(joined(path)[1:] for _, path in found)]


Unknown = tuple[Any, Path]
"""The object that has an unknown field, and the field's path."""


def _of_struct(
    message: str, obj: Mapping[str, Any], path: Path | None, release: int | None, whole: Collection[str]
) -> Iterator[Unknown]:
    """Yield the unknown fields of an object and below it; messages in `whole` have kind and apiVersion."""
    known = fields_by_name(message, release)
    for name, value in obj.items():
        at = path, f".{name}"
        field = known.get(name)
        if field is None:
            if name not in _TYPE_META or message not in whole:
                yield obj, at
        elif field.kind == "message":
            yield from _of_value(field, value, at, release, whole)


def _of_value(
    field: SchemaField, value: Any, path: Path, release: int | None, whole: Collection[str]
) -> Iterator[Unknown]:
    items: list[tuple[Path, Any]]
    if not field.repeated:
        items = [(path, value)]
    elif field.is_map:
        items = [((path, f".{key}"), item) for key, item in value.items()] if isinstance(value, dict) else []
    else:
        items = [((path, f"[{n}]"), item) for n, item in enumerate(value)] if isinstance(value, list) else []
    for at, item in items:
        if isinstance(item, dict):
            yield from _of_struct(field.type, item, at, release, whole)


def drop_unknown(obj: dict[str, Any], api_version: str, kind: str, release: int | None) -> None:
    """Remove in place what `unknown_fields` names, and the kinds of claim templates."""
    message = message_of(api_version, kind)
    if message is not None:
        for holder, (_, part) in [*_of_struct(message, obj, None, release, {message})]:
            del holder[part[1:]]


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
