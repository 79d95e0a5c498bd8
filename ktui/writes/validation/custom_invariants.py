"""What holds of custom resources apart from their values: keys of lists, objects in objects, scale."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, invalid, joined, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import LABEL_1035, LABEL_1035_FAULT
from ktui.kube.resources import Resource
from ktui.kube.scale import accessor_fault, paths_of, value_at
from ktui.kube.structural.schema import META_FIELDS, Schema, additional, embedded, items
from ktui.writes.decoding.body import json_type

_INT32 = (1 << 31) - 1


def list_errors(value: Any, schema: Schema | None, path: Path | None = None) -> Iterator[FieldError]:
    """Yield the errors of lists with x-kubernetes-list-type: duplicates, and items that have no keys.

    Upstream: schema/listtype.
    """
    if schema is None:
        return
    if isinstance(value, dict):
        for _, member, inner, step in _members(value, schema):
            yield from list_errors(member, inner, (path, step))
    elif isinstance(value, list):
        yield from _of_list(value, schema, path)
        for at, item in enumerate(value):
            yield from list_errors(item, items(schema), (path, f"[{at}]"))


def _members(value: Obj, schema: Schema) -> Iterator[tuple[str, Any, Schema | None, str]]:
    """Yield an object's members: name, value, schema (None: it has none) and step of the path."""
    properties, rest = schema.get("properties") or {}, additional(schema)[1]
    for name, member in value.items():
        known = name in properties
        yield name, member, properties[name] if known else rest, f".{name}" if known else f"[{name}]"


def keys_text(item: Any, schema: Schema) -> str:
    """Return what tells a list's item apart: its keys' values as JSON, sorted."""
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    shown = {key: item[key] for key in keys if key in item} if isinstance(item, dict) else {}
    return _text(shown)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _of_list(value: list[Any], schema: Schema, path: Path | None) -> Iterator[FieldError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return
    seen: dict[str, int] = {}
    for at, item in enumerate(value):
        if kind == "map" and not isinstance(item, dict | None):
            yield invalid(_field(path, at), item, "must be an object for an array of list-type map")
            return
    for at, item in enumerate(value):
        text = _text(item) if kind == "set" else keys_text(item, schema)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield FieldError(_field(path, at), "FieldValueDuplicate", f"Duplicate value: {text}")


def _field(path: Path | None, at: int) -> str:
    return joined((path, f"[{at}]")).removeprefix(".")


def embedded_errors(obj: Obj, schema: Schema) -> Iterator[FieldError]:
    """Yield the errors of objects with a kind of their own in an object (upstream: schema/objectmeta)."""
    for inner, path in _embedded(obj, schema, None, at_root=True):
        yield from _type_errors(inner, path)


def embedded_fault(obj: Obj, schema: Schema) -> FieldError | None:
    """Return why an object in an object cannot be decoded: its type is no text, its metadata no object."""
    for inner, path in _embedded(obj, schema, None, at_root=True):
        for name in ("apiVersion", "kind"):
            if not isinstance(value := inner.get(name, ""), str):
                return invalid(joined((path, f".{name}"))[1:], value, "must be a string")
        metadata = inner.get("metadata", {})
        if not isinstance(metadata, dict | None):
            why = f"json: cannot unmarshal {json_type(metadata)} into Go value of type v1.ObjectMeta"
            return invalid(joined((path, ".metadata"))[1:], metadata, why)
    return None


def _embedded(
    value: Any, schema: Schema | None, path: Path | None, *, at_root: bool = False
) -> Iterator[tuple[Obj, Path | None]]:
    """Yield the objects with a kind of their own, each with its path, but not the one at the root."""
    if schema is None:
        return
    if isinstance(value, dict):
        if embedded(schema) and not at_root:
            yield value, path
        for name, member, inner, step in _members(value, schema):
            if not (at_root and name in META_FIELDS):
                yield from _embedded(member, inner, (path, step))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _embedded(item, items(schema), (path, f"[{at}]"))


def _type_errors(value: Obj, path: Path | None) -> Iterator[FieldError]:
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield required(joined((path, f".{name}"))[1:])
    for name in ("apiVersion", "kind"):
        text, where = value.get(name), joined((path, f".{name}"))[1:]
        if text == "":
            yield invalid(where, text, "must not be empty")
        elif isinstance(text, str) and name == "apiVersion" and text.count("/") > 1:
            yield invalid(where, text, f"unexpected GroupVersion string: {text}")
        elif isinstance(text, str) and name == "kind" and not LABEL_1035.fullmatch(text.lower()):
            why = f"may have mixed case, but should otherwise match: {LABEL_1035_FAULT}"
            yield invalid(where, text, why)


def scale_errors(obj: Obj, resource: Resource, subresource: str) -> Iterator[FieldError]:
    """Yield the errors of what the scale subresource reads: numbers of replicas, and a selector."""
    if not resource.scale:
        return
    paths = paths_of(resource.scale)
    for path in (paths.replicas, paths.observed) if subresource != "status" else (paths.observed,):
        if fault := accessor_fault(obj, path, int):
            yield invalid(path, 0, fault)
            continue
        value = value_at(obj, path) or 0
        if value < 0:
            yield invalid(path, value, "should be a non-negative integer")
        elif value > _INT32:
            yield invalid(path, value, f"should be less than or equal to {_INT32}")
    if paths.selector and (fault := accessor_fault(obj, paths.selector, str)):
        yield invalid(paths.selector, "", fault)
