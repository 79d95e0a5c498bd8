"""A custom resource's schemas as OpenAPI 2 and 3 publish them (upstream: apiextensions' openapi builder)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ktui.kube.resources import Resource
from ktui.kube.structural.schema import Schema, embedded, preserves

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
TEXT = {"type": "string"}
TYPE_MEMBERS: dict[str, Any] = {
    "apiVersion": {
        **TEXT,
        "description": "APIVersion defines the version of the schema that the object is written in.",
    },
    "kind": {**TEXT, "description": "Kind is the type of the object, in CamelCase."},
}


def custom_name(resource: Resource) -> str:
    """Return the schema's name: `io.example.v1.Gizmo` for the kind Gizmo of example.io/v1."""
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def custom_schemas(resource: Resource, root: str, *, openapi: int) -> dict[str, Any]:
    """Return the schemas of the kind and of its list for OpenAPI 2 or 3; references begin with `root`.

    In OpenAPI 2 a kind that keeps unknown fields has no properties at all: kubectl refuses fields that are
    not among them (upstream: apiextensions' openapi builder).
    """
    schema = resource.schemas.get(resource.version) or {}
    head = _head(root)
    if openapi == 2 and preserves(schema):
        published: dict[str, Any] = {"type": "object"}
    else:
        published = {"type": "object", **_published(schema, head, openapi)}
        published["properties"] = {**(published.get("properties") or {}), **head}
    gvk = {"group": resource.group, "kind": resource.kind, "version": resource.version}
    published["x-kubernetes-group-version-kind"] = [gvk]
    name = custom_name(resource)
    return {name: published, f"{name}List": list_schema(name, {**gvk, "kind": resource.list_kind}, root)}


def _head(root: str) -> dict[str, Any]:
    return {**TYPE_MEMBERS, "metadata": {"$ref": root + OBJECT_META}}


_NOT_IN_2 = ("allOf", "anyOf", "oneOf", "not", "nullable", "default")


def _published(schema: Schema, head: Mapping[str, Any], openapi: int) -> dict[str, Any]:
    """Return a part of a schema as OpenAPI shows it; embedded objects get the members of `head`."""
    found = dict(schema)
    if openapi == 2:
        found = _expressible(found)
    if properties := found.get("properties"):
        found["properties"] = {name: _published(part, head, openapi) for name, part in properties.items()}
    for name in ("items", "additionalProperties"):
        if isinstance(part := found.get(name), Mapping):
            found[name] = _published(part, head, openapi)
    if embedded(found) and not (openapi == 2 and preserves(found)):
        found["properties"] = {**(found.get("properties") or {}), **head}
        found["required"] = [*dict.fromkeys([*(found.get("required") or ()), "kind", "apiVersion"])]
    return found


def _expressible(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a part without what OpenAPI 2 cannot say, or kubectl would misunderstand there."""
    dropped = {*_NOT_IN_2}
    if schema.get("nullable"):
        dropped |= {"type", "items", "properties"}
    if preserves(schema):
        dropped |= {"items", "properties"} | ({"type"} if schema.get("type") == "object" else set())
    found = {name: part for name, part in schema.items() if name not in dropped}
    if found.get("type") == "array" and "items" not in found:
        del found["type"]
    properties = found.get("properties") or {}
    if required := found.pop("required", None):
        kept = [name for name in required if not (properties.get(name) or {}).get("nullable")]
        found |= {"required": kept} if kept else {}
    return found


def list_schema(item: str, gvk: dict[str, str], root: str) -> dict[str, Any]:
    """Return the schema of a list of a kind, whose schema is named `item`."""
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            **TYPE_MEMBERS,
            "items": {"type": "array", "items": {"$ref": root + item}},
            "metadata": {"$ref": root + LIST_META},
        },
        "x-kubernetes-group-version-kind": [gvk],
    }
