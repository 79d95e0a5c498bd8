"""Build the OpenAPI schemas of a custom resource from its definition's."""

from __future__ import annotations

from typing import Any

from ktui.kube.resources import Resource

OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
LIST_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
TEXT = {"type": "string"}


def custom_name(resource: Resource) -> str:
    """Return the schema's name: `io.example.v1.Gizmo` for the kind Gizmo of example.io/v1."""
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def custom_schemas(resource: Resource, root: str) -> dict[str, Any]:
    """Return the schemas of the kind and of its list; references begin with `root`."""
    schema: dict[str, Any] = {"type": "object", **(resource.schemas.get(resource.version) or {})}
    head = {"apiVersion": TEXT, "kind": TEXT, "metadata": {"$ref": root + OBJECT_META}}
    schema["properties"] = {**(schema.get("properties") or {}), **head}
    gvk = {"group": resource.group, "kind": resource.kind, "version": resource.version}
    schema["x-kubernetes-group-version-kind"] = [gvk]
    name = custom_name(resource)
    listed = {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": TEXT,
            "items": {"type": "array", "items": {"$ref": root + name}},
            "kind": TEXT,
            "metadata": {"$ref": root + LIST_META},
        },
        "x-kubernetes-group-version-kind": [{**gvk, "kind": resource.list_kind}],
    }
    return {name: schema, f"{name}List": listed}
