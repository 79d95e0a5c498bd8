"""What OpenAPI 2 and 3 show of a definition's schema, as a kube-apiserver 1.36 does."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.resources import Resource
from ktui.kube.structural.published import TYPE_MEMBERS, custom_schemas

HEAD: dict[str, Any] = {
    **TYPE_MEMBERS,
    "metadata": {"$ref": "#/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
}
ANY = {"x-kubernetes-preserve-unknown-fields": True}
EITHER = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
ONE_OF = {
    "type": "object",
    "nullable": True,
    "oneOf": [{"required": ["a"]}],
    "properties": {"a": {"type": "string"}},
}


def published(schema: dict[str, Any], openapi: int) -> dict[str, Any]:
    kind = Resource("a.b", "v1", "ws", "W", "w", True, custom=True, schemas={"v1": schema})
    found: dict[str, Any] = custom_schemas(kind, "#/", openapi=openapi)["b.a.v1.W"]
    assert found.pop("x-kubernetes-group-version-kind") == [{"group": "a.b", "kind": "W", "version": "v1"}]
    return found


@pytest.mark.parametrize(
    ("part", "in_2", "in_3"),
    [
        (ANY, ANY, ANY),
        (EITHER, {"x-kubernetes-int-or-string": True}, EITHER),
        (
            {"type": "integer", "nullable": True, "default": 3},
            {},
            {"type": "integer", "nullable": True, "default": 3},
        ),
        (ONE_OF, {}, ONE_OF),
        (
            {"type": "object", **ANY, "properties": {"a": {}}},
            ANY,
            {"type": "object", **ANY, "properties": {"a": {}}},
        ),
        ({"type": "array", **ANY, "items": {}}, ANY, {"type": "array", **ANY, "items": {}}),
        (
            EMBEDDED,
            {**EMBEDDED, "properties": HEAD, "required": ["kind", "apiVersion"]},
            {**EMBEDDED, "properties": HEAD, "required": ["kind", "apiVersion"]},
        ),
        (
            {**EMBEDDED, **ANY},
            {**ANY, "x-kubernetes-embedded-resource": True},
            {**EMBEDDED, **ANY, "properties": HEAD, "required": ["kind", "apiVersion"]},
        ),
        (
            {"type": "object", "required": ["a", "b"], "properties": {"a": {"nullable": True}, "b": {}}},
            {"type": "object", "required": ["b"], "properties": {"a": {}, "b": {}}},
            {"type": "object", "required": ["a", "b"], "properties": {"a": {"nullable": True}, "b": {}}},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "array", "items": EITHER}},
            {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"x-kubernetes-int-or-string": True}},
            },
            {"type": "object", "additionalProperties": {"type": "array", "items": EITHER}},
        ),
    ],
)
def test_a_part_of_a_schema(part: dict[str, Any], in_2: dict[str, Any], in_3: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"p": part}}
    assert published(schema, 2) == {"type": "object", "properties": {"p": in_2, **HEAD}}
    assert published(schema, 3) == {"type": "object", "properties": {"p": in_3, **HEAD}}
    assert schema == {"type": "object", "properties": {"p": part}}, "what is stored stays as it is"


def test_a_kind_of_any_fields_has_no_properties_in_openapi_2() -> None:
    schema = {"type": "object", **ANY, "properties": {"a": {"type": "string"}}}
    assert published(schema, 2) == {"type": "object"}
    assert published(schema, 3) == {"type": "object", **ANY, "properties": {"a": {"type": "string"}, **HEAD}}
    assert published({}, 2) == published({}, 3) == {"type": "object", "properties": HEAD}
