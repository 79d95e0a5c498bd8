"""What ktui stores but does not enforce or call: a Warning, or a refusal, says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.resources import Resource, builtin
from ktui.kube.selectors.requirements import requirements_of
from ktui.kube.status import internal_error
from ktui.writes import stored_objects
from ktui.writes.stored_objects import every

_WEBHOOKS = (
    "ktui calls no webhooks: those with failurePolicy Fail refuse all that they match, others have no effect"
)
_CEL = "ktui does not evaluate CEL: "
_VALIDATING = f"{_CEL}this policy will not deny, warn about or audit anything"
_MUTATING = f"{_CEL}this policy will not change anything"
GROUP = "admissionregistration.k8s.io"
CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_WEBHOOK_KINDS = tuple(f"{kind}.{GROUP}" for kind in CONFIGURATIONS)
_BY_ID = {
    **dict.fromkeys(_WEBHOOK_KINDS, _WEBHOOKS),
    f"validatingadmissionpolicies.{GROUP}": _VALIDATING,
    f"validatingadmissionpolicybindings.{GROUP}": _VALIDATING.replace("this", "the bound"),
    f"mutatingadmissionpolicies.{GROUP}": _MUTATING,
    f"mutatingadmissionpolicybindings.{GROUP}": _MUTATING.replace("this", "the bound"),
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


async def check_webhooks(
    server: Server, resource: Resource, info: RequestInfo, operation: str, obj: Obj | None
) -> None:
    """Raise StatusError 500 if a webhook with failurePolicy Fail matches, as if it were unreachable.

    `obj` None: labels are not known. `matchConditions` are not evaluated: they count as true. Webhook
    configurations themselves are exempt.
    """
    if resource.group == GROUP:
        return
    for kind in CONFIGURATIONS:
        for configuration in await every(server, GROUP, kind):
            for webhook in configuration.get("webhooks") or []:
                if webhook.get("failurePolicy") == "Ignore" or not _ruled(webhook, resource, info, operation):
                    continue
                if await _selected(server, webhook, resource, info, obj):
                    why = "failed to call webhook: ktui calls no webhooks"
                    raise internal_error(f'failed calling webhook "{webhook.get("name", "")}": {why}')


def _ruled(webhook: Obj, resource: Resource, info: RequestInfo, operation: str) -> bool:
    """Return True if one of the webhook's rules names the request."""
    path = f"{resource.resource}/{info.subresource}" if info.subresource else resource.resource
    part = f"/{info.subresource}" if info.subresource else ""
    accepted = {path, f"*{part}", f"{resource.resource}/*", "*/*"}
    scope = "Namespaced" if resource.namespaced else "Cluster"
    return any(
        {operation, "*"} & set(rule.get("operations") or [])
        and {resource.group, "*"} & set(rule.get("apiGroups") or [])
        and {resource.version, "*"} & set(rule.get("apiVersions") or [])
        and accepted & set(rule.get("resources") or [])
        and rule.get("scope", "*") in ("*", scope)
        for rule in webhook.get("rules") or []
    )


async def _selected(
    server: Server, webhook: Obj, resource: Resource, info: RequestInfo, obj: Obj | None
) -> bool:
    """Return True if the webhook's selectors match the object and its namespace."""
    if selector := webhook.get("namespaceSelector"):
        if resource.id == "namespaces":
            namespace = obj
        elif info.namespace:
            namespace = await stored_objects.find(server, builtin("", "namespaces"), "", info.namespace)
        else:
            namespace = None
        if namespace is not None and not _matches(selector, namespace):
            return False
    selector = webhook.get("objectSelector")
    return not selector or obj is None or _matches(selector, obj)


def _matches(selector: Mapping[str, Any], obj: Obj) -> bool:
    labels = (obj.get("metadata") or {}).get("labels") or {}
    return all(requirement.test()(labels) for requirement in requirements_of(selector))
