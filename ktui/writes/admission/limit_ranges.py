"""LimitRanger: defaults of containers, and limits of containers, pods and claims.

Upstream: plugin/pkg/admission/limitranger. Causes are in the order of the resources' names.
"""

from __future__ import annotations

from collections.abc import Iterator

from ktui.apiserver.server import Server
from ktui.kube.fielderrors import within_limit
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.kube.resources import Resource
from ktui.kube.status import forbidden
from ktui.writes.admission.pod_resources import Quantities, containers_of, pod_total
from ktui.writes.objectmeta import metadata_of
from ktui.writes.stored_objects import every

LIMIT_RANGER = "LimitRanger"
ANNOTATION = "kubernetes.io/limit-ranger"
LIMITED = ("pods", "persistentvolumeclaims")

Limits = list[list[Obj]]


async def limits_of(server: Server, resource: Resource, namespace: str) -> Limits:
    """Return the limits of each LimitRange of the namespace; [] for resources that have no limits."""
    if resource.id not in LIMITED:
        return []
    ranges = await every(server, "", "limitranges", namespace)
    return [(each.get("spec") or {}).get("limits") or [] for each in ranges]


def check_limits(resource: Resource, obj: Obj, limits: Limits) -> None:
    """Raise StatusError 403 for a new pod or claim beyond its limits."""
    for each in limits:
        # As many as a message has room for: there may be as many as containers times limits.
        if causes := [*dict.fromkeys(within_limit(violations(resource, obj, each)))]:
            why = causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]"
            raise forbidden(resource, str(metadata_of(obj).get("name") or ""), why)


def set_defaults(pod: Obj, limits: list[Obj]) -> None:
    """Set the default requests and limits of containers, with an annotation that names them."""
    said: list[str] = []
    spec = pod.get("spec") or {}
    defaults: dict[str, Quantities] = {"requests": {}, "limits": {}}
    for limit in limits:
        if limit.get("type") == "Container":
            defaults["requests"] |= limit.get("defaultRequest") or {}
            defaults["limits"] |= limit.get("default") or {}
    for member, prefix in (("containers", "container"), ("initContainers", "init container")):
        for container in spec.get(member) or []:
            for which, word in (("requests", "request"), ("limits", "limit")):
                given = (container.get("resources") or {}).get(which) or {}
                lacking = {n: v for n, v in defaults[which].items() if n not in given}
                if lacking:
                    resources = container.get("resources") or {}
                    container["resources"] = {**resources, which: {**given, **lacking}}
                    said.append(f"{', '.join(sorted(lacking))} {word} for {prefix} {container.get('name')}")
    if said:
        metadata = metadata_of(pod)
        text = f"LimitRanger plugin set: {'; '.join(said)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}


def violations(resource: Resource, obj: Obj, limits: list[Obj]) -> Iterator[str]:
    """Yield why the object may not be created."""
    spec = obj.get("spec") or {}
    for limit in limits:
        kind = limit.get("type")
        if resource.id == "persistentvolumeclaims":
            if kind == "PersistentVolumeClaim":
                requests = (spec.get("resources") or {}).get("requests") or {}
                yield from _beyond(limit, "min", request=requests)
                yield from _beyond(limit, "max", request=requests)
        elif kind == "Container":
            for container in containers_of(spec):
                resources = container.get("resources") or {}
                yield from _bounded(limit, resources.get("requests") or {}, resources.get("limits") or {})
        elif kind == "Pod":
            yield from _bounded(limit, pod_total(spec, "requests"), pod_total(spec, "limits"))


def _bounded(limit: Obj, requests: Quantities, limits: Quantities) -> Iterator[str]:
    yield from _beyond(limit, "min", request=requests, limit=limits)
    yield from _beyond(limit, "max", limit=limits, request=requests)
    yield from _ratio(limit, requests, limits)


def _beyond(rule: Obj, bound: str, **amounts: Quantities) -> Iterator[str]:
    """Yield what is missing in the first of the amounts (`request`, `limit`), or beyond the bound in one."""
    word, sign = ("minimum", -1) if bound == "min" else ("maximum", 1)
    first = next(iter(amounts))
    for name, most in sorted((rule.get(bound) or {}).items()):
        text = f"{word} {name} usage per {rule.get('type')} is {most}"
        given = {what: values[name] for what, values in amounts.items() if name in values}
        beyond = [what for what, value in given.items() if (amount(value) - amount(most)) * sign > 0]
        if first not in given:
            yield f"{text}.  No {first} is specified"
        elif beyond:
            yield f"{text}, but {beyond[0]} is {given[beyond[0]]}"


def _ratio(limit: Obj, requests: Quantities, limits: Quantities) -> Iterator[str]:
    for name, most in sorted((limit.get("maxLimitRequestRatio") or {}).items()):
        rule = f"{name} max limit to request ratio per {limit.get('type')} is {most}, but"
        requested, limited = amount(requests.get(name)), amount(limits.get(name))
        if not requested:
            yield f"{rule} no request is specified or request is 0"
        elif not limited:
            yield f"{rule} no limit is specified or limit is 0"
        elif limited / requested > amount(most):
            yield f"{rule} provided ratio is {limited / requested:.6f}"
