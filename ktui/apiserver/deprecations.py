"""Warnings in every response of a deprecated API."""

from __future__ import annotations

from ktui.kube.resources import Resource
from ktui.kube.versions import Behaviour

# resource id -> first minor that warns, and the replacement
_DEPRECATED = {
    "componentstatuses": (19, "v1 ComponentStatus is deprecated in v1.19+"),
    "endpoints": (33, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
}


def warning_of(resource: Resource, behaviour: Behaviour) -> str:
    """Return the text of a Warning header, "" if the resource is not deprecated."""
    since, text = _DEPRECATED.get(resource.id, (0, resource.deprecation))
    return text if behaviour.minor >= since else ""
