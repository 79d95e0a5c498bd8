"""Check that an object has the kind that a path requires, with Go's decoding errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.kube.fielderrors import invalid_object, invalid_value
from ktui.kube.golang.formatting import quote
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

Obj = dict[str, Any]
Knows = Callable[[str, str], bool]

SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
# Groups whose kinds share an internal type.
FAMILIES = (
    frozenset({"", "events.k8s.io"}),
    frozenset({"apps", "extensions"}),
    frozenset({"extensions", "networking.k8s.io"}),
)


def kind_fault(obj: Obj, resource: Resource, knows: Knows) -> str:
    """Return why the object cannot be decoded as one of `resource`, in any version; "" if it can.

    `knows` reports whether an apiVersion has a kind.
    """
    api_version, kind = str(obj.get("apiVersion")), str(obj.get("kind"))
    group, _, version = api_version.rpartition("/")
    if resource.custom or (api_version, kind) == (resource.api_version, resource.kind):
        return ""
    if not knows(api_version, kind):
        return unregistered(api_version, kind)
    if kind == resource.kind and _related(group, resource.group):
        return ""
    internal = "core" if resource.kind == "Event" else resource.group.partition(".")[0] or "core"
    return f"converting ({version}.{kind}) to ({internal}.{resource.kind}): unknown conversion"


def unregistered(api_version: str, kind: str) -> str:
    return f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme {quote(SCHEME)}"


def wrong_custom_kind(obj: Obj, resource: Resource) -> StatusError | None:
    """The 422 for a custom resource of another kind, which can be decoded but is not valid; else None."""
    if not resource.custom:
        return None
    wanted = (("kind", resource.kind), ("apiVersion", resource.api_version))
    errors = [
        invalid_value(name, str(obj.get(name)), f"must be {right}")
        for name, right in wanted
        if obj.get(name) != right
    ]
    if not errors:
        return None
    metadata = obj.get("metadata")
    name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
    return invalid_object(str(obj.get("kind")), str(obj.get("apiVersion")).rpartition("/")[0], name, errors)


def _related(one: str, other: str) -> bool:
    return one == other or any({one, other} <= family for family in FAMILIES)
