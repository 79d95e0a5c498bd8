"""Validate an object by the table of its kind, its changes, and its status, which controllers write.

Not all of upstream's rules are here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, limited, required, unfit
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.wire.conversion import to_v2
from ktui.writes.defaults import set_defaults
from ktui.writes.definitions import ID as DEFINITIONS
from ktui.writes.validation import conditions, definitions
from ktui.writes.validation.custom_resources import custom_errors
from ktui.writes.validation.pod_warnings import MOST_WARNINGS, pod_warnings
from ktui.writes.validation.selectors import generated_selector_errors, has_prefixed_labels
from ktui.writes.validation.updates.kinds import RULES, update_errors
from ktui.writes.validation.updates.services import warnings as service_warnings
from ktui.writes.validation.values import (
    autoscalers,
    cluster,
    events,
    flow_control,
    jobs,
    networks,
    pods,
    policies,
    rights,
    services,
    storage,
    webhooks,
    workloads,
)
from ktui.writes.validation.values.addresses import STRICT
from ktui.writes.validation.values.checks import Rows, below, counts, table_of

_ROWS: dict[str, Rows] = {
    DEFINITIONS: (("", definitions.definition_errors),),
    **autoscalers.KINDS, **cluster.KINDS, **events.KINDS, **flow_control.KINDS, **jobs.KINDS,
    **networks.KINDS, **pods.KINDS, **policies.KINDS, **rights.KINDS, **services.KINDS, **storage.KINDS,
    **webhooks.KINDS, **workloads.KINDS,
}  # fmt: skip
_KINDS = {kind: table_of(*rows) for kind, rows in _ROWS.items()}
# Fields with whose errors an object may stay that has them already.
_TOLERATED = {"horizontalpodautoscalers.autoscaling": frozenset({"spec.scaleTargetRef.apiVersion"})}


def value_errors(resource: str, obj: Obj) -> list[FieldError]:
    """Return the errors in the values of an object; `resource` is the resource's id.

    Upstream validates the internal type, which for autoscalers is that of autoscaling/v2.
    """
    if obj.get("apiVersion") == "autoscaling/v1":
        obj = to_v2(obj)
    return _KINDS[resource].errors(obj) if resource in _KINDS else []


# Rules for new objects only.
_NEW = {
    DEFINITIONS: table_of(("", definitions.status_errors)),
    "controllerrevisions.apps": table_of(("", cluster.new_revision_errors)),
    "events.events.k8s.io": table_of(("", events.new_errors)),
    "pods": table_of(*pods.NEW_POD),
    "servicecidrs.networking.k8s.io": table_of(("", cluster.cidr_errors)),
}
# All rules of a new object, where an update skips some of them.
_NEW_VALUES = {"statefulsets.apps": table_of(*workloads.NEW_STATEFUL_SET)}
# Rules for an update that validate a part once more (upstream: ValidateJobSpecUpdate).
_AGAIN = {"jobs.batch": table_of(*jobs.JOB_SPEC)}
# Members whose updates have their own rules, or are not validated.
_APART = frozenset({"apiVersion", "kind", "metadata", "status"})


def new_errors(obj: Obj, resource: Resource, minor: int) -> list[FieldError]:
    """Return the errors of an object to be created, without those of its metadata."""
    if resource.custom:
        return custom_errors(obj, resource)
    first: Iterable[FieldError] = ()
    if resource.id == "jobs.batch":
        first = generated_selector_errors(obj, prefixed=minor >= 27)
    elif resource.id == DEFINITIONS:
        first = definitions.name_errors(obj)
    only_new = _NEW[resource.id].errors(obj) if resource.id in _NEW else []
    values = _NEW_VALUES[resource.id].errors(obj) if resource.id in _NEW_VALUES else None
    return [*first, *(value_errors(resource.id, obj) if values is None else values), *only_new]


def changed_errors(old: Obj, new: Obj, resource: Resource) -> list[FieldError]:
    """Return the errors in an object itself that an update makes."""
    errors = value_errors(resource.id, new)
    if resource.id == "jobs.batch":
        return [*generated_selector_errors(new, prefixed=has_prefixed_labels(old)), *errors]
    if any(error.message.endswith(STRICT) for error in errors):
        before = {error.message for error in value_errors(resource.id, old)}
        errors = [e for e in errors if e.message not in before or not e.message.endswith(STRICT)]
    tolerated = _TOLERATED.get(resource.id, frozenset()) & {error.field for error in errors}
    if tolerated:
        tolerated &= {error.field for error in value_errors(resource.id, old)}
    return [error for error in errors if error.field not in tolerated]


def change_errors(old: Obj, new: Obj, resource: Resource) -> list[FieldError]:
    """Return the errors of an update: changed immutable fields."""
    if resource.id not in RULES:
        return []
    before = copied(old)
    set_defaults(before)  # as decoding it would
    again = _AGAIN[resource.id].errors(new) if resource.id in _AGAIN else []
    return [*again, *update_errors(resource.id, before, new)]


def has_changed(old: Obj, new: Obj) -> bool:
    """Whether an update changes more than metadata and status; most do not, and skip the other checks."""
    return any(old.get(name) != new.get(name) for name in (old.keys() | new.keys()) - _APART)


TLS = "kubernetes.io/tls"
_HISTORY = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; "
    "a value >= 0 is recommended"
)
PEM = b"-----BEGIN "


def object_warnings(resource: str, obj: Obj, old: Obj | None = None) -> list[str]:
    """Return the warnings for an object; `resource` is the resource's id, `old` None if the object is new."""
    if resource == "services":
        return service_warnings(obj)
    if resource == "secrets":
        return _tls_secret(obj)
    limit = (obj.get("spec") or {}).get("revisionHistoryLimit")
    found = [_HISTORY] if resource == "statefulsets.apps" and limit is not None and limit < 0 else []
    return [*islice(pod_warnings(obj, old), MOST_WARNINGS), *found]


def _tls_secret(secret: Obj) -> list[str]:
    """Return upstream's warnings for a TLS Secret that Go cannot load; here only for missing PEM data."""
    if secret.get("type") != TLS:
        return []
    data = secret.get("data") or {}
    for name, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if PEM not in base64.b64decode(data.get(name) or ""):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []


DAEMONS = (
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
    "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
)  # fmt: skip
DISRUPTIONS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_CONDITIONS = "status.conditions"
PARTS = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "fullyLabeledReplicas")


def _counts(*names: str) -> Rows:
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
        yield unfit(_CONDITIONS, "cannot set both Complete=True and Failed=True conditions")
    if "Complete" in true and not status.get("completionTime"):
        yield required("status.completionTime", "completionTime is required for Complete jobs")
    for ends, first in (("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget")):
        if ends in true and first not in true:
            yield unfit(_CONDITIONS, f"cannot set {ends}=True condition without the {first}=true condition")
    if true & {"Complete", "Failed"} and not status.get("startTime"):
        yield required("status.startTime", "startTime is required for finished job")


def _true(status: Obj) -> set[Any]:
    return {each.get("type") for each in status.get("conditions") or [] if each.get("status") == "True"}


def _end(status: Obj) -> tuple[Any, ...]:
    met = _true(status) & {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"}
    return met, status.get("startTime"), status.get("completionTime")


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


_REPLICAS = table_of(*_counts("replicas", *PARTS, "observedGeneration", "collisionCount"), ("status", _parts))
_JOB = table_of(*_counts("active", "ready", "succeeded", "failed", "terminating"))
_FLOW = table_of((_CONDITIONS, conditions.of_flow_control))
_TABLES = {
    "daemonsets.apps": table_of(*_counts(*DAEMONS)),
    "namespaces": table_of(("", _namespace)),
    "poddisruptionbudgets.policy": table_of((_CONDITIONS, conditions.common), *_counts(*DISRUPTIONS)),
    "horizontalpodautoscalers.autoscaling": table_of(*_counts("currentReplicas", "desiredReplicas")),
    "apiservices.apiregistration.k8s.io": table_of((_CONDITIONS, conditions.of_services)),
    "flowschemas.flowcontrol.apiserver.k8s.io": _FLOW,
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": _FLOW,
    **dict.fromkeys(
        ("deployments.apps", "replicasets.apps", "replicationcontrollers", "statefulsets.apps"),
        _REPLICAS,
    ),
}  # fmt: skip


def status_errors(resource: str, obj: Obj, old: Obj) -> list[FieldError]:
    """Return the errors of a status that replaces that of `old`; only some kinds have rules."""
    if resource == "jobs.batch":
        return _job(obj, old)
    return _TABLES[resource].errors(obj) if resource in _TABLES else []
