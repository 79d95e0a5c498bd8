"""The eviction subresource of pods: delete a pod if its disruption budget allows it."""

from __future__ import annotations

from dataclasses import replace

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import (
    StatusCause,
    StatusError,
    bad_request,
    bare_error,
    created,
    forbidden,
    other_namespace,
    too_many_requests,
)
from ktui.storage.lister import StoreListRequest
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.delete import check_preconditions, delete, rv_in_success
from ktui.writes.managedfields.entries import tracked
from ktui.writes.objectmeta import metadata_of, set_condition, timestamp
from ktui.writes.options import DeleteOptions, checked_delete_options, write_options
from ktui.writes.validation.selectors import matches

Budget = Obj

MAX_DISRUPTED_PODS = 2000
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
STILL_PROCESSED_SECONDS = 10
# kube-apiserver updates a budget as a client of itself.
MANAGER = "kube-apiserver"
MAX_CONFLICTS = 20


async def find_budget(server: Server, pod: Obj) -> Budget | None:
    """Return the budget that selects the pod, None if there is none; raise StatusError 500 if several do."""
    resource = builtin("policy", "poddisruptionbudgets")
    store = server.cacher(resource).store
    listed = await store.list(StoreListRequest(metadata_of(pod)["namespace"]))
    budgets = [await stored_objects.tree(server, obj, resource) for obj in listed.objects]
    labels = metadata_of(pod).get("labels") or {}
    selecting = [budget for budget in budgets if _selects(budget, labels)]
    if len(selecting) > 1:
        why = "which the eviction subresource does not support."
        raise bare_error(f"This pod has more than one PodDisruptionBudget, {why}")
    return selecting[0] if selecting else None


async def take_disruption(server: Server, budget: Budget, pod: str, *, dry_run: bool) -> None:
    """Count the disruption of `pod` in the budget; raise StatusError 403, 404 or 429."""
    resource, metadata = builtin("policy", "poddisruptionbudgets"), metadata_of(budget)

    def charge(old: Budget) -> Budget:
        charged = _charged(old, pod)
        if dry_run:
            raise NoWrite
        return tracked(old, charged, MANAGER, resource, "status")

    await server.cacher(resource).store.update(metadata["namespace"], metadata["name"], charge)


def still_processed(budget: Budget) -> StatusError:
    """Return the 429 for a budget that the disruption controller has not processed yet."""
    cause = f"The disruption budget {metadata_of(budget)['name']} is still being processed by the server."
    return _refused(cause, STILL_PROCESSED_SECONDS)


def _charged(budget: Budget, pod: str) -> Budget:
    """Return the budget with one allowed disruption less; raise StatusError if it allows none."""
    metadata, status = metadata_of(budget), dict(budget.get("status") or {})
    name, allowed = metadata["name"], status.get("disruptionsAllowed", 0)
    disrupted = {**(status.get("disruptedPods") or {})}
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        raise still_processed(budget)
    if allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative")
    if len(disrupted) > MAX_DISRUPTED_PODS:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _forbidden(name, why)
    if allowed == 0:
        desired, current = (status.get(member, 0) for member in ("desiredHealthy", "currentHealthy"))
        why = f"needs {desired} healthy pods and has {current} currently"
        raise _refused(f"The disruption budget {name} {why}")
    status["disruptionsAllowed"] = allowed - 1
    status["disruptedPods"] = {**disrupted, pod: timestamp()}
    charged = {**budget, "status": status}
    if allowed == 1:
        observed = status.get("observedGeneration", 0)
        set_condition(charged, "DisruptionAllowed", "False", "InsufficientPods", observedGeneration=observed)
    return charged


def _selects(budget: Budget, labels: dict[str, str]) -> bool:
    """Return whether a budget selects the labels: without a selector none, with an empty one all."""
    selector = (budget.get("spec") or {}).get("selector")
    return selector is not None and matches(selector, labels, unknown=False)


def _refused(cause: str, retry_after: int = 0) -> StatusError:
    refusal = too_many_requests(VIOLATES, retry_after)
    details = {"causes": [StatusCause("DisruptionBudget", cause).body()], **(refusal.details or {})}
    return StatusError(refusal.code, refusal.reason, refusal.message, details)


def _forbidden(name: str, why: str) -> StatusError:
    budgets = builtin("policy", "poddisruptionbudgets")
    return forbidden(replace(budgets, resource="poddisruptionbudget"), name, why)


async def evict(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/eviction. StatusError 400, 404, 409, 422, 429."""
    form, body = await request_body.begin(server, call, resource)
    eviction = await compute(request_body.sent_document, server, body, "policy/v1", "Eviction")
    _check_identity(call, eviction)
    wanted = dict(eviction.get("deleteOptions") or {})
    if write_options(call.request, "CreateOptions").dry_run:
        wanted["dryRun"] = ["All"]
    call.writes()
    options = checked_delete_options(wanted)
    rv = await _Eviction(server, call, resource, options).run()
    shown = rv if rv_in_success(call.behaviour, options.dry_run) else ""
    await send_other(server, call, created(shown), form, 201)


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

    async def run(self) -> str:
        """Return the resourceVersion of the deletion, or of the change that begins it."""
        conflicts = 0
        while True:
            where = self._resource, self._namespace, self._name
            stored = await stored_objects.current(self._server, *where)
            pod = await stored_objects.tree(self._server, stored, self._resource)
            # Deleting a pod that is not running disrupts nothing.
            if (pod.get("status") or {}).get("phase") != "Pending" and not _is_over(pod):
                return await self._within_budget(pod)
            try:
                return await self._delete(self._at_revision_of(pod, unless=_is_over(pod)))
            except StatusError as error:
                conflicts += 1
                last = self._options.resource_version is not None or conflicts == MAX_CONFLICTS
                if error.code != 409 or last:
                    raise

    async def _within_budget(self, pod: Obj) -> str:
        """Delete a running pod, if its budget counts it as healthy or allows evicting unhealthy pods."""
        budget = await find_budget(self._server, pod)
        conditions = (pod.get("status") or {}).get("conditions") or []
        ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)
        if budget is None or ready or not _allows_unhealthy(budget):
            if budget is not None:
                await take_disruption(self._server, budget, self._name, dry_run=self._options.dry_run)
            return await self._delete(self._options)
        try:
            return await self._delete(self._at_revision_of(pod))
        except StatusError as error:
            if error.code != 409 or self._options.resource_version is not None:
                raise
            raise still_processed(budget) from None  # it may be ready now

    def _at_revision_of(self, pod: Obj, *, unless: bool = False) -> DeleteOptions:
        if unless or self._options.resource_version is not None:
            return self._options
        return replace(self._options, resource_version=metadata_of(pod)["resourceVersion"])

    async def _delete(self, options: DeleteOptions) -> str:
        """Record the reason in the pod's conditions and delete it; return the last resourceVersion."""
        if not options.dry_run and self._minor >= 26:  # PodDisruptionConditions

            def disrupted(pod: Obj) -> Obj:
                check_preconditions(self._resource, self._name, pod, options)
                why = "EvictionByEvictionAPI", "Eviction API: evicting"
                set_condition(pod, "DisruptionTarget", "True", *why)
                return pod

            store = self._server.cacher(self._resource).store
            stored = await store.update(self._namespace, self._name, disrupted)
            if options.resource_version is not None:
                options = replace(options, resource_version=str(stored.rv))
        _, pod = await delete(self._server, self._resource, self._namespace, self._name, options)
        return str(metadata_of(pod).get("resourceVersion", ""))


def _is_over(pod: Obj) -> bool:
    ending = bool(metadata_of(pod).get("deletionTimestamp"))
    return ending or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _allows_unhealthy(budget: Budget) -> bool:
    """Return True if a pod that is not ready may be evicted without counting as a disruption."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)
