"""Custom resources, read from a CustomResourceDefinition document.

etcd holds CRDs in apiextensions.k8s.io/v1beta1, where columns, schema and
subresources may be given once for all versions; clients send v1. Both are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ktui.kube.resources import Resource, TableColumn
from ktui.kube.selectors.fields import META_FIELDS

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d*))?")


def resources_of(crd: Mapping[str, Any]) -> list[Resource]:
    """Return one Resource per served version, the preferred one first; [] if none is served.

    Raises KeyError or TypeError if the document is not a CRD.
    """
    spec = crd["spec"]
    served = [v for v in _versions(spec) if v.get("served", True)]
    served.sort(key=lambda v: version_priority(v["name"]))
    names = tuple(v["name"] for v in served)
    old = str(crd.get("apiVersion", "")).endswith("/v1beta1")  # where it defaults to true
    schemas = {} if spec.get("preserveUnknownFields", old) else _schemas(spec)
    return [_resource(spec, version, names, schemas) for version in served]


def _schemas(spec: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the structural schema by version; versions without one are missing."""
    found: dict[str, Mapping[str, Any]] = {}
    for version in _versions(spec):
        schema = (version.get("schema") or spec.get("validation") or {}).get("openAPIV3Schema")
        if isinstance(schema, Mapping) and schema:
            found[version["name"]] = schema
    return found


def _versions(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if spec.get("versions"):
        return list(spec["versions"])
    return [{"name": spec["version"], "served": True, "storage": True}]


def _resource(
    spec: Mapping[str, Any],
    version: Mapping[str, Any],
    versions: tuple[str, ...],
    schemas: Mapping[str, Mapping[str, Any]],
) -> Resource:
    group, names, every = spec["group"], spec["names"], _versions(spec)
    namespaced = spec.get("scope", "Namespaced") == "Namespaced"
    kind = names["kind"]
    stored = next((v["name"] for v in every if v.get("storage")), every[0]["name"])
    selectable = (
        field["jsonPath"].removeprefix(".") for field in _shared(spec, version, "selectableFields", [])
    )
    parts = _shared(spec, version, "subresources", {})
    return Resource(
        group=group,
        version=version["name"],
        resource=names["plural"],
        kind=kind,
        singular=names.get("singular") or kind.lower(),
        namespaced=namespaced,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        versions=versions,
        prefix=f"{group}/{names['plural']}/",
        storage_version=f"{group}/{stored}",
        encoding="json",
        field_selectors=(*META_FIELDS[: 1 + namespaced], *selectable),
        columns=_columns(spec, version),
        subresources=tuple(name for name in ("status", "scale") if name in parts),
        custom=True,
        list_kind=names.get("listKind") or f"{kind}List",
        deprecation=_deprecation(spec, version),
        schemas=schemas,
        scale=parts.get("scale") or {},
    )


def _deprecation(spec: Mapping[str, Any], version: Mapping[str, Any]) -> str:
    """Return the warning of a deprecated version: its own text, or the newer version to use; "" otherwise."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    group, kind, name = spec["group"], spec["names"]["kind"], version["name"]
    served = (v["name"] for v in _versions(spec) if v.get("served", True) and not v.get("deprecated"))
    best = min((name, *served), key=version_priority)
    better = f"; use {group}/{best} {kind}" if version_priority(best) < version_priority(name) else ""
    return f"{group}/{name} {kind} is deprecated{better}"


def _shared(spec: Mapping[str, Any], version: Mapping[str, Any], member: str, default: Any) -> Any:
    """Return a member of the version, else (v1beta1) the member given for all versions."""
    return version.get(member) or spec.get(member) or default


def _columns(spec: Mapping[str, Any], version: Mapping[str, Any]) -> tuple[TableColumn, ...]:
    """Return `additionalPrinterColumns`; without any, upstream adds its own age column."""
    extra = _shared(spec, version, "additionalPrinterColumns", None)
    if not extra:
        return (TableColumn("Age", source=".metadata.creationTimestamp", type="date"),)
    columns = []
    for column in extra:
        path = column.get("jsonPath") or column.get("JSONPath", "")
        described = (
            column.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
        )
        kind, form = column.get("type", "string"), column.get("format", "")
        columns.append(TableColumn(column["name"], column.get("priority", 0), path, kind, form, described))
    return tuple(columns)


def version_priority(version: str) -> tuple[int, int, int, str]:
    """Return a sort key: GA before beta before alpha, higher numbers first, other names last."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return 3, 0, 0, version
    rank = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return rank, -int(found[1]), -int(found[3] or 0), version


def is_stable(version: str) -> bool:
    """Return True for a version that is neither alpha nor beta."""
    return "alpha" not in version and "beta" not in version
