"""OpenAPI schemas of the built-in kinds, from the fields of their messages; without descriptions of those.

`required` are the members that Go's encoding never omits; upstream marks them by hand, with nearly the same
result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ktui.kube.structural.published import TYPE_MEMBERS, list_schema
from ktui.wire.pb import put_bytes
from ktui.wire.schema import SchemaField, fields, kind_messages, message_of

Schema = dict[str, Any]

DEFINITIONS, COMPONENTS = "#/definitions/", "#/components/schemas/"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_PACKAGES = {
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    "meta": "io.k8s.apimachinery.pkg.apis.meta",
}
_JSON = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
_DEFINED: dict[str, tuple[str, Schema]] = {
    "time": (f"{META}.Time", {"type": "string", "format": "date-time"}),
    "microtime": (f"{META}.MicroTime", {"type": "string", "format": "date-time"}),
    "duration": (f"{META}.Duration", {"type": "string"}),
    "quantity": ("io.k8s.apimachinery.pkg.api.resource.Quantity", {"type": "string"}),
    "intstr": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"type": "string", "format": "int-or-string"},
    ),
    "raw": ("io.k8s.apimachinery.pkg.runtime.RawExtension", {"type": "object"}),
    "fieldsv1": (f"{META}.FieldsV1", {"type": "object"}),
    "rawjson": (_JSON, {}),
    "schemaOrBool": (f"{_JSON}SchemaPropsOrBool", {}),
    "schemaOrArray": (f"{_JSON}SchemaPropsOrArray", {}),
    "schemaOrStrings": (f"{_JSON}SchemaPropsOrStringArray", {}),
}
_EITHER: dict[str, Schema] = {  # OpenAPI 3 can express them
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "intstr": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
}
_PLAIN: dict[str, Schema] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "double": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
}


def schema_name(message: str) -> str:
    """Return the schema's name: `apps.v1.Deployment` → `io.k8s.api.apps.v1.Deployment`."""
    package, _, rest = message.partition(".")
    return f"{_PACKAGES.get(package, f'io.k8s.api.{package}')}.{rest}"


def kind_schema(api_version: str, kind: str) -> str | None:
    """Return the name of a built-in kind's schema, None for other kinds."""
    message = message_of(api_version, kind)
    return schema_name(message) if message else None


def schemas_of(kinds: list[tuple[str, str]], release: int, root: str) -> dict[str, Schema]:
    """Return the schemas of kinds, their lists and all that they refer to by `root` (DEFINITIONS, …)."""
    found: dict[str, Schema] = {}
    wanted = [message for pair in kinds if (message := message_of(*pair))]
    lists = [(api_version, f"{kind}List", message_of(api_version, kind)) for api_version, kind in kinds]
    wanted += ["meta.v1.ObjectMeta", "meta.v1.ListMeta", "meta.v1.Status", "meta.v1.DeleteOptions"]
    while wanted:
        message = wanted.pop()
        name = schema_name(message)
        if name in found:
            continue
        found[name] = _message_schema(message, release, root)
        for row in _rows(message, release):
            if row.kind in _DEFINED:
                defined, schema = _DEFINED[row.kind]
                found.setdefault(defined, _EITHER.get(row.kind, schema) if root == COMPONENTS else schema)
            elif row.type:
                wanted.append(row.type)
    for api_version, kind, item in lists:
        if item:
            name = schema_name(item)
            found[f"{name}List"] = list_schema(name, _gvk(api_version, kind), root)
    return dict(sorted(found.items()))


def _rows(message: str, release: int) -> Iterator[SchemaField]:
    for row in fields(message, release):
        if row.has("i"):
            yield from _rows(row.type, release)
        else:
            yield row


def _message_schema(message: str, release: int, root: str) -> Schema:
    rows = [*_rows(message, release)]
    known = kind_messages().get(message)
    properties = {row.name: _property(row, root) for row in rows} | (TYPE_MEMBERS if known else {})
    schema: Schema = {"type": "object"}
    if properties:
        schema["properties"] = dict(sorted(properties.items()))
    if required := sorted(row.name for row in rows if not row.has("o")):
        schema["required"] = required
    if known:
        schema["x-kubernetes-group-version-kind"] = [_gvk(*known)]
    return schema


def _gvk(api_version: str, kind: str) -> Schema:
    group, _, version = api_version.rpartition("/")
    return {"group": group, "kind": kind, "version": version}


def _property(row: SchemaField, root: str) -> Schema:
    if row.kind in _PLAIN:
        one = _PLAIN[row.kind]
    elif row.kind == "list":
        one = {"type": "array", "items": {"type": "string"}}
    else:
        one = {"$ref": root + (_DEFINED[row.kind][0] if row.kind in _DEFINED else schema_name(row.type))}
    if row.is_map:
        return {"type": "object", "additionalProperties": one}
    return {"type": "array", "items": one} if row.repeated else one


MEDIA_TYPES = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)
_TEXTS = {"$ref": 1, "format": 2, "title": 3, "description": 4}
_REQUIRED, _ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 19, 21, 22, 23, 25, 31


def document_message(document: Mapping[str, Any]) -> bytes:
    """Return an OpenAPI 2 document as gnostic's protobuf; kubectl needs no paths, so there are none."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    definitions = b"".join(put_bytes(1, _named(name, s)) for name, s in document["definitions"].items())
    body = put_bytes(2, info) + put_bytes(8, b"") + put_bytes(9, definitions)
    return _text(1, document["swagger"]) + body


def _named(name: str, schema: Mapping[str, Any]) -> bytes:
    return _text(1, name) + put_bytes(2, _schema(schema))


def _schema(schema: Mapping[str, Any]) -> bytes:
    parts = [_text(number, str(schema[name])) for name, number in _TEXTS.items() if schema.get(name)]
    parts += [_text(_REQUIRED, name) for name in schema.get("required") or []]
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        parts.append(put_bytes(_ADDITIONAL, put_bytes(1, _schema(additional))))
    if kind := schema.get("type"):
        parts.append(put_bytes(_TYPE, _text(1, kind)))
    if isinstance(items := schema.get("items"), Mapping):
        parts.append(put_bytes(_ITEMS, put_bytes(1, _schema(items))))
    if properties := schema.get("properties"):
        listed = b"".join(put_bytes(1, _named(name, part)) for name, part in properties.items())
        parts.append(put_bytes(_PROPERTIES, listed))
    for name, value in schema.items():
        if name.startswith("x-"):
            parts.append(put_bytes(_EXTENSION, _text(1, name) + put_bytes(2, _text(2, json.dumps(value)))))
    return b"".join(parts)


def _text(number: int, text: str) -> bytes:
    return put_bytes(number, text.encode())
