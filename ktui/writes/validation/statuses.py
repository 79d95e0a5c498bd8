"""Errors in the status of workloads and namespaces, which controllers write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, limited, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import Row, below, counts, table_of

DAEMONS = (
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
    "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
)  # fmt: skip
PARTS = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "fullyLabeledReplicas")


def _counts(*names: str) -> tuple[Row, ...]:
    return below("status", counts(*names))


def _parts(status: Obj) -> Iterator[FieldError]:
    """No more replicas are ready, updated … than there are."""
    for name in PARTS:
        if (number := status.get(name) or 0) > (status.get("replicas") or 0):
            yield invalid(f".{name}", number, "cannot be greater than status.replicas")
    if (number := status.get("availableReplicas") or 0) > (status.get("readyReplicas") or 0):
        yield invalid(".availableReplicas", number, "cannot be greater than readyReplicas")


@limited
def _job(obj: Obj, old: Obj) -> Iterator[FieldError]:
    """Yield the errors of a Job's status. How it has ended is checked only if that changes."""
    status = _status(obj)
    true = _true(status)
    yield from _JOB.errors(obj)
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


def _namespace(obj: Obj) -> Iterator[FieldError]:
    phase, going = _status(obj).get("phase") or "Active", (obj.get("metadata") or {}).get("deletionTimestamp")
    if going and phase != "Terminating":
        why = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        yield invalid("status.Phase", phase, why)
    elif not going and phase != "Active":
        yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")


def _status(obj: Obj) -> Obj:
    status: Obj = obj.get("status") or {}
    return status


_REPLICAS = table_of(
    *_counts("replicas", *PARTS, "observedGeneration", "collisionCount"), ("status$", _parts)
)
_JOB = table_of(*_counts("active", "ready", "succeeded", "failed", "terminating"))
_TABLES = {
    "daemonsets.apps": table_of(*_counts(*DAEMONS)),
    "namespaces": table_of(("", _namespace)),
    **dict.fromkeys(
        ("deployments.apps", "replicasets.apps", "replicationcontrollers", "statefulsets.apps"), _REPLICAS
    ),
}


def status_errors(resource: str, obj: Obj, old: Obj) -> list[FieldError]:
    """Return the errors of a status that replaces that of `old`; only some kinds have rules."""
    if resource == "jobs.batch":
        return _job(obj, old)
    table = _TABLES.get(resource)
    return table.errors(obj) if table is not None else []
