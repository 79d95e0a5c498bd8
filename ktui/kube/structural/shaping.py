"""Prune and default stored custom resources by their current schema, however old they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import GenericAlias
from typing import Any

import msgspec

from ktui.kube.json_trees import copied
from ktui.kube.structural.schema import (
    META_FIELDS,
    METADATA,
    Schema,
    additional,
    default_cost,
    embedded,
    has_default,
    items,
    no_null,
    preserves,
    prune_object,
)

MOST_DEFAULT_BYTES = 3 << 19  # as JSON, of all defaults in an object: etcd takes no more
MOST_DEFAULT_PARTS = 100_000  # objects and lists


class DefaultsTooLarge(ValueError):
    """The defaults of an object exceed a limit; each may be a megabyte, in each item of a list."""

    def __init__(self) -> None:
        super().__init__(
            f"limit is {MOST_DEFAULT_BYTES} bytes and {MOST_DEFAULT_PARTS} objects and lists of defaults"
        )


class _Defaults:
    """Sets defaults within the limits."""

    def __init__(self) -> None:
        self._bytes = self._parts = 0

    def copy(self, default: Any) -> Any:
        size, parts = default_cost(default)
        self._bytes += size
        self._parts += parts
        if self._bytes > MOST_DEFAULT_BYTES or self._parts > MOST_DEFAULT_PARTS:
            raise DefaultsTooLarge
        return copied(default)


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Remove members that are null, not nullable, and have no default to replace the null."""
    if schema is None:
        return
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        rest = additional(schema)[1]
        for name in list(value):
            sub = properties.get(name)
            if sub is not None and no_null(value[name], sub) and not has_default(sub):
                del value[name]
            else:
                drop_nulls(value[name], rest if sub is None else sub)
    elif isinstance(value, list):
        for item in value:
            drop_nulls(item, items(schema))


def _default(value: Any, schema: Schema | None, defaults: _Defaults) -> None:
    if schema is None:
        return
    if isinstance(value, dict):
        _default_members(value, schema, defaults)
    elif isinstance(value, list):
        each = items(schema)
        for at, item in enumerate(value):
            if each is not None and no_null(item, each):
                value[at] = defaults.copy(each.get("default"))
            _default(value[at], each, defaults)


def _default_members(value: dict[str, Any], schema: Schema, defaults: _Defaults) -> None:
    properties = schema.get("properties") or {}
    for name, sub in properties.items():
        if has_default(sub) and (name not in value or no_null(value[name], sub)):
            value[name] = defaults.copy(sub["default"])
    rest = additional(schema)[1]
    for name in value:
        sub = properties.get(name)
        if sub is None and rest is not None and no_null(value[name], rest):
            value[name] = defaults.copy(rest.get("default"))
        _default(value[name], rest if sub is None else sub, defaults)


_SCALAR = str | int | float | bool


class _Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """An object without members."""


class Conformance:
    """Whether a document has nothing to prune and no default missing (`holds`). False if in doubt.

    Nearly every stored object conforms, because it was pruned and defaulted when it was written. A decoder
    generated from the schema verifies that in a few microseconds, without building a tree.
    """

    def __init__(self, schema: Schema) -> None:
        self._made: dict[bytes, Any] = {}
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
            self._type({**schema, "x-kubernetes-embedded-resource": True, "type": "object"})
        )

    def holds(self, document: bytes) -> bool:
        try:
            self._decoder.decode(document)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        return True

    def _type(self, schema: Schema | None) -> Any:
        """A type that accepts only values of the schema that pruning and defaulting leave unchanged."""
        if schema is None:
            return _SCALAR | _Nothing | None
        if schema.get("type") == "object" or schema.keys() & {"properties", "additionalProperties"}:
            found = self._object_type(schema)
        elif preserves(schema):
            found = msgspec.Raw
        elif schema.get("type") == "array":
            found = GenericAlias(list, (self._type(items(schema)),))
        else:
            found = _SCALAR
        return found | None if schema.get("nullable") and found is not msgspec.Raw else found

    def _object_type(self, schema: Schema) -> Any:
        others, rest = additional(schema)
        properties = schema.get("properties") or {}
        if others and not properties and not embedded(schema):
            return GenericAlias(dict, (str, self._type(rest)))
        if preserves(schema) and not properties:
            return msgspec.Raw
        # The same subschema often occurs more than once in a schema.
        text = msgspec.json.encode(schema, order="deterministic")
        if text not in self._made:
            self._made[text] = self._struct(schema, properties, open_ended=preserves(schema))
        return self._made[text]

    def _struct(self, schema: Schema, properties: Schema, *, open_ended: bool) -> Any:
        names = {
            name: f"m{number}" for number, name in enumerate({**properties, **dict.fromkeys(META_FIELDS)})
        }
        fields: list[Any] = []
        for name, field in names.items():
            if embedded(schema) and name in META_FIELDS:
                part = self._type(METADATA) if name == "metadata" else msgspec.Raw
                fields.append((field, part | msgspec.UnsetType, msgspec.UNSET))
            elif name in properties:
                sub = properties[name]
                found = self._type(sub)
                required = has_default(sub)
                fields.append(
                    (field, found) if required else (field, found | msgspec.UnsetType, msgspec.UNSET)
                )
        return msgspec.defstruct(
            "Part",
            fields,
            kw_only=True,
            gc=False,
            forbid_unknown_fields=not open_ended,
            rename={field: name for name, field in names.items()},
        )


class _Versioned(msgspec.Struct):
    apiVersion: str = ""


class Shaper:
    """Prunes and defaults documents by the schema of their version (`schemas` as in `Resource.schemas`)."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._checks: dict[str, Conformance] = {}
        self._only = next(iter(schemas)) if len(schemas) == 1 else ""
        self._versioned = msgspec.json.Decoder(_Versioned)

    def shaped(self, document: bytes) -> bytes:
        """Return the document pruned and defaulted; unchanged if it is not a JSON object."""
        version = self._only or self._version(document)
        schema = self._schemas.get(version)
        if schema is None:
            return document
        check = self._checks.get(version)
        if check is None:
            check = self._checks[version] = Conformance(schema)
        return document if check.holds(document) else _reshaped(document, schema)

    def _version(self, document: bytes) -> str:
        try:
            return self._versioned.decode(document).apiVersion.rpartition("/")[2]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return ""


def shape(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Prune an object and set its defaults, in place. Return the paths that the schema does not specify.

    Raises DefaultsTooLarge.
    """
    gone = prune_object(obj, schema)
    drop_nulls(obj, schema)
    _default(obj, schema, _Defaults())
    return gone


def _reshaped(document: bytes, schema: Schema) -> bytes:
    try:
        # The standard library's decoder keeps integers of any size exact.
        obj = json.loads(document)
        if not isinstance(obj, dict):
            return document
        shape(obj, schema)
        return json.dumps(obj, separators=(",", ":"), sort_keys=True).encode()
    except (ValueError, RecursionError):
        return document
