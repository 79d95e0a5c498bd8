"""ResourceQuota: charge a new object, or what it grows by, to the quotas of its namespace, or refuse it.

Upstream: apiserver/pkg/admission/plugin/resourcequota, and pkg/quota/v1/evaluator/core for how much an object
uses and which objects a quota counts. A quota limits the names in its `status.hard`, which the quota
controller copies from the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import forbidden, ignoring_not_found
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes.admission.mutation import qos_class
from ktui.writes.admission.pod_resources import Quantities, containers_of, grown, plus, pod_total
from ktui.writes.field_paths import values_at
from ktui.writes.objectmeta import metadata_of
from ktui.writes.stored_objects import every
from ktui.writes.validation.values.scheduling import POD_TERMS

# Kinds that quotas also count by their plain names.
_BY_NAME = ("configmaps", "secrets", "replicationcontrollers", "resourcequotas", "services", "pods",
            "persistentvolumeclaims")  # fmt: skip
_GROWING = ("pods", "services", "persistentvolumeclaims")
_COMPUTED = ("cpu", "memory", "ephemeral-storage")
_EVERY_CONTAINER = ("cpu", "memory")
_STORAGE = "requests.storage"
_CLASS = ".storageclass.storage.k8s.io/"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
QUOTAS = "ResourceQuota"


def usage_of(resource: Resource, obj: Obj) -> Quantities:
    """Return what a new object uses, by the names that a quota has in `hard`; zeros are omitted."""
    group = f".{resource.group}" if resource.group else ""
    used: Quantities = {f"count/{resource.resource}{group}": "1"}
    spec = obj.get("spec") or {}
    if resource.id in _BY_NAME:
        used[resource.id] = "1"
    if resource.id == "pods":
        used |= _pod_usage(pod_total(spec, "requests"), pod_total(spec, "limits"))
    elif resource.id == "services":
        used |= _service_usage(spec)
    elif resource.id == "persistentvolumeclaims":
        annotations = (obj.get("metadata") or {}).get("annotations") or {}
        used |= _claim_usage(spec, annotations.get(_OLD_CLASS) or spec.get("storageClassName"))
    return {name: value for name, value in used.items() if amount(value)}


def usage_now(resource: Resource, obj: Obj) -> Quantities:
    """Return the usage of an existing object; of a pod that has ended only the object counts."""
    used = usage_of(resource, obj)
    if resource.id != "pods" or (obj.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
        return used
    return {name: value for name, value in used.items() if name.startswith("count/")}


def _pod_usage(requests: Quantities, limits: Quantities) -> Quantities:
    used: Quantities = {}
    for name, value in requests.items():
        used[f"requests.{name}"] = value
        if name in _COMPUTED or name.startswith("hugepages-"):
            used[name] = value
    return used | {f"limits.{name}": value for name, value in limits.items() if name in _COMPUTED}


def _service_usage(spec: Obj) -> Quantities:
    kind, ports = spec.get("type"), spec.get("ports") or []
    if kind == "NodePort":
        return {"services.nodeports": str(len(ports))}
    if kind != "LoadBalancer":
        return {}
    allocated = spec.get("allocateLoadBalancerNodePorts", True)
    numbered = sum(bool(allocated or port.get("nodePort")) for port in ports)
    return {"services.loadbalancers": "1", "services.nodeports": str(numbered)}


def _claim_usage(spec: Obj, storage_class: str | None) -> Quantities:
    used: Quantities = {}
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is not None:
        used[_STORAGE] = size
    if storage_class:
        used[f"{storage_class}{_CLASS}persistentvolumeclaims"] = "1"
        if size is not None:
            used[f"{storage_class}{_CLASS}{_STORAGE}"] = size
    return used


def limited_by(resource: Resource, names: Iterable[str]) -> set[str]:
    """Return those names in a quota's `hard` that objects of this kind can use."""
    group = f".{resource.group}" if resource.group else ""
    return {name for name in names if _limits(resource, name, f"count/{resource.resource}{group}")}


def _limits(resource: Resource, name: str, count: str) -> bool:
    if name == count or (resource.id in _BY_NAME and name == resource.id):
        return True
    if resource.id == "pods":
        bare = name.removeprefix("limits.")
        storage = name == _STORAGE or name.endswith(f"{_CLASS}{_STORAGE}")
        return bare in _COMPUTED or (name.startswith(("requests.", "hugepages-")) and not storage)
    if resource.id == "services":
        return name in ("services.nodeports", "services.loadbalancers")
    return resource.id == "persistentvolumeclaims" and (name == _STORAGE or _CLASS in name)


def unspecified(resource: Resource, obj: Obj, limited: Iterable[str]) -> str:
    """Return `must specify cpu for: main; memory for: init,main`, "" if every container specifies them.

    Checks only cpu and memory: upstream keeps that omission for compatibility.
    """
    if resource.id != "pods":
        return ""
    bare = {name: name.removeprefix("requests.").removeprefix("limits.") for name in limited}
    wanted = {name for name in bare if bare[name] in _EVERY_CONTAINER}
    lacking: dict[str, set[str]] = {}
    for container in containers_of(obj.get("spec") or {}):
        resources = container.get("resources") or {}
        there = _pod_usage(resources.get("requests") or {}, resources.get("limits") or {})
        for name in wanted - there.keys():
            lacking.setdefault(name, set()).add(str(container.get("name")))
    if not lacking:
        return ""
    parts = (f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))
    return f"must specify {'; '.join(parts)}"


def in_scope(resource: Resource, obj: Obj, quota_spec: Obj) -> bool:
    """Return True if the object is in all scopes of a quota; only pods have scopes."""
    scopes: list[Obj] = [{"scopeName": name, "operator": "Exists"} for name in quota_spec.get("scopes") or []]
    scopes += (quota_spec.get("scopeSelector") or {}).get("matchExpressions") or []
    return all(resource.id == "pods" and _in(obj.get("spec") or {}, scope) for scope in scopes)


def _in(spec: Obj, scope: Obj) -> bool:
    name = str(scope.get("scopeName"))
    if name in ("Terminating", "NotTerminating"):
        return (spec.get("activeDeadlineSeconds") is not None) == (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        return (qos_class(spec) == "BestEffort") == (name == "BestEffort")
    if name == "PriorityClass":
        found, values = spec.get("priorityClassName") or "", scope.get("values") or []
        by_operator = {"In": found in values, "NotIn": found not in values, "DoesNotExist": not found}
        return by_operator.get(str(scope.get("operator")), bool(found))
    return name == "CrossNamespacePodAffinity" and _crosses_namespaces(spec)


def _crosses_namespaces(spec: Obj) -> bool:
    terms = (term for path in POD_TERMS for term in values_at(spec, path))
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)


def is_charged(resource: Resource, subresource: str, old: Obj, new: Obj) -> bool:
    """Return True if an update uses more than before: a service, a claim, a pod by its size or deadline."""
    if resource.id == "pods" and not subresource:
        return _terminating(old) != _terminating(new)
    if subresource != ("resize" if resource.id == "pods" else "") or resource.id not in _GROWING:
        return False
    return bool(grown(usage_of(resource, old), usage_of(resource, new)))


def _terminating(pod: Obj) -> bool:
    return (pod.get("spec") or {}).get("activeDeadlineSeconds") is not None


class Uncharged(Exception):
    """An update whose growth no quota has been charged with yet."""

    def __init__(self, old: Obj, new: Obj) -> None:
        self.old = old
        self.new = new


async def charge_quotas(
    server: Server, resource: Resource, namespace: str, obj: Obj, *, old: Obj | None = None, dry_run: bool
) -> None:
    """Add the object's usage to each quota, except in a dry run; raise StatusError 403 if one is exceeded.

    Of an update of `old`, add what it grows by, and to quotas that did not count it before the whole usage.
    """
    if not namespace or QUOTAS in server.services.disabled_admission:
        return
    name = str(metadata_of(obj).get("name") or "")
    quotas = await every(server, "", "resourcequotas", namespace)
    if not quotas:
        return
    try:
        charges = await compute(_charges, resource, obj, old, quotas)
    except ValueError as refused:
        raise forbidden(resource, name, str(refused)) from None
    store = server.cacher(builtin("", "resourcequotas")).store

    def charge(usage: Quantities, quota: Obj) -> Obj:
        try:
            charged = charged_with(quota, usage)
        except ValueError as refused:
            raise forbidden(resource, name, str(refused)) from None
        if dry_run or charged is quota:
            raise NoWrite
        return charged

    for quota, usage in charges:
        with ignoring_not_found():  # the quota no longer exists
            await store.update(namespace, str(metadata_of(quota)["name"]), partial(charge, usage))


def _charges(
    resource: Resource, obj: Obj, old: Obj | None, quotas: list[Obj]
) -> list[tuple[Obj, Quantities]]:
    """Return the quotas that limit the object, each with what it is charged; ValueError if one is exceeded.

    All quotas are checked before any is charged.
    """
    concerned = [quota for quota in quotas if _concerns(resource, obj, quota)]
    usage = usage_of(resource, obj) if concerned else {}
    growth = grown(usage_of(resource, old), usage) if concerned and old is not None else usage
    charges = []
    for quota in concerned:
        counted = old is not None and in_scope(resource, old, quota.get("spec") or {})
        if charge := growth if counted else usage:
            charged_with(quota, charge)
            charges.append((quota, charge))
    return charges


def _concerns(resource: Resource, obj: Obj, quota: Obj) -> bool:
    """Return whether the quota limits such objects; raise ValueError if this object's usage is unknown."""
    status, name = quota.get("status") or {}, metadata_of(quota).get("name")
    limited = limited_by(resource, status.get("hard") or {})
    if not limited or not in_scope(resource, obj, quota.get("spec") or {}):
        return False
    if lacking := unspecified(resource, obj, limited):
        raise ValueError(f"failed quota: {name}: {lacking}")
    if limited - (status.get("used") or {}).keys():
        raise ValueError(f"status unknown for quota: {name}, resources: {','.join(sorted(limited))}")
    return True


def charged_with(quota: Obj, usage: Quantities) -> Obj:
    """The quota with the usage added, or itself if it limits none of it; ValueError if it is exceeded."""
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    requested = {name: value for name, value in usage.items() if name in hard}
    if not requested:
        return quota
    after = plus(used, requested)
    exceeded = sorted(name for name in requested if amount(after[name]) > amount(hard[name]))
    if exceeded:
        requests, before, limits = (
            ",".join(f"{name}={values.get(name, '0')}" for name in exceeded)
            for values in (requested, used, hard)
        )
        raise ValueError(
            f"exceeded quota: {metadata_of(quota).get('name')}, requested: {requests}, used: {before}, "
            f"limited: {limits}"
        )
    return {**quota, "metadata": dict(metadata_of(quota)), "status": {**status, "used": after}}
