"""Admission webhooks, which ktui does not call: one with failurePolicy Fail refuses requests, as if
unreachable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.resources import Resource
from ktui.kube.selectors.requirements import requirements_of
from ktui.kube.status import internal_error
from ktui.writes import stored_objects
from ktui.writes.admission.lookups import builtin, every

Obj = dict[str, Any]

GROUP = "admissionregistration.k8s.io"
CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


async def check_webhooks(
    server: Server, resource: Resource, info: RequestInfo, operation: str, obj: Obj | None
) -> None:
    """Raise StatusError 500 if a webhook with failurePolicy Fail matches; `obj` None: labels are not known.

    `matchConditions` are not evaluated: they count as true. Webhook configurations themselves are exempt.
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
