"""Check whether an object's JSON is already pruned and defaulted by its schema.

Nearly every stored object is, because it was pruned and defaulted when it was written. A decoder generated
from the schema verifies that in a few microseconds, without building a tree.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any

import msgspec

from ktui.kube.structural.schema import (
    META_FIELDS,
    METADATA,
    Schema,
    additional,
    embedded,
    has_default,
    items,
    preserves,
)

_SCALAR = str | int | float | bool


class _Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """An object without members."""


class Conformance:
    """Whether a document has nothing to prune and no default missing (`holds`). False if in doubt."""

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
        found = self._object_type(schema) if _is_object(schema) else self._other_type(schema)
        return found | None if schema.get("nullable") and found is not msgspec.Raw else found

    def _other_type(self, schema: Schema) -> Any:
        if schema.get("type") == "array" and not preserves(schema):
            return GenericAlias(list, (self._type(items(schema)),))
        if preserves(schema):
            return msgspec.Raw
        return _SCALAR

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


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or "properties" in schema or "additionalProperties" in schema
