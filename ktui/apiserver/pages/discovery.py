"""`/api`, `/apis` and the paths below them: discovery of the served resources."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.http.request import Request
from ktui.apiserver.negotiation import parse_accept
from ktui.kube import discovery
from ktui.kube.resources import BUILTIN, ResourceTable

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
