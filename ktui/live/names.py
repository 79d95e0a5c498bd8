"""Find the resource of a metric from its labels, which differ between minors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ktui.kube.resources import BUILTIN

Labels = Mapping[str, str]


def resource_of(labels: Labels) -> str:
    """Return the resource id, `pods` or `ciliumnodes.cilium.io`; "" if the labels name no known resource.

    1.34 and later: `group` and `resource`. Before: `resource` with its group, `resource_prefix` for the
    cache's LISTs, `type` for etcd's requests, `kind` for watch events.
    """
    if (resource := labels.get("resource")) is not None:
        group = labels.get("group", "")
        return f"{resource}.{group}" if group and resource else resource
    if (prefix := labels.get("resource_prefix")) is not None:
        return _of_prefix(prefix.strip("/"))
    if (kind := labels.get("type")) is not None:
        return _of_type(kind.strip("/"))
    if (kind := labels.get("kind")) is not None:
        return _kinds().get((labels.get("group", ""), kind), "")
    return ""


def self_requested(labels: Labels) -> str:
    """Return the resource of a request that the server sent to itself: before 1.34 it has no group."""
    found = resource_of(labels)
    return found if "group" in labels else _plurals().get(found, found)


@lru_cache(maxsize=1)
def _plurals() -> dict[str, str]:
    return {resource.id.partition(".")[0]: resource.id for resource in reversed(BUILTIN.preferred())}


@lru_cache(maxsize=4096)
def _of_prefix(prefix: str) -> str:
    if (found := _prefixes().get(prefix)) is not None:
        return found
    group, _, plural = prefix.rpartition("/")
    return f"{plural}.{group}" if group else plural


@lru_cache(maxsize=4096)
def _of_type(name: str) -> str:
    """Return the resource of a type `*core.Pod`; "" for custom resources (`*unstructured.Unstructured`)."""
    if not name.startswith("*"):
        return name
    package, _, kind = name[1:].partition(".")
    return _types().get((package, kind), "")


@lru_cache(maxsize=1)
def _prefixes() -> dict[str, str]:
    # Two groups share a prefix (events): the first one is used.
    return {resource.prefix.strip("/"): resource.id for resource in reversed(BUILTIN.all())}


@lru_cache(maxsize=1)
def _types() -> dict[tuple[str, str], str]:
    return {(res.group.partition(".")[0] or "core", res.kind): res.id for res in reversed(BUILTIN.all())}


@lru_cache(maxsize=1)
def _kinds() -> dict[tuple[str, str], str]:
    return {(resource.group, resource.kind): resource.id for resource in reversed(BUILTIN.all())}
