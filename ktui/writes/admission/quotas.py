"""ResourceQuota: charge a new object to the quotas of its namespace, or refuse it.

Upstream: apiserver/pkg/admission/plugin/resourcequota. A quota limits the names in its `status.hard`, which
the quota controller copies from the spec.
"""

from __future__ import annotations

from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.quantity import amount
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, forbidden
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes.admission.pod_resources import Quantities, plus
from ktui.writes.admission.quota_usage import in_scope, limited_by, unspecified, usage_of
from ktui.writes.objectmeta import metadata_of
from ktui.writes.stored_objects import builtin, every

Obj = dict[str, Any]

QUOTAS = "ResourceQuota"


async def charge_quotas(
    server: Server, resource: Resource, namespace: str, obj: Obj, *, dry_run: bool
) -> None:
    """Add the object's usage to each quota, except in a dry run; raise StatusError 403 if one is exceeded."""
    if not namespace:
        return
    name = str(metadata_of(obj).get("name") or "")
    quotas = await every(server, "", "resourcequotas", namespace)
    if not quotas:
        return
    try:
        concerned, usage = await compute(_charged, resource, obj, quotas)
    except ValueError as refused:
        raise forbidden(resource, name, str(refused)) from None
    store = server.cacher(builtin("", "resourcequotas")).store

    def charge(quota: Obj) -> Obj:
        try:
            charged = charged_with(quota, usage)
        except ValueError as refused:
            raise forbidden(resource, name, str(refused)) from None
        if dry_run or charged is quota:
            raise NoWrite
        return charged

    for quota in concerned:
        try:
            await store.update(namespace, str(metadata_of(quota)["name"]), charge)
        except StatusError as error:
            if error.code != 404:  # the quota no longer exists
                raise


def _charged(resource: Resource, obj: Obj, quotas: list[Obj]) -> tuple[list[Obj], Quantities]:
    """Return the quotas that limit the object, and its usage; raise ValueError if one is exceeded.

    All quotas are checked before any is charged.
    """
    concerned = [quota for quota in quotas if _concerns(resource, obj, quota)]
    usage = usage_of(resource, obj) if concerned else {}
    for quota in concerned:
        charged_with(quota, usage)
    return concerned, usage


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
