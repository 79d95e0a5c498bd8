"""Encode an OpenAPI 2 document as protobuf (gnostic's openapi.v2.Document), the only form that kubectl reads.

Paths are omitted: kubectl validates and explains by the definitions alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ktui.wire.pb import put_varint

MEDIA_TYPES = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)
_TEXTS = {"$ref": 1, "format": 2, "title": 3, "description": 4}
_REQUIRED, _ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 19, 21, 22, 23, 25, 31


def document_message(document: Mapping[str, Any]) -> bytes:
    """Return the message of a swagger document."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    definitions = b"".join(_field(1, _named(name, s)) for name, s in document["definitions"].items())
    return _text(1, document["swagger"]) + _field(2, info) + _field(8, b"") + _field(9, definitions)


def _named(name: str, schema: Mapping[str, Any]) -> bytes:
    return _text(1, name) + _field(2, _schema(schema))


def _schema(schema: Mapping[str, Any]) -> bytes:
    parts = [_text(number, str(schema[name])) for name, number in _TEXTS.items() if schema.get(name)]
    parts += [_text(_REQUIRED, name) for name in schema.get("required") or []]
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        parts.append(_field(_ADDITIONAL, _field(1, _schema(additional))))
    if kind := schema.get("type"):
        parts.append(_field(_TYPE, _text(1, kind)))
    if isinstance(items := schema.get("items"), Mapping):
        parts.append(_field(_ITEMS, _field(1, _schema(items))))
    if properties := schema.get("properties"):
        listed = b"".join(_field(1, _named(name, part)) for name, part in properties.items())
        parts.append(_field(_PROPERTIES, listed))
    for name, value in schema.items():
        if name.startswith("x-"):
            parts.append(_field(_EXTENSION, _text(1, name) + _field(2, _text(2, json.dumps(value)))))
    return b"".join(parts)


def _text(number: int, text: str) -> bytes:
    return _field(number, text.encode())


def _field(number: int, content: bytes) -> bytes:
    return put_varint(number << 3 | 2) + put_varint(len(content)) + content
