"""Check an applied configuration against its type (upstream: structured-merge-diff, typed/validate.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ktui.kube.fielderrors import Path, joined
from ktui.kube.golang.formatting import go_syntax, go_type, go_value, quote
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.structural.schema import (
    ANYTHING,
    META_FIELDS,
    Schema,
    additional,
    embedded,
    items,
    preserves,
)
from ktui.wire.schema import META, SchemaField, fields_by_name, kind_messages, message_of
from ktui.writes.managedfields.fieldset import item_key, step_text
from ktui.writes.managedfields.nodes import Node, SchemaNode, struct_node

_TEXTS, _NUMBERS = ("string", "bytes"), ("int32", "int64", "double")
_NO_SCALARS: dict[type, str] = {
    dict: "associative list without keys has an element that's a map type",
    list: "not supported: associative list with lists as elements",
}
_UNTYPED = ("quantity", "intstr", "time", "microtime")


def type_faults(config: Obj, resource: Resource) -> Iterator[str]:
    """Yield `.spec: expected map, got &{a}` for each value of a wrong type; null fits every type.

    A member that no type declares, and items without a key or with that of another, are faults, too.
    """
    if not resource.custom:
        message = message_of(resource.api_version, resource.kind)
        if message is not None:
            yield from _of_struct(config, message, None)
        return
    metadata = config.get("metadata")
    if metadata is not None:
        at = None, ".metadata"
        yield from _of_map(metadata, at) or _of_struct(metadata, META, at)
    yield from misfits(config, resource.schemas.get(resource.version, ANYTHING), duplicates=False)


def misfits(obj: Obj, schema: Schema, *, duplicates: bool) -> Iterator[str]:
    """Yield why a custom object does not fit the schema of one of its versions, apart from its metadata.

    `duplicates`: items with the same key are no fault.
    """
    rest = {name: value for name, value in obj.items() if name not in META_FIELDS}
    yield from _of_schema(rest, schema, None, duplicates)


def sentence(faults: Sequence[str]) -> str:
    """Return the faults as upstream words them together."""
    return faults[0] if len(faults) == 1 else "\n  ".join(["errors:", *faults])


def _of_map(value: Any, path: Path | None) -> list[str]:
    return [] if isinstance(value, dict) else [_other(path, "map", value)]


def _other(path: Path | None, wanted: str, value: Any) -> str:
    return f"{joined(path)}: expected {wanted}, got &{{{go_value(value)}}}"


def _undeclared(path: Path) -> str:
    return f"{joined(path)}: field not declared in schema"


def _of_items(
    value: list[Any],
    node: Node,
    path: Path | None,
    of_item: Callable[[Any, Path], Iterator[str]],
    *,
    duplicates: bool = False,
) -> Iterator[str]:
    """Yield the faults of a list and of its items, which are named by their keys if they have any."""
    keys = node.item_keys
    seen = set()
    for index, item in enumerate(value):
        step = f"[{index}]"
        if keys is not None:
            if why := _without_key(item, keys, node):
                yield f"{joined(path)}: element {index}: {why}"
                continue
            step = step_text(item_key(keys, item, node))
            if step in seen and not duplicates:
                yield f"{joined(path)}: duplicate entries for key {step}"
            seen.add(step)
        yield from of_item(item, (path, step))


def _without_key(item: Any, keys: Sequence[str], node: Node) -> str:
    """Return why an item has no key; "" if it has one (upstream: listItemToPathElement)."""
    if not keys:
        return _NO_SCALARS.get(type(item), "")
    if not isinstance(item, dict):
        what = "a null element" if item is None else "non-map elements"
        return f"associative list with keys may not have {what}"
    if any(key in item or node.key_default(key) is not None for key in keys):
        return ""
    shown = f"[{' '.join(map(quote, keys))}]"
    return (
        f"associative list with keys has an element that omits all key fields {shown} "
        "(and doesn't have default values for any key fields)"
    )


def _of_struct(value: Mapping[str, Any], message: str, path: Path | None) -> Iterator[str]:
    """Yield the faults of a struct's members up to the first that it does not declare, as upstream does."""
    known, whole = fields_by_name(message), message in kind_messages()
    for name, member in value.items():
        field, at = known.get(name), (path, f".{name}")
        if field is None and whole and name in ("apiVersion", "kind"):
            yield from _of_scalar(member, "string", at)
        elif field is None:
            yield _undeclared(at)
            return
        elif member is None:
            continue
        elif not field.repeated:
            yield from _of_value(member, field, at)
        elif not isinstance(member, dict if field.is_map else list):
            yield _other(at, "map" if field.is_map else "list", member)
        elif isinstance(member, dict):
            for key, item in member.items():
                yield from _of_value(item, field, (at, f".{key}"))
        else:
            of_item = partial(_of_item, field)
            yield from _of_items(member, struct_node(message).member(name), at, of_item)


def _of_item(field: SchemaField, value: Any, path: Path) -> Iterator[str]:
    return _of_value(value, field, path)


def _of_value(value: Any, field: SchemaField, path: Path) -> Iterator[str]:
    if value is None:
        return
    if field.kind == "message":
        faults = _of_map(value, path)
        yield from faults or _of_struct(value, field.type, path)
    elif field.kind in _TEXTS:
        yield from _of_scalar(value, "string", path)
    elif field.kind in _NUMBERS:
        yield from _of_scalar(value, "number", path)
    elif field.kind == "bool":
        yield from _of_scalar(value, "boolean", path)
    elif field.kind in _UNTYPED and isinstance(value, dict | list):
        yield _other(path, "any scalar", value)


def _of_scalar(value: Any, wanted: str, path: Path | None) -> Iterator[str]:
    if wanted == "string" and not isinstance(value, str):
        yield f"{joined(path)}: expected string, got &value.valueUnstructured{{Value:{go_syntax(value)}}}"
    elif wanted == "boolean" and not isinstance(value, bool):
        yield _other(path, "boolean", value)
    elif wanted == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield f"{joined(path)}: expected numeric (int or float), got {go_type(value)}"


def _of_schema(value: Any, schema: Schema | None, path: Path | None, duplicates: bool) -> Iterator[str]:
    if value is None or schema is None:
        return
    match schema.get("type"):
        case "object" if isinstance(value, dict):
            yield from _of_members(value, schema, path, duplicates)
        case "object":
            yield _other(path, "map", value)
        case "array" if isinstance(value, list):

            def of_item(item: Any, at: Path) -> Iterator[str]:
                return _of_schema(item, items(schema), at, duplicates)

            yield from _of_items(value, SchemaNode(schema), path, of_item, duplicates=duplicates)
        case "array":
            yield _other(path, "list", value)
        case "string" | "boolean" as wanted:
            yield from _of_scalar(value, wanted, path)
        case "integer" | "number":
            yield from _of_scalar(value, "number", path)


def _of_members(value: Obj, schema: Schema, path: Path | None, duplicates: bool) -> Iterator[str]:
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    others, rest = additional(schema)
    closed = not (others or preserves(schema))
    for name, member in value.items():
        at = path, f".{name}"
        if closed and name not in properties and not (embedded(schema) and name in META_FIELDS):
            yield _undeclared(at)
            return
        yield from _of_schema(member, properties.get(name, rest), at, duplicates)
