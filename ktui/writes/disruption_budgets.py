"""PodDisruptionBudgets for evictions: find them by the pod's labels, and count the disruption."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.selectors import LabelSelector
from ktui.kube.selectors.requirements import requirements_of
from ktui.kube.status import StatusCause, StatusError, bare_error, forbidden, too_many_requests
from ktui.storage.requests import StoreListRequest
from ktui.storage.writer import NoWrite
from ktui.writes import stored_objects
from ktui.writes.managedfields.entries import track_update
from ktui.writes.metadata.objectmeta import metadata_of, timestamp

Obj = dict[str, Any]
Budget = Obj

MAX_DISRUPTED_PODS = 2000
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
STILL_PROCESSED_SECONDS = 10
# kube-apiserver updates a budget as a client of itself.
MANAGER = "kube-apiserver"


async def find_budget(server: Server, pod: Obj) -> Budget | None:
    """Return the budget that selects the pod, None if there is none; raise StatusError 500 if several do."""
    resource = _resource()
    store = server.cacher(resource).store
    listed = await store.list(StoreListRequest(metadata_of(pod)["namespace"]))
    budgets = [await stored_objects.tree(server, obj, resource) for obj in listed.objects]
    labels = metadata_of(pod).get("labels") or {}
    selecting = [budget for budget in budgets if _selects(budget, labels)]
    if len(selecting) > 1:
        raise bare_error(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    return selecting[0] if selecting else None


async def take_disruption(server: Server, budget: Budget, pod: str, *, dry_run: bool) -> None:
    """Count the disruption of `pod` in the budget; raise StatusError 403, 404 or 429."""
    resource, metadata = _resource(), metadata_of(budget)

    def charge(old: Budget) -> Budget:
        charged = _charged(old, pod)
        if dry_run:
            raise NoWrite
        track_update(old, charged, manager=MANAGER, time=timestamp(), resource=resource, subresource="status")
        return charged

    await server.cacher(resource).store.update(metadata["namespace"], metadata["name"], charge)


def still_processed(budget: Budget) -> StatusError:
    """Return the 429 for a budget that the disruption controller has not processed yet."""
    name = metadata_of(budget)["name"]
    return _refused(
        f"The disruption budget {name} is still being processed by the server.", STILL_PROCESSED_SECONDS
    )


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
        raise _forbidden(
            name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        )
    if allowed == 0:
        desired, current = (status.get(member, 0) for member in ("desiredHealthy", "currentHealthy"))
        raise _refused(
            f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        )
    status["disruptionsAllowed"] = allowed - 1
    status["disruptedPods"] = {**disrupted, pod: timestamp()}
    if allowed == 1:
        status["conditions"] = _exhausted(status)
    return {**budget, "metadata": {**metadata}, "status": status}


def _exhausted(status: Obj) -> list[Obj]:
    """Return the conditions of a budget that allows no disruptions."""
    conditions = list(status.get("conditions") or [])
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "observedGeneration": status.get("observedGeneration", 0),
        "lastTransitionTime": timestamp(),
        "reason": "InsufficientPods",
        "message": "",
    }
    for at, old in enumerate(conditions):
        if old.get("type") == condition["type"]:
            if old.get("status") == condition["status"]:
                condition["lastTransitionTime"] = old.get("lastTransitionTime")
            conditions[at] = condition
            return conditions
    return [*conditions, condition]


def _selects(budget: Budget, labels: dict[str, str]) -> bool:
    """Return whether a budget selects the labels: without a selector none, with an empty one all."""
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    try:
        return LabelSelector(requirements_of(selector)).matches(labels)
    except ValueError:
        return False


def _refused(cause: str, retry_after: int = 0) -> StatusError:
    refusal = too_many_requests(VIOLATES, retry_after)
    details = {"causes": [StatusCause("DisruptionBudget", cause).body()], **(refusal.details or {})}
    return StatusError(refusal.code, refusal.reason, refusal.message, details)


def _forbidden(name: str, why: str) -> StatusError:
    return forbidden(replace(_resource(), resource="poddisruptionbudget"), name, why)


def _resource() -> Resource:
    budgets = BUILTIN.find("policy", "v1", "poddisruptionbudgets")
    assert budgets is not None
    return budgets
