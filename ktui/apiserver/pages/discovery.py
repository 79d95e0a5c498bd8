"""Discovery of the served resources (/api, /apis and below), and their OpenAPI documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec.json

from ktui.apiserver.catalog import Catalog
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response, header
from ktui.apiserver.negotiation import JSON, acceptable, parse_accept
from ktui.cacher.settings import Settings
from ktui.kube import discovery
from ktui.kube.discovery import subresources_of
from ktui.kube.resources import BUILTIN, Resource, ResourceTable
from ktui.kube.structural.published import custom_name, custom_schemas
from ktui.telemetry.off_loop import compute_large
from ktui.wire.openapi import COMPONENTS, DEFINITIONS, MEDIA_TYPES, document_message, kind_schema, schemas_of

Document = dict[str, Any]


def find_document(table: ResourceTable, request: Request) -> tuple[Document, str] | None:
    """Return the document and its media type; None if the path is not served or not for discovery."""
    parts = request.path.strip("/").split("/")
    root = parts[0]
    if root not in ("api", "apis"):
        return None
    if len(parts) == 1:
        version = aggregated_version(request.accept)
        if version:
            document = discovery.group_discovery_list(table, core=root == "api", version=version)
            return document, f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    document_or_none = _plain(table, parts, request.headers.get("host", ""))
    return None if document_or_none is None else (document_or_none, "application/json")


def served_by_verb(path: str) -> bool:
    """Return True if methods other than GET are refused: groups, and versions of custom ones, accept any."""
    parts = path.strip("/").split("/")
    return parts[0] == "api" or (len(parts) == 3 and BUILTIN.announces(parts[1]))


def aggregated_version(accept: str) -> str:
    """Return the version of aggregated discovery that the client prefers to the plain form, "" for none."""
    for clause in parse_accept(accept):
        if clause.mime != "application/json":
            continue
        if clause.parameters.get("as") != "APIGroupDiscoveryList":
            return ""
        if clause.parameters.get("v") in discovery.AGGREGATED_VERSIONS:
            return clause.parameters["v"]
    return ""


def _plain(table: ResourceTable, parts: list[str], host: str) -> Document | None:
    match parts:
        case ["api"]:
            return discovery.api_versions(host)
        case ["apis"]:
            return discovery.api_group_list(table)
        case ["api", version]:
            return discovery.api_resource_list(table, "", version)
        case ["apis", group]:
            return discovery.api_group(table, group)
        case ["apis", group, version]:
            return discovery.api_resource_list(table, group, version)
    return None


V2, ROOT = "/openapi/v2", "/openapi/v3"
TEXT = "text/plain; charset=utf-8"
SENT_TYPE = MEDIA_TYPES[1]
KEPT = 64  # documents
_YEAR = "31536000"
_ACTIONS = {
    "get": ("get", "get"),
    "list": ("get", "list"),
    "create": ("post", "post"),
    "update": ("put", "put"),
    "patch": ("patch", "patch"),
    "delete": ("delete", "delete"),
    "deletecollection": ("delete", "deletecollection"),
}
_ON_COLLECTION = frozenset({"list", "create", "deletecollection"})
_WRITES = frozenset({"create", "update", "patch"})


class OpenApiPages:
    """/openapi/v2 and /openapi/v3: types and paths of the resources that the current version serves.

    For `kubectl explain` and code generators. Built-in kinds have no descriptions; those of custom resources
    come from their definitions. Documents are rendered when they are requested, in the thread for large work,
    and cached until definitions change; `Etag` and `?hash=` identify content.
    """

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings

    async def index(self, request: Request, response: Response) -> None:
        # Upstream sends this JSON as text.
        document = index(self._catalog.table, self._release)
        await response.whole(200, TEXT, msgspec.json.encode(document) + b"\n")

    async def group_version(self, request: Request, response: Response) -> None:
        path = request.path.strip("/").removeprefix(ROOT.strip("/") + "/")
        resources = _at(self._catalog.table, path)
        if not resources or not acceptable(request.accept, JSON):
            await response.whole(406 if resources else 404, "", b"")
            return
        await self._send(request, response, resources, version=3)

    async def whole(self, request: Request, response: Response) -> None:
        """The swagger document, as JSON or as protobuf."""
        message = any(clause.mime in MEDIA_TYPES for clause in parse_accept(request.accept))
        if not message and not acceptable(request.accept, JSON):
            await response.whole(406, "", b"")
            return
        resources = _documented(self._catalog.table)
        await self._send(request, response, resources, version=2, media_type=SENT_TYPE if message else JSON)

    @property
    def _release(self) -> int:
        return self._settings.behaviour.minor

    async def _send(
        self,
        request: Request,
        response: Response,
        found: list[Resource],
        version: int,
        media_type: str = JSON,
    ) -> None:
        tag = digest(found, self._release)
        if version == 3 and (asked := request.parameter("hash")):
            if asked != tag:
                response.add_headers([header("location", f"{request.path}?hash={tag}")])
                await response.whole(301, "", b"")
                return
            response.add_headers([header("cache-control", f"public, immutable, max-age={_YEAR}")])
        response.add_headers([header("etag", f'"{tag}"'), (b"vary", b"Accept")])
        if request.headers.get("if-none-match", "") == f'"{tag}"':
            await response.whole(304, "", b"")
            return
        key = version, tag, media_type
        body = _BODIES.get(key)
        if body is None:
            body = await compute_large(_made, key, tuple(found), self._release)
        await response.whole(200, media_type, body)


_BODIES: dict[tuple[int, str, str], bytes] = {}


def _made(key: tuple[int, str, str], resources: tuple[Resource, ...], release: int) -> bytes:
    version, _, media_type = key
    document = (swagger if version == 2 else components)(list(resources), release)
    if len(_BODIES) >= KEPT:
        _BODIES.clear()
    body = _BODIES[key] = document_message(document) if media_type != JSON else msgspec.json.encode(document)
    return body


def index(table: ResourceTable, release: int) -> Document:
    """Return the index: the paths of the documents by group version."""
    by_path: dict[str, list[Resource]] = {}
    for resource in _documented(table):
        by_path.setdefault(_path_of(resource), []).append(resource)
    paths = {
        path: {"serverRelativeURL": f"{ROOT}/{path}?hash={digest(resources, release)}"}
        for path, resources in by_path.items()
    }
    return {"paths": dict(sorted(paths.items()))}


def components(resources: list[Resource], release: int) -> Document:
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": {url: item for r in resources for url, item in _paths(r, COMPONENTS, version=3).items()},
        "components": {"schemas": _schemas(resources, release, COMPONENTS)},
    }


def swagger(resources: list[Resource], release: int) -> Document:
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": f"v1.{release}"},
        "paths": {url: item for r in resources for url, item in _paths(r, DEFINITIONS, version=2).items()},
        "definitions": _schemas(resources, release, DEFINITIONS),
    }


def digest(resources: Iterable[Resource], release: int) -> str:
    """Return a hash of the documents' content, which changes with the version and with definitions."""
    found = hashlib.sha256(str(release).encode())
    for resource in resources:
        content = [resource.path, resource.kind, dict(resource.schemas)] if resource.custom else None
        found.update(msgspec.json.encode(content, order="sorted") if content else resource.path.encode())
    return found.hexdigest().upper()


@lru_cache(maxsize=8)
def _documented(table: ResourceTable) -> list[Resource]:
    """Return each resource in each of its versions, including those that are never stored (reviews)."""
    built_in = [r.at(version) for r in table.all() if not r.custom and not r.gated for version in r.versions]
    return [*built_in, *(r for r in table.all() if r.custom)]


def _at(table: ResourceTable, path: str) -> list[Resource]:
    return [r for r in _documented(table) if _path_of(r) == path]


def _schemas(resources: list[Resource], release: int, root: str) -> Document:
    built_in = [(r.api_version, r.kind) for r in resources if not r.custom]
    found = schemas_of(built_in, release, root)
    for resource in resources:
        if resource.custom:
            found |= custom_schemas(resource, root, openapi=2 if root == DEFINITIONS else 3)
    return found


def _path_of(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"


def _paths(resource: Resource, root: str, *, version: int) -> Document:
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    collection = f"/{_path_of(resource)}{scope}/{resource.resource}"
    name = custom_name(resource) if resource.custom else kind_schema(resource.api_version, resource.kind)
    ref = {"$ref": root + name} if name else {}
    found: dict[str, Document] = {}
    for verb in resource.verbs:
        if verb in _ACTIONS:
            url = collection if verb in _ON_COLLECTION else f"{collection}/{{name}}"
            method, operation = _ACTIONS[verb][0], _operation(resource, verb, ref, version)
            found.setdefault(url, {})[method] = operation
    for sub in subresources_of(resource):
        item = found.setdefault(f"{collection}/{{name}}/{sub.name}", {})
        for verb in sub.verbs:
            method = _ACTIONS[verb][0]
            item[method] = _operation(resource, verb, {}, version, sub.name)
    return found


def _operation(
    resource: Resource, verb: str, ref: Mapping[str, str], version: int, sub: str = ""
) -> Document:
    answer: Document = {"description": "OK"}
    if ref:
        answer |= {"schema": ref} if version == 2 else {"content": {JSON: {"schema": ref}}}
    text = {"type": "string"} if version == 2 else {"schema": {"type": "string", "uniqueItems": True}}
    names = ("dryRun", "fieldManager", "fieldValidation") if verb in _WRITES else ()
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return {
        "operationId": f"{verb}{resource.group.title().replace('.', '')}{resource.version.title()}"
        f"{resource.kind}{sub.title()}",
        "parameters": [{"name": name, "in": "query", **text} for name in names],
        "responses": {"200": answer},
        "x-kubernetes-action": _ACTIONS[verb][1],
        "x-kubernetes-group-version-kind": kind,
    }
