"""The resources that kube-apiserver serves and where etcd keeps them: GVR ↔ GVK ↔ key prefix."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

NODE_NAME = "spec.nodeName"
"""The indexed field of pods; no other resource has an index that a LIST's selector can use."""


def finds_namespaces(minor: int, *, pods: bool) -> bool:
    """Return True if a LIST of one namespace looks only at that namespace's objects.

    Since 1.32 the cache is ordered by key. Before, it was a hash map that was copied whole and filtered by
    prefix; only pods had an index, since 1.30.
    """
    return minor >= 32 or (pods and minor >= 30)


ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of the server-side Table. `priority` above 0: only in wide output.

    `source` is where the cell comes from: a description for built-in kinds, a JSONPath
    (`.spec.size`) for custom resources. `type` and `format` are OpenAPI's.
    """

    name: str
    priority: int = 0
    source: str = ""
    type: str = "string"
    format: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource in one served version.

    `prefix` is the key prefix below --etcd-prefix, without a leading slash (`services/specs/`); it is empty
    for kinds that are never stored (reviews, bindings). `storage_version` is the apiVersion in which objects
    are stored. `gated` kinds are off unless a feature gate or --runtime-config enables them: readable if etcd
    holds them, absent from discovery. `deprecation` is the warning added to every answer. `schemas` has a
    custom resource's structural schemas by version (of all versions; empty if nothing is pruned), `scale` the
    paths of its scale subresource as its definition has them.

    `id` is the name in telemetry, on screens and on the command line: `pods`, `leases.coordination.k8s.io`;
    `api_version` is `v1`, `apps/v1`. `stored`: etcd holds objects of it; `served_as_stored`: in the served
    version.
    """

    group: str
    version: str
    resource: str
    kind: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    prefix: str = ""
    storage_version: str = ""
    encoding: str = "protobuf"
    field_selectors: tuple[str, ...] = ()
    columns: tuple[TableColumn, ...] = ()
    subresources: tuple[str, ...] = ()
    custom: bool = False
    verbs: tuple[str, ...] = ALL_VERBS
    list_kind: str = ""
    gated: bool = False
    deprecation: str = ""
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    scale: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    id: str = field(init=False, compare=False, repr=False)
    api_version: str = field(init=False, compare=False, repr=False)
    stored: bool = field(init=False, compare=False, repr=False)
    served_as_stored: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        group = self.group
        api_version = f"{group}/{self.version}" if group else self.version
        object.__setattr__(self, "id", f"{self.resource}.{group}" if group else self.resource)
        object.__setattr__(self, "api_version", api_version)
        object.__setattr__(self, "stored", bool(self.prefix))
        object.__setattr__(self, "served_as_stored", self.storage_version in ("", api_version))

    @property
    def internal_group(self) -> str:
        """The group of upstream's internal type, which errors of values name: all Events are the core's."""
        return "" if self.resource == "events" and not self.custom else self.group

    @property
    def path(self) -> str:
        """URL path of the collection over all namespaces: `/api/v1/pods`, `/apis/apps/v1/deployments`."""
        root = "/apis" if self.group else "/api"
        return f"{root}/{self.api_version}/{self.resource}"

    def at(self, version: str) -> Resource:
        """Return the same resource in another served version (nothing else differs for a built-in kind)."""
        return self if version == self.version else replace(self, version=version)


class ResourceTable:
    """Resources that can be found by each of their names. Immutable; `plus` returns a larger table."""

    def __init__(self, source: Iterable[Resource] | Callable[[], Iterable[Resource]]) -> None:
        self._source = source

    @cached_property
    def _all(self) -> tuple[Resource, ...]:
        return tuple(self._source() if callable(self._source) else self._source)

    @cached_property
    def _preferred(self) -> tuple[Resource, ...]:
        first: dict[tuple[str, str], Resource] = {}
        for resource in self._all:
            first.setdefault((resource.group, resource.resource), resource)
        return tuple(first.values())

    @cached_property
    def _group_versions(self) -> frozenset[tuple[str, str]]:
        return frozenset((group, version) for group, version, _ in self._by_gvr)

    @cached_property
    def _by_gvr(self) -> dict[tuple[str, str, str], Resource]:
        found: dict[tuple[str, str, str], Resource] = {}
        for resource in self._all:
            for version in resource.versions:
                found.setdefault((resource.group, version, resource.resource), resource.at(version))
        # An explicit version (custom resources) takes precedence over one derived by `at`.
        found.update({(r.group, r.version, r.resource): r for r in self._all})
        return found

    @cached_property
    def _by_prefix(self) -> dict[str, Resource]:
        return {r.prefix: r for r in reversed(self._preferred) if r.prefix}

    @cached_property
    def _by_name(self) -> dict[str, Resource]:
        names: dict[str, Resource] = {}
        for r in self.preferred():
            singular = r.singular, *r.short_names, r.kind.lower(), f"{r.singular}.{r.group}"
            for name in (r.id, r.resource, *singular):
                names.setdefault(name, r)
        return names

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._all)

    def all(self) -> tuple[Resource, ...]:
        """Every entry: built-ins once (preferred version), custom resources once per served version."""
        return self._all

    def preferred(self) -> tuple[Resource, ...]:
        """Return each resource once, in its preferred version."""
        return self._preferred

    def find(self, group: str, version: str, resource: str) -> Resource | None:
        """Find a resource by group ("" for core), version and plural name; None if there is none."""
        return self._by_gvr.get((group, version, resource))

    def by_prefix(self, prefix: str) -> Resource | None:
        """Find a resource by its etcd prefix (`services/specs/`). For events: that of the core group."""
        return self._by_prefix.get(prefix)

    def by_name(self, name: str) -> Resource | None:
        """Find a resource by any name that kubectl accepts: plural, singular, kind, short name,
        `plural.group`.

        Core groups come first.
        """
        return self._by_name.get(name.lower())

    def serves(self, group: str, version: str) -> bool:
        """Return True if the group and version has served resources."""
        return (group, version) in self._group_versions

    @cached_property
    def _announced(self) -> frozenset[str]:
        return frozenset(resource.group for resource in self._all if not resource.gated)

    def announces(self, group: str) -> bool:
        """True if discovery has that group: one whose kinds are all gated is unknown to clients."""
        return group in self._announced

    def plus(self, resources: Iterable[Resource]) -> ResourceTable:
        """Return a table with these resources, which replace those of the same group, version and name."""
        added = tuple(resources)
        replaced = {(r.group, r.version, r.resource) for r in added}
        kept = (r for r in self._all if (r.group, r.version, r.resource) not in replaced)
        return ResourceTable((*kept, *added))


def _load_builtin() -> list[Resource]:
    # Start-up time: importlib.resources is slow to import, and --help does not need it.
    from importlib.resources import files

    data = files("ktui.kube").joinpath("data", "resources.json").read_bytes()
    return [_builtin(row) for row in json.loads(data)["resources"]]


def _builtin(row: dict[str, Any]) -> Resource:
    stored = row.get("stored") or {}
    versions = tuple(row["versions"])
    fields = tuple(row.get("fieldSelectors", ()))
    return Resource(
        group=row["group"],
        version=versions[0],
        resource=row["resource"],
        kind=row["kind"],
        singular=row["singular"],
        namespaced=row["namespaced"],
        short_names=tuple(row.get("short", ())),
        categories=tuple(row.get("categories", ())),
        versions=versions,
        prefix=stored.get("prefix", "").removeprefix("/registry/"),
        storage_version=stored.get("apiVersion", ""),
        encoding=stored.get("encoding", "protobuf"),
        field_selectors=fields,
        columns=tuple(
            TableColumn(name, priority, *source) for name, priority, *source in row.get("columns", ())
        ),
        subresources=tuple(row.get("subresources", ())),
        verbs=tuple(row.get("verbs", _verbs(row["resource"]))),
        list_kind=row["kind"] + "List",
        gated="note" in row or all("alpha" in v or "beta" in v for v in versions),
    )


def _verbs(resource: str) -> tuple[str, ...]:
    # kube-apiserver offers no DELETECOLLECTION of namespaces.
    return tuple(v for v in ALL_VERBS if resource != "namespaces" or v != "deletecollection")


BUILTIN = ResourceTable(_load_builtin)
"""The built-in kinds of Kubernetes 1.19–1.37; read on first use."""


def builtin(group: str, name: str) -> Resource:
    """Return a built-in resource that is served as v1."""
    found = BUILTIN.find(group, "v1", name)
    assert found is not None
    return found
