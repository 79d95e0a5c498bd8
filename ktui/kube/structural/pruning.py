"""Pruning: remove the fields that a structural schema does not specify."""

from __future__ import annotations

from typing import Any

from ktui.kube.field_paths import Path, joined, within_limit
from ktui.kube.structural.schema import META_FIELDS, METADATA, Schema, additional, embedded, items, preserves


def prune_object(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Prune a whole object in place, its metadata to the fields of ObjectMeta. Return the removed paths.

    Paths after the first MOST_CHARACTERS are left out.
    """
    gone = _prune(obj, {**schema, "x-kubernetes-embedded-resource": True}, None)
    return [*within_limit(joined(path)[1:] for path in gone)]


def _prune(value: Any, schema: Schema | None, path: Path | None) -> list[Path]:
    """Prune a value in place and return the removed paths; a `schema` of None specifies no field."""
    if isinstance(value, dict):
        return _prune_members(value, schema, path)
    if not isinstance(value, list):
        return []
    each = None if schema is None else items(schema)
    if schema is not None and preserves(schema):
        if each is None:
            return []
        each = {**each, "x-kubernetes-preserve-unknown-fields": True}
    return [gone for at, item in enumerate(value) for gone in _prune(item, each, (path, f"[{at}]"))]


def _prune_members(value: dict[str, Any], schema: Schema | None, path: Path | None) -> list[Path]:
    gone: list[Path] = []
    properties = {} if schema is None else schema.get("properties") or {}
    others, rest = (False, None) if schema is None else additional(schema)
    kept = schema is not None and preserves(schema)
    meta = META_FIELDS if schema is not None and embedded(schema) else frozenset[str]()
    for name in list(value):
        where = path, f".{name}"
        if name in meta:
            gone += _prune(value[name], METADATA, where) if name == "metadata" else []
            continue
        if name in properties:
            gone += _prune(value[name], properties[name], where)
        elif others:
            gone += _prune(value[name], rest, where)
        elif not kept:
            del value[name]
            gone.append(where)
    return gone
