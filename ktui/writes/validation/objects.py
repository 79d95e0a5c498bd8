"""Validate an object by the table of its kind, and its changes.

Not all of upstream's rules are here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ktui.kube.fielderrors import FieldError
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.wire.conversion import to_v2
from ktui.writes.defaults import set_defaults
from ktui.writes.definitions import ID as DEFINITIONS
from ktui.writes.validation import definitions
from ktui.writes.validation.custom_resources import custom_errors
from ktui.writes.validation.pod_warnings import MOST_WARNINGS, pod_warnings
from ktui.writes.validation.selectors import generated_selector_errors, has_prefixed_labels
from ktui.writes.validation.updates.kinds import RULES, update_errors
from ktui.writes.validation.values import (
    admission_policies,
    autoscalers,
    certificates,
    cluster,
    device_slices,
    devices,
    events,
    flow_control,
    jobs,
    networks,
    nodes,
    pods,
    policies,
    rights,
    services,
    storage,
    webhooks,
    workloads,
)
from ktui.writes.validation.values.addresses import STRICT
from ktui.writes.validation.values.checks import Rows, table_of
from ktui.writes.validation.values.pod_containers import NOT_OF_INIT
from ktui.writes.validation.values.systems import NOT_OF_OWN_USERS
from ktui.writes.validation.warnings import own_warnings

_ROWS: dict[str, Rows] = {
    DEFINITIONS: (("", definitions.definition_errors),),
    **admission_policies.KINDS, **autoscalers.KINDS, **certificates.KINDS, **cluster.KINDS, **devices.KINDS,
    **device_slices.KINDS, **events.KINDS, **flow_control.KINDS, **jobs.KINDS, **networks.KINDS,
    **nodes.KINDS, **pods.KINDS, **policies.KINDS, **rights.KINDS,
    **services.KINDS, **storage.KINDS, **webhooks.KINDS, **workloads.KINDS,
}  # fmt: skip
_KINDS = {kind: table_of(*rows) for kind, rows in _ROWS.items()}
# The words of rules that are newer than objects may be: what violates them already may stay.
_NEWER = (*STRICT, NOT_OF_INIT, NOT_OF_OWN_USERS, *pods.NOT_OF_HOSTS)
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
    "resourceclaims.resource.k8s.io": table_of(*devices.NEW_CLAIM),
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
    if any(error.message.endswith(_NEWER) for error in errors):
        before = {error.message for error in value_errors(resource.id, old)}
        errors = [e for e in errors if e.message not in before or not e.message.endswith(_NEWER)]
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


def object_warnings(resource: str, obj: Obj, old: Obj | None = None) -> list[str]:
    """Return the warnings for an object; `resource` is the resource's id, `old` None if the object is new."""
    return [
        *islice(pod_warnings(obj, old), MOST_WARNINGS),
        *islice(own_warnings(resource, obj, old), MOST_WARNINGS),
    ]
