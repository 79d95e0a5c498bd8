"""Resource ids from the labels of metrics, whose names differ between minors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ktui.kube.resources import BUILTIN

Labels = Mapping[str, str]


def resource_of(labels: Labels) -> str:
    """`pods`, `ciliumnodes.cilium.io`; "" when the labels name none that is known.

    1.34 and later: `group` and `resource`. Before: `resource` with the group behind it,
    `resource_prefix` for the cache's LISTs, `type` for etcd's requests, `kind` for watch events.
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


@lru_cache(maxsize=4096)
def _of_prefix(prefix: str) -> str:
    if (found := _prefixes().get(prefix)) is not None:
        return found
    group, _, plural = prefix.rpartition("/")
    return f"{plural}.{group}" if group else plural


@lru_cache(maxsize=4096)
def _of_type(name: str) -> str:
    """`*core.Pod`; custom resources are all `*unstructured.Unstructured`: not known which."""
    if not name.startswith("*"):
        return name
    package, _, kind = name[1:].partition(".")
    return _types().get((package, kind), "")


@lru_cache(maxsize=1)
def _prefixes() -> dict[str, str]:
    # Of two groups with one prefix (events) the first one names it.
    return {resource.prefix.strip("/"): resource.id for resource in reversed(BUILTIN.all())}


@lru_cache(maxsize=1)
def _types() -> dict[tuple[str, str], str]:
    return {(res.group.partition(".")[0] or "core", res.kind): res.id for res in reversed(BUILTIN.all())}


@lru_cache(maxsize=1)
def _kinds() -> dict[tuple[str, str], str]:
    return {(resource.group, resource.kind): resource.id for resource in reversed(BUILTIN.all())}
