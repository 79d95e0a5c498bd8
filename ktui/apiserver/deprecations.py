"""Warnings that kube-apiserver gives with every answer of a deprecated API."""

from __future__ import annotations

from ktui.kube.golang.quoting import quote
from ktui.kube.resources import Resource
from ktui.kube.versions import Behaviour

# resource id -> first minor that warns, and what to use instead
_DEPRECATED = {
    "componentstatuses": (19, "v1 ComponentStatus is deprecated in v1.19+"),
    "endpoints": (33, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
}


def warning_of(resource: Resource, behaviour: Behaviour) -> str:
    """The value of a Warning header, "" where there is nothing to warn of."""
    since, text = _DEPRECATED.get(resource.id, (0, resource.deprecation))
    return f"299 - {quote(text)}" if text and behaviour.minor >= since else ""
