"""The eviction subresource of pods: delete a pod if its disruption budget allows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, other_namespace
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.bindings import CREATED
from ktui.writes.delete import check_preconditions, delete
from ktui.writes.disruption_budgets import Budget, find_budget, still_processed, take_disruption
from ktui.writes.metadata.objectmeta import metadata_of, timestamp
from ktui.writes.options import DeleteOptions, checked_delete_options, write_options

Obj = dict[str, Any]

OVER = ("Succeeded", "Failed")
MAX_CONFLICTS = 20
# PodDisruptionConditions is on by default from 1.26.
CONDITION_SINCE = 26


async def evict(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/eviction. StatusError 400, 404, 409, 422, 429."""
    form, body = await request_body.begin(server, call, resource)
    eviction = await compute(request_body.sent_document, server, body, "policy/v1", "Eviction")
    _check_identity(call, eviction)
    wanted = dict(eviction.get("deleteOptions") or {})
    if write_options(call.request, "CreateOptions").dry_run:
        wanted["dryRun"] = ["All"]
    call.writes()
    await _Eviction(server, call, resource, checked_delete_options(wanted)).run()
    await send_other(server, call, CREATED, form, 201)


def _check_identity(call: Call, eviction: Obj) -> None:
    metadata = metadata_of(eviction)
    if (metadata.get("namespace") or call.info.namespace) != call.info.namespace:
        raise other_namespace()
    if metadata.get("name", "") != call.info.name:
        raise bad_request("name in URL does not match name in Eviction object")


class _Eviction:
    """The eviction of one pod. As upstream, a conflict is retried for a pod without budget."""

    def __init__(self, server: Server, call: Call, resource: Resource, options: DeleteOptions) -> None:
        self._server = server
        self._resource = resource
        self._namespace, self._name = call.info.namespace, call.info.name
        self._options = options
        self._minor = call.behaviour.minor

    async def run(self) -> None:
        conflicts = 0
        while _ignores_budgets(pod := await self._pod()):
            try:
                await self._delete(self._at_revision_of(pod, unless=_is_over(pod)))
                return
            except StatusError as error:
                conflicts += 1
                last = self._options.resource_version is not None or conflicts == MAX_CONFLICTS
                if error.code != 409 or last:
                    raise
        await self._within_budget(pod)

    async def _within_budget(self, pod: Obj) -> None:
        """Delete a running pod, if its budget counts it as healthy or allows evicting unhealthy pods."""
        budget = await find_budget(self._server, pod)
        if budget is None or _is_ready(pod) or not _allows_unhealthy(budget):
            if budget is not None:
                await take_disruption(self._server, budget, self._name, dry_run=self._options.dry_run)
            await self._delete(self._options)
            return
        try:
            await self._delete(self._at_revision_of(pod))
        except StatusError as error:
            if error.code != 409 or self._options.resource_version is not None:
                raise
            raise still_processed(budget) from None  # it may be ready now

    async def _pod(self) -> Obj:
        stored = await stored_objects.current(self._server, self._resource, self._namespace, self._name)
        return await stored_objects.tree(self._server, stored, self._resource)

    def _at_revision_of(self, pod: Obj, *, unless: bool = False) -> DeleteOptions:
        if unless or self._options.resource_version is not None:
            return self._options
        return replace(self._options, resource_version=metadata_of(pod)["resourceVersion"])

    async def _delete(self, options: DeleteOptions) -> None:
        """Record the reason in the pod's conditions and delete it."""
        if not options.dry_run and self._minor >= CONDITION_SINCE:

            def disrupted(pod: Obj) -> Obj:
                check_preconditions(self._resource, self._name, pod, options)
                return _disrupted(pod)

            store = self._server.cacher(self._resource).store
            stored = await store.update(self._namespace, self._name, disrupted)
            if options.resource_version is not None:
                options = replace(options, resource_version=str(stored.rv))
        await delete(self._server, self._resource, self._namespace, self._name, options)


def _ignores_budgets(pod: Obj) -> bool:
    """Return True if deleting the pod disrupts nothing, because it is not running."""
    return (pod.get("status") or {}).get("phase") == "Pending" or _is_over(pod)


def _is_over(pod: Obj) -> bool:
    ending = bool(metadata_of(pod).get("deletionTimestamp"))
    return ending or (pod.get("status") or {}).get("phase") in OVER


def _is_ready(pod: Obj) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _allows_unhealthy(budget: Budget) -> bool:
    """Return True if a pod that is not ready may be evicted without counting as a disruption."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


def _disrupted(pod: Obj) -> Obj:
    """Return the pod with the condition that gives the reason of its deletion."""
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastTransitionTime": timestamp(),
    }
    for at, condition in enumerate(conditions):
        if condition.get("type") == target["type"]:
            if condition.get("status") == target["status"]:
                target["lastTransitionTime"] = condition.get("lastTransitionTime")
            conditions[at] = {**condition, **target}
            return pod
    conditions.append(target)
    return pod
