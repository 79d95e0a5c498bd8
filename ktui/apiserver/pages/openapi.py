"""The part of /openapi/v3 that kubectl needs before it writes.

kubectl looks up whether a kind's PATCH supports `fieldValidation`, and otherwise validates
itself (for which it would need all schemas). Schemas are not served.
"""

from __future__ import annotations

from typing import Any

from ktui.kube.resources import Resource, ResourceTable

ROOT = "/openapi/v3"


def index(table: ResourceTable) -> dict[str, Any]:
    """The paths of the documents by group version."""
    paths = {_path_of(r): {"serverRelativeURL": f"{ROOT}/{_path_of(r)}"} for r in table.all() if r.stored}
    return {"paths": dict(sorted(paths.items()))}


def document(table: ResourceTable, path: str) -> dict[str, Any] | None:
    """The document of `api/v1` or `apis/apps/v1`; None if that is not served."""
    resources = [r for r in table.all() if _path_of(r) == path and r.stored]
    if not resources:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": {url: item for r in resources for url, item in _paths(r).items()},
        "components": {"schemas": {}},
    }


def _path_of(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"


def _paths(resource: Resource) -> dict[str, Any]:
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    url = f"/{_path_of(resource)}{scope}/{resource.resource}/{{name}}"
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
        for name in ("dryRun", "fieldManager", "fieldValidation")
    ]
    operation = {
        "operationId": f"patch{resource.kind}",
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": kind,
    }
    return {url: {"patch": operation}}
