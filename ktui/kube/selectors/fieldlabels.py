"""Check the field labels of a selector against those that the resource supports."""

from __future__ import annotations

from ktui.kube.golang.quoting import quote
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request

META_FIELDS = ("metadata.name", "metadata.namespace")

# Clients of the first API versions still send spec.host.
_ALIASES = {("", "pods", "spec.host"): "spec.nodeName"}


def convert_field_label(resource: Resource, field: str) -> str:
    """Return the resource's own name of `field`; raise StatusError 400 if the field is not supported."""
    supported = META_FIELDS if _has_default_conversion(resource) else resource.field_selectors
    if field not in supported:
        raise _unsupported(resource, field)
    return _ALIASES.get((resource.group, resource.resource, field), field)


def _has_default_conversion(resource: Resource) -> bool:
    """Whether a kind has no own field labels; then metadata.namespace is valid in any scope."""
    return not resource.custom and all(field in META_FIELDS for field in resource.field_selectors)


def _unsupported(resource: Resource, field: str) -> StatusError:
    if _has_default_conversion(resource):
        known = ", ".join(map(quote, META_FIELDS))
        return bad_request(f"{quote(field)} is not a known field selector: only {known}")
    match (resource.group, resource.resource):
        case ("batch", "jobs"):
            return bad_request(f"field label {quote(field)} not supported for Job")
        case ("resource.k8s.io", "resourceslices"):
            kind = f"{resource.api_version}, Kind={resource.kind}"
            return bad_request(f"field label not supported for {kind}: {field}")
        case _:
            return bad_request(f"field label not supported: {field}")
