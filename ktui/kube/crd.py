"""Custom resources, read from a CustomResourceDefinition document.

etcd holds CRDs in apiextensions.k8s.io/v1beta1, where columns, schema and
subresources may be given once for all versions; clients send v1. Both are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ktui.kube.resources import Resource, TableColumn

META_FIELDS = ("metadata.name", "metadata.namespace")


def resources_of(crd: Mapping[str, Any]) -> list[Resource]:
    """Return one Resource per served version, the preferred one first; [] if none is served.

    Raises KeyError or TypeError if the document is not a CRD.
    """
    spec = crd["spec"]
    served = [v for v in _versions(spec) if v.get("served", True)]
    served.sort(key=lambda v: version_priority(v["name"]))
    names = tuple(v["name"] for v in served)
    schemas = {} if _keeps_unknown(crd) else _schemas(spec)
    return [_resource(spec, version, names, schemas) for version in served]


def _keeps_unknown(crd: Mapping[str, Any]) -> bool:
    """Return `preserveUnknownFields`, which defaults to true in v1beta1."""
    old = str(crd.get("apiVersion", "")).endswith("/v1beta1")
    return bool(crd["spec"].get("preserveUnknownFields", old))


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


def _storage_version(spec: Mapping[str, Any]) -> str:
    versions = _versions(spec)
    return str(next((v["name"] for v in versions if v.get("storage")), versions[0]["name"]))


def _resource(
    spec: Mapping[str, Any],
    version: Mapping[str, Any],
    versions: tuple[str, ...],
    schemas: Mapping[str, Mapping[str, Any]],
) -> Resource:
    group, names = spec["group"], spec["names"]
    namespaced = spec.get("scope", "Namespaced") == "Namespaced"
    kind = names["kind"]
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
        storage_version=f"{group}/{_storage_version(spec)}",
        encoding="json",
        field_selectors=_field_selectors(spec, version, namespaced),
        columns=_columns(spec, version),
        subresources=tuple(k for k in ("status", "scale") if k in _shared(spec, version, "subresources", {})),
        custom=True,
        list_kind=names.get("listKind") or f"{kind}List",
        deprecation=_deprecation(spec, version),
        schemas=schemas,
        scale=_shared(spec, version, "subresources", {}).get("scale") or {},
    )


def _deprecation(spec: Mapping[str, Any], version: Mapping[str, Any]) -> str:
    """Return the warning of a deprecated version: its own text, or the newer version to use; "" otherwise."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    group, kind, name = spec["group"], spec["names"]["kind"], version["name"]
    newer = [
        v["name"]
        for v in _versions(spec)
        if v.get("served", True)
        and not v.get("deprecated")
        and version_priority(v["name"]) < version_priority(name)
    ]
    better = f"; use {group}/{min(newer, key=version_priority)} {kind}" if newer else ""
    return f"{group}/{name} {kind} is deprecated{better}"


def _shared(spec: Mapping[str, Any], version: Mapping[str, Any], member: str, default: Any) -> Any:
    """Return a member of the version, else (v1beta1) the member given for all versions."""
    return version.get(member) or spec.get(member) or default


def _field_selectors(
    spec: Mapping[str, Any], version: Mapping[str, Any], namespaced: bool
) -> tuple[str, ...]:
    meta = META_FIELDS if namespaced else META_FIELDS[:1]
    selectable = _shared(spec, version, "selectableFields", [])
    return (*meta, *(field["jsonPath"].removeprefix(".") for field in selectable))


def _columns(spec: Mapping[str, Any], version: Mapping[str, Any]) -> tuple[TableColumn, ...]:
    """Return `additionalPrinterColumns`; without any, upstream adds its own age column."""
    extra = _shared(spec, version, "additionalPrinterColumns", None)
    if not extra:
        return (TableColumn("Age", source=".metadata.creationTimestamp", type="date"),)
    return tuple(map(_column, extra))


def _column(column: Mapping[str, Any]) -> TableColumn:
    path = column.get("jsonPath") or column.get("JSONPath", "")
    return TableColumn(
        name=column["name"],
        priority=column.get("priority", 0),
        source=path,
        type=column.get("type", "string"),
        format=column.get("format", ""),
        description=column.get("description")
        or f"Custom resource definition column (in JSONPath format): {path}",
    )


def version_priority(version: str) -> tuple[int, int, int, str]:
    """Return a sort key: GA before beta before alpha, higher numbers first, other names last."""
    major, stage, minor = _split_version(version)
    rank = {"": 0, "beta": 1, "alpha": 2}.get(stage, 3)
    return (rank, -major, -minor, version) if rank < 3 else (rank, 0, 0, version)


def is_stable(version: str) -> bool:
    """Return True for a version that is neither alpha nor beta."""
    return "alpha" not in version and "beta" not in version


def _split_version(version: str) -> tuple[int, str, int]:
    digits, stage, minor = version.removeprefix("v"), "", "0"
    for word in ("alpha", "beta"):
        if word in digits:
            digits, _, minor = digits.partition(word)
            stage = word
    minor = minor or "0"
    if version.startswith("v") and digits.isdecimal() and minor.isdecimal():
        return int(digits), stage, int(minor)
    return 0, "other", 0
