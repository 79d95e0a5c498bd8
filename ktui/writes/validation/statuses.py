"""Errors in the status of workloads and namespaces, which controllers write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, limited, required
from ktui.kube.json_trees import Obj

NOT_NEGATIVE = "must be greater than or equal to 0"
DAEMONS = (
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
    "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
)  # fmt: skip
PARTS = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "fullyLabeledReplicas")


def _number(status: Obj, name: str) -> int:
    value: int = status.get(name) or 0
    return value


@limited
def _daemon_set(obj: Obj) -> Iterator[FieldError]:
    status = _status(obj)
    for name in DAEMONS:
        if _number(status, name) < 0:
            yield invalid(f"status.{name}", status[name], NOT_NEGATIVE)


@limited
def _replicas(obj: Obj) -> Iterator[FieldError]:
    """Yield errors if more replicas are ready, updated … than there are."""
    status = _status(obj)
    for name in ("replicas", *PARTS, "observedGeneration", "collisionCount"):
        if _number(status, name) < 0:
            yield invalid(f"status.{name}", status[name], NOT_NEGATIVE)
    for name in PARTS:
        if _number(status, name) > _number(status, "replicas"):
            yield invalid(f"status.{name}", _number(status, name), "cannot be greater than status.replicas")
    if _number(status, "availableReplicas") > _number(status, "readyReplicas"):
        why = "cannot be greater than readyReplicas"
        yield invalid("status.availableReplicas", status["availableReplicas"], why)


@limited
def _job(obj: Obj, old: Obj) -> Iterator[FieldError]:
    """Yield the errors of a Job's status. How it has ended is checked only if that changes."""
    status = _status(obj)
    true = _true(status)
    for name in ("active", "ready", "succeeded", "failed", "terminating"):
        if _number(status, name) < 0:
            yield invalid(f"status.{name}", status[name], NOT_NEGATIVE)
    if _end(status) == _end(_status(old)):
        return
    if "Complete" in true and "Failed" in true:
        yield _conditions("cannot set both Complete=True and Failed=True conditions")
    if "Complete" in true and not status.get("completionTime"):
        yield required("status.completionTime", "completionTime is required for Complete jobs")
    for ends, first in (("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget")):
        if ends in true and first not in true:
            yield _conditions(f"cannot set {ends}=True condition without the {first}=true condition")
    if true & {"Complete", "Failed"} and not status.get("startTime"):
        yield required("status.startTime", "startTime is required for finished job")


def _true(status: Obj) -> set[Any]:
    return {each.get("type") for each in status.get("conditions") or [] if each.get("status") == "True"}


def _end(status: Obj) -> tuple[Any, ...]:
    met = _true(status) & {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"}
    return met, status.get("startTime"), status.get("completionTime")


def _conditions(why: str) -> FieldError:
    """Return the error of a Job's conditions, which upstream does not show."""
    return FieldError("status.conditions", "FieldValueInvalid", f"Invalid value: {why}")


@limited
def _namespace(obj: Obj) -> Iterator[FieldError]:
    phase, going = _status(obj).get("phase") or "Active", (obj.get("metadata") or {}).get("deletionTimestamp")
    if going and phase != "Terminating":
        why = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        yield invalid("status.Phase", phase, why)
    elif not going and phase != "Active":
        yield invalid("status.Phase", phase or "", "may only be 'Active' if `deletionTimestamp` is empty")


def _status(obj: Obj) -> Obj:
    status: Obj = obj.get("status") or {}
    return status


_RULES: dict[str, Callable[[Obj], list[FieldError]]] = {
    "daemonsets.apps": _daemon_set,
    "deployments.apps": _replicas,
    "namespaces": _namespace,
    "replicasets.apps": _replicas,
    "replicationcontrollers": _replicas,
    "statefulsets.apps": _replicas,
}


def status_errors(resource: str, obj: Obj, old: Obj) -> list[FieldError]:
    """Return the errors of a status that replaces that of `old`; only some kinds have rules."""
    if resource == "jobs.batch":
        return _job(obj, old)
    rule = _RULES.get(resource)
    return rule(obj) if rule is not None else []
