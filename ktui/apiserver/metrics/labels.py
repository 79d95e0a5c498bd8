"""The labels of a resource in metrics of storage and cache."""

from __future__ import annotations

from ktui.apiserver.metrics.exposition import Labels
from ktui.kube.resources import Resource
from ktui.kube.versions import Behaviour

# Kubernetes 1.34 replaced `resource`, `resource_prefix` and `type` by `group,resource`.
GROUP_LABEL_MINOR = 34


def resource_labels(resource: Resource, behaviour: Behaviour, before: str = "resource") -> Labels:
    """Return `group` and `resource`; up to 1.33 one label named `before`."""
    if behaviour.minor >= GROUP_LABEL_MINOR:
        return (("group", resource.group), ("resource", resource.resource))
    if before == "resource_prefix":
        return ((before, f"/{resource.prefix.rstrip('/')}"),)
    return ((before, resource.id),)
