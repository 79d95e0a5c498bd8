"""Properties of a structural schema that decide on unknown fields and nulls."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from ktui.kube.fielderrors import Path, joined, within_limit
from ktui.kube.golang.regexps import may_be_slow as may_match_slowly

Schema = Mapping[str, Any]

# The schema that accepts anything, for a version without a schema.
ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


def _of(*names: str, **parts: Schema) -> Schema:
    """Return an object type with these members, each of any type."""
    plain: Schema = {"nullable": True}
    return {"type": "object", "nullable": True, "properties": {**dict.fromkeys(names, plain), **parts}}


def _list_of(part: Schema) -> Schema:
    return {"type": "array", "nullable": True, "items": part}


_TEXT: Schema = {"type": "string", "nullable": True}
_TEXTS: Schema = {"type": "object", "nullable": True, "additionalProperties": _TEXT}

# ObjectMeta, which every object and every embedded object has, whatever the schema specifies.
METADATA = _of(
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    labels=_TEXTS, annotations=_TEXTS, finalizers=_list_of({"type": "string", "nullable": True}),
    ownerReferences=_list_of(_of("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")),
    managedFields=_list_of(_of(
        "manager", "operation", "apiVersion", "time", "fieldsType", "subresource",
        fieldsV1={**ANYTHING, "nullable": True},
    )),
)  # fmt: skip


def preserves(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def embedded(schema: Schema) -> bool:
    """True for an object with its own apiVersion, kind and metadata."""
    return bool(schema.get("x-kubernetes-embedded-resource"))


def additional(schema: Schema) -> tuple[bool, Schema | None]:
    """Return whether members other than the properties are allowed, and their schema (None for `true`)."""
    found = schema.get("additionalProperties")
    if isinstance(found, Mapping):
        return True, found
    return bool(found), None


def items(schema: Schema) -> Schema | None:
    found = schema.get("items")
    return found if isinstance(found, Mapping) else None


def has_default(schema: Schema) -> bool:
    """Return True if the schema has a default other than null."""
    return schema.get("default") is not None


def no_null(value: Any, schema: Schema | None) -> bool:
    """Return True for null in a field that is not nullable."""
    return value is None and schema is not None and not schema.get("nullable")


def is_choice(value: Any, choices: list[Any]) -> bool:
    """Return whether a value is in an enum; a list of values may be as long as the enum."""
    return _frozen(value) in _frozen_set(_ById(choices)) if len(choices) > _FEW else value in choices


def required(schema: Schema) -> Collection[str]:
    """Return the names of required members, of a long list each once."""
    names = schema.get("required") or ()
    return _once(_ById(names)) if len(names) > _FEW else names


def default_cost(value: Any) -> tuple[int, int]:
    """Return the bytes of a default as JSON, and its objects and lists."""
    return _cost(_ById(value)) if isinstance(value, dict | list | str) else (8, 0)


def may_be_slow(schemas: Mapping[str, Schema]) -> bool:
    """Return whether a short object may take milliseconds with one of the schemas.

    It has a slow pattern, or a large default, which each item of a list may get.
    """
    return _slow(_ById(schemas))


_FEW = 16
_LARGE_DEFAULT = 256  # bytes


class _ById:
    """A key that is equal to itself only, and keeps its value alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.value is self.value


def _frozen(value: Any) -> Any:
    """Return a hashable value; two are equal if the values are."""
    if isinstance(value, dict):
        return frozenset((name, _frozen(member)) for name, member in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@functools.lru_cache(maxsize=64)
def _frozen_set(choices: _ById) -> frozenset[Any]:
    return frozenset(map(_frozen, choices.value))


@functools.lru_cache(maxsize=64)
def _once(names: _ById) -> Collection[str]:
    return dict.fromkeys(names.value)


@functools.lru_cache(maxsize=256)
def _cost(value: _ById) -> tuple[int, int]:
    text: bytes = msgspec.json.encode(value.value)
    return len(text), text.count(b"{") + text.count(b"[")


@functools.lru_cache(maxsize=128)
def _slow(schemas: _ById) -> bool:
    left = [schemas.value]
    while left:
        part = left.pop()
        if isinstance(part, Mapping):
            left.extend(part.values())
            pattern = part.get("pattern")
            slow = isinstance(pattern, str) and may_match_slowly(pattern)
            if slow or default_cost(part.get("default"))[0] > _LARGE_DEFAULT:
                return True
        elif isinstance(part, list | tuple):
            left.extend(part)
    return False


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
