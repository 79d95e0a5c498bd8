"""Objects that ktui stores but does not enforce: a Warning at their creation and change says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ktui.kube.resources import Resource

Obj = dict[str, Any]

_WEBHOOKS = (
    "ktui calls no webhooks: those with failurePolicy Fail refuse all that they match, others have no effect"
)
_CEL = "ktui does not evaluate CEL: "
_VALIDATING = f"{_CEL}this policy will not deny, warn about or audit anything"
_MUTATING = f"{_CEL}this policy will not change anything"
_GROUP = "admissionregistration.k8s.io"
_WEBHOOK_KINDS = (
    f"validatingwebhookconfigurations.{_GROUP}",
    f"mutatingwebhookconfigurations.{_GROUP}",
)
_BY_ID = {
    **dict.fromkeys(_WEBHOOK_KINDS, _WEBHOOKS),
    f"validatingadmissionpolicies.{_GROUP}": _VALIDATING,
    f"validatingadmissionpolicybindings.{_GROUP}": _VALIDATING.replace("this", "the bound"),
    f"mutatingadmissionpolicies.{_GROUP}": _MUTATING,
    f"mutatingadmissionpolicybindings.{_GROUP}": _MUTATING.replace("this", "the bound"),
}
_QUOTA = "ktui runs no quota controller: a quota limits what its status.hard and used name"
POD_SECURITY = "pod-security.kubernetes.io/"
RULES = "x-kubernetes-validations"
# The members of a schema that hold schemas: one, a list of them, or a map of them.
_ONE = ("items", "additionalProperties", "not")
_LISTS = ("allOf", "anyOf", "oneOf")
_MAPS = ("properties", "patternProperties")


def unenforced(resource: Resource, obj: Obj, *, counts_quotas: bool) -> Iterator[str]:
    """Yield the warnings for a new object; `counts_quotas`: a controller of ktui's own keeps the quotas."""
    yield from unevaluated(resource, obj)
    spec, labels = obj.get("spec") or {}, (obj.get("metadata") or {}).get("labels") or {}
    if resource.id == "namespaces" and any(label.startswith(POD_SECURITY) for label in labels):
        yield "ktui does not enforce pod security: these labels have no effect"
    elif resource.id == "resourcequotas" and not counts_quotas:
        yield _QUOTA
    elif resource.id == "customresourcedefinitions.apiextensions.k8s.io":
        if (spec.get("conversion") or {}).get("strategy") == "Webhook":
            yield "ktui calls no conversion webhooks: all versions show what is stored"
    elif resource.id == "apiservices.apiregistration.k8s.io" and spec.get("service"):
        yield "ktui forwards no requests to other API servers: this group is not served"


def unevaluated(resource: Resource, obj: Obj) -> Iterator[str]:
    """Yield the warnings for webhooks and for each holder of CEL, new or changed."""
    if warning := _BY_ID.get(resource.id):
        yield warning
    if resource.id in _WEBHOOK_KINDS:
        if any(hook.get("matchConditions") for hook in obj.get("webhooks") or []):
            yield f"{_CEL}the matchConditions of these webhooks count as true"
    elif resource.id == "customresourcedefinitions.apiextensions.k8s.io" and (rules := _rules(obj)):
        which = "the CEL rule" if rules == 1 else f"the {rules} CEL rules"
        yield f"{_CEL}{which} in {RULES} of this definition will not deny anything"


def _rules(definition: Obj) -> int:
    """Count the CEL rules in the schemas of all versions."""
    found = 0
    versions = (definition.get("spec") or {}).get("versions") or []
    open_schemas: list[Any] = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions]
    while open_schemas:
        schema = open_schemas.pop()
        if not isinstance(schema, Mapping):
            continue
        found += len(schema.get(RULES) or ())
        open_schemas += [schema[name] for name in _ONE if name in schema]
        for name in _LISTS:
            open_schemas += schema.get(name) or ()
        for name in _MAPS:
            open_schemas += (schema.get(name) or {}).values()
    return found
