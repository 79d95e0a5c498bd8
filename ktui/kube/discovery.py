"""Discovery documents: which groups, versions and resources the server has.

Both forms: one document per group and version (`/api`, `/apis`, `/apis/apps/v1`), and the aggregated one
(apidiscovery.k8s.io/v2) that kubectl has requested since 1.27. As with kube-apiserver's defaults, gated kinds
and the alpha and beta versions of built-in kinds are not listed (they can still be read).
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any, NamedTuple

from ktui.kube.crd import is_stable, version_priority
from ktui.kube.resources import Resource, ResourceTable

_READ_WRITE = ("get", "patch", "update")
_CONNECT = ("create", "get")
_PROXY = ("create", "delete", "get", "patch", "update")


class Subresource(NamedTuple):
    """A subresource. `group` and `version` are those of its kind, ("", "") for the resource's own."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


_SPECIAL = {
    "pods/attach": Subresource("attach", "PodAttachOptions", _CONNECT),
    "pods/binding": Subresource("binding", "Binding", ("create",)),
    "pods/eviction": Subresource("eviction", "Eviction", ("create",), "policy", "v1"),
    "pods/exec": Subresource("exec", "PodExecOptions", _CONNECT),
    "pods/log": Subresource("log", "Pod", ("get",)),
    "pods/portforward": Subresource("portforward", "PodPortForwardOptions", _CONNECT),
    "pods/proxy": Subresource("proxy", "PodProxyOptions", _PROXY),
    "nodes/proxy": Subresource("proxy", "NodeProxyOptions", _PROXY),
    "services/proxy": Subresource("proxy", "ServiceProxyOptions", _PROXY),
    "namespaces/finalize": Subresource("finalize", "Namespace", ("update",)),
    "serviceaccounts/token": Subresource("token", "TokenRequest", ("create",), "authentication.k8s.io", "v1"),
}


def subresources_of(resource: Resource) -> list[Subresource]:
    """Each subresource; those without an entry have the resource's kind and can be read and written."""
    return [_subresource(resource, name) for name in resource.subresources]


def _subresource(resource: Resource, name: str) -> Subresource:
    if name == "scale":
        return Subresource(name, "Scale", _READ_WRITE, "autoscaling", "v1")
    special = None if resource.group else _SPECIAL.get(f"{resource.resource}/{name}")
    return special or Subresource(name, resource.kind, _READ_WRITE)


Document = dict[str, Any]

AGGREGATED_VERSIONS = ("v2", "v2beta1")

# In the order of the custom resource registry; built-in resources are sorted.
_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def api_versions(server_address: str) -> Document:
    """Return the document of `/api`; `server_address` is `HOST:PORT`."""
    address = {"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [address]}


def api_group_list(table: ResourceTable) -> Document:
    """Return the document of `/apis`."""
    groups = [_group(group, versions) for group, versions in _groups(table).items() if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(table: ResourceTable, group: str) -> Document | None:
    """Return the document of `/apis/GROUP`; None if there is no such group."""
    versions = _groups(table).get(group)
    if not group or not versions:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, versions)}


def api_resource_list(table: ResourceTable, group: str, version: str) -> Document | None:
    """Return the document of `/api/v1` (group "") or `/apis/GROUP/VERSION`; None if nothing is served."""
    resources = _groups(table).get(group, {}).get(version)
    if not resources:
        return None
    entries = [entry for resource in resources for entry in _entries(resource)]
    # The core group's document has no apiVersion in upstream either.
    head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
    return {**head, "groupVersion": resources[0].api_version, "resources": entries}


def group_discovery_list(table: ResourceTable, *, core: bool, version: str = "v2") -> Document:
    """Return the aggregated document of `/api` (`core`) or `/apis`, in one of AGGREGATED_VERSIONS."""
    items = []
    for group, versions in _groups(table).items():
        if core == (not group):
            entries = [
                {"version": name, "resources": list(map(_aggregated, resources)), "freshness": "Current"}
                for name, resources in versions.items()
            ]
            items.append({"metadata": {"name": group} if group else {}, "versions": entries})
    head = {"kind": "APIGroupDiscoveryList", "apiVersion": f"apidiscovery.k8s.io/{version}", "metadata": {}}
    return {**head, "items": items}


def api_paths(table: ResourceTable) -> list[str]:
    """Return the paths of all groups and versions, as the list of all paths (`/`) has them."""
    found = ["/api", "/apis", "/apis/"]
    for group, versions in _groups(table).items():
        root = f"/apis/{group}" if group else "/api"
        found += [root, *(f"{root}/{version}" for version in versions)]
    return found


def _groups(table: ResourceTable) -> dict[str, dict[str, list[Resource]]]:
    """Return group → version (preferred first) → resources by name; custom resource groups come last."""
    found: dict[str, dict[str, list[Resource]]] = {group: {} for group in _order(table)}
    for resource in _served(table):
        found[resource.group].setdefault(resource.version, []).append(resource)
    for versions in found.values():
        for resources in versions.values():
            resources.sort(key=lambda resource: resource.resource)
    return {
        group: {v: versions[v] for v in sorted(versions, key=version_priority)}
        for group, versions in found.items()
        if versions
    }


def _order(table: ResourceTable) -> list[str]:
    """The groups in upstream's order; custom ones by the names of their APIServices (`v1.example.io`)."""
    builtin = dict.fromkeys(r.group for r in table if not r.custom)
    names: dict[str, list[str]] = {}
    for resource in table:
        if resource.custom and resource.group not in builtin:
            names.setdefault(resource.group, []).append(resource.version)
    first = {group: min(versions, key=version_priority) for group, versions in names.items()}
    return [*builtin, *sorted(first, key=lambda group: f"{first[group]}.{group}")]


def _served(table: ResourceTable) -> list[Resource]:
    """Return the listed resources, one per version, which custom resources are in the table already."""
    announced = [r for r in table if not r.gated]
    custom = [r for r in announced if r.custom]
    return custom + [r.at(v) for r in announced if not r.custom for v in r.versions if is_stable(v)]


def _group(group: str, versions: dict[str, list[Resource]]) -> Document:
    entries = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": entries, "preferredVersion": entries[0]}


def _verbs(resource: Resource) -> list[str]:
    return [v for v in _CUSTOM_VERBS if v in resource.verbs] if resource.custom else sorted(resource.verbs)


def _optional(resource: Resource) -> Document:
    lists = {"shortNames": resource.short_names, "categories": resource.categories}
    return {key: list(values) for key, values in lists.items() if values}


def _entries(resource: Resource) -> list[Document]:
    name, namespaced = resource.resource, resource.namespaced
    main = {"name": name, "singularName": resource.singular, "namespaced": namespaced, "kind": resource.kind}
    main |= {"verbs": _verbs(resource), **_optional(resource)}
    if resource.stored:  # the hash identifies the stored kind
        group, _, version = resource.storage_version.rpartition("/")
        digest = hashlib.sha256(f"{group}/{version}/{resource.kind}".encode()).digest()
        main["storageVersionHash"] = base64.b64encode(digest[:8]).decode()
    entries = [main]
    for sub in subresources_of(resource):
        entry = {"name": f"{name}/{sub.name}", "singularName": "", "namespaced": namespaced}
        entry |= {"group": sub.group, "version": sub.version} if sub.version else {}
        entries.append({**entry, "kind": sub.kind, "verbs": list(sub.verbs)})
    return entries


_UNNAMED = {"group": "", "version": ""}


def _aggregated(resource: Resource) -> Document:
    # As kube-apiserver's installer, built-in resources name only kinds of another group and version.
    own = {"group": resource.group, "version": resource.version} if resource.custom else _UNNAMED
    entry: Document = {
        "resource": resource.resource,
        "responseKind": {**own, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": _verbs(resource),
        **_optional(resource),
    }
    subresources = []
    for sub in subresources_of(resource):
        foreign = {"group": sub.group, "version": sub.version} if sub.version else own
        kind = {**foreign, "kind": sub.kind}
        subresources.append({"subresource": sub.name, "responseKind": kind, "verbs": list(sub.verbs)})
    return entry | {"subresources": subresources} if subresources else entry
