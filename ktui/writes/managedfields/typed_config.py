"""Check an applied configuration against its type (upstream: structured-merge-diff, typed/validate.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ktui.kube.fielderrors import Path, joined
from ktui.kube.golang.formatting import go_syntax, go_type, go_value
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
from ktui.wire.schema import META, SchemaField, fields_by_name, message_of
from ktui.writes.managedfields.fieldset import item_key, step_text
from ktui.writes.managedfields.nodes import Keys, Node, SchemaNode, struct_node

_TEXTS, _NUMBERS = ("string", "bytes"), ("int32", "int64", "double")
_NO_SCALARS: dict[type, str] = {
    dict: "associative list without keys has an element that's a map type",
    list: "not supported: associative list with lists as elements",
}
_UNTYPED = ("quantity", "intstr", "time", "microtime")


def type_faults(config: Obj, resource: Resource) -> Iterator[str]:
    """Yield `.spec: expected map, got &{a}` for each value of a wrong type; null fits every type."""
    if not resource.custom:
        message = message_of(resource.api_version, resource.kind)
        if message is not None:
            yield from _of_struct(config, message, None)
        return
    metadata = config.get("metadata")
    if metadata is not None:
        at = None, ".metadata"
        yield from _of_map(metadata, at) or _of_struct(metadata, META, at)
    schema = resource.schemas.get(resource.version, ANYTHING)
    yield from _of_schema(_rest(config), schema, None)


def misfits(obj: Obj, schema: Schema, *, duplicates: bool) -> Iterator[str]:
    """Yield why a custom object does not fit the schema of one of its versions; `duplicates`: these do."""
    yield from _of_schema(_rest(obj), schema, None, declared=True)
    yield from list_faults(obj, SchemaNode(schema, root=True), duplicates=duplicates)


def _rest(obj: Obj) -> Obj:
    return {name: value for name, value in obj.items() if name not in META_FIELDS}


def sentence(faults: Sequence[str]) -> str:
    """Return the faults as upstream words them together."""
    return faults[0] if len(faults) == 1 else "\n  ".join(["errors:", *faults])


def _of_map(value: Any, path: Path | None) -> list[str]:
    return [] if isinstance(value, dict) else [_other(path, "map", value)]


def _other(path: Path | None, wanted: str, value: Any) -> str:
    return f"{joined(path)}: expected {wanted}, got &{{{go_value(value)}}}"


def _of_struct(value: Mapping[str, Any], message: str, path: Path | None) -> Iterator[str]:
    known = fields_by_name(message)
    for name, member in value.items():
        field = known.get(name)
        if field is None or member is None:
            continue
        at = path, f".{name}"
        if not field.repeated:
            yield from _of_value(member, field, at)
        elif not isinstance(member, dict if field.is_map else list):
            yield _other(at, "map" if field.is_map else "list", member)
        elif isinstance(member, dict):
            for key, item in member.items():
                yield from _of_value(item, field, (at, f".{key}"))
        else:
            node = struct_node(message).member(name)
            for index, item in enumerate(member):
                yield from _of_value(item, field, (at, _step(index, item, node)))


def _step(index: int, item: Any, node: Node) -> str:
    """Return the step to a list's item: by its key, by its value in a set, else by its place."""
    keys = node.keys([item])
    if keys is None or (keys and not isinstance(item, dict)) or (not keys and isinstance(item, dict | list)):
        return f"[{index}]"
    if any(item.get(key, node.key_default(key)) is None for key in keys):
        return f"[{index}]"
    return step_text(item_key(keys, item, node))


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


def _of_schema(
    value: Any, schema: Schema | None, path: Path | None, *, declared: bool = False
) -> Iterator[str]:
    """`declared`: a member that the schema does not know is a fault, too."""
    if value is None or schema is None:
        return
    match schema.get("type"):
        case "object" if isinstance(value, dict):
            properties: Mapping[str, Schema] = schema.get("properties") or {}
            others, rest = additional(schema)
            closed = declared and not (others or preserves(schema))
            for name, member in value.items():
                at = path, f".{name}"
                if closed and name not in properties and not (embedded(schema) and name in META_FIELDS):
                    yield f"{joined(at)}: field not declared in schema"
                yield from _of_schema(member, properties.get(name, rest), at, declared=declared)
        case "object":
            yield _other(path, "map", value)
        case "array":
            if isinstance(value, list):
                yield from _of_list(value, schema, path, declared=declared)
            else:
                yield _other(path, "list", value)
        case "string" | "boolean" as wanted:
            yield from _of_scalar(value, wanted, path)
        case "integer" | "number":
            yield from _of_scalar(value, "number", path)


def _of_list(value: list[Any], schema: Schema, path: Path | None, *, declared: bool) -> Iterator[str]:
    keyed, node = schema.get("x-kubernetes-list-type") == "map", SchemaNode(schema)
    for index, item in enumerate(value):
        if keyed and not isinstance(item, dict):
            what = "a null element" if item is None else "non-map elements"
            yield f"{joined(path)}: element {index}: associative list with keys may not have {what}"
        else:
            at = path, _step(index, item, node)
            yield from _of_schema(item, items(schema), at, declared=declared)


def list_faults(
    value: Any, node: Node, path: Path | None = None, *, duplicates: bool = False
) -> Iterator[str]:
    """Yield a sentence for each item without its key, and each duplicate unless those are allowed, with its
    path, in upstream's words."""
    if isinstance(value, dict) and not node.atomic:
        for name, member in value.items():
            yield from list_faults(member, node.member(name), (path, f".{name}"), duplicates=duplicates)
    elif isinstance(value, list) and (keys := node.keys(value)) is not None:
        yield from _item_faults(value, keys, node, path, duplicates=duplicates)


def _item_faults(
    items: list[Any], keys: Keys, node: Node, path: Path | None, *, duplicates: bool
) -> Iterator[str]:
    seen: dict[str, int] = {}
    for at, item in enumerate(items):
        if not keys and (why := _NO_SCALARS.get(type(item))):
            yield f"{joined(path)}: element {at}: {why}"
            continue
        missing = [key for key in keys or () if item.get(key, node.key_default(key)) is None]
        if missing:
            yield (
                f"{joined(path)}: element {at}: associative list with keys has an element that omits key "
                f'field "{missing[0]}" (and doesn\'t have default value)'
            )
            continue
        key = item_key(keys, item, node)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2 and not duplicates:
            yield f"{joined(path)}: duplicate entries for key {step_text(key)}"
        yield from list_faults(item, node.item(), (path, step_text(key)), duplicates=duplicates)
