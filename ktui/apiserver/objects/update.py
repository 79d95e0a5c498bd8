"""From the stored object and what a client sent to the object that is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ktui.apiserver.objects.managed.apply import Apply
from ktui.apiserver.objects.managed.entries import track_update
from ktui.apiserver.objects.metadata import (
    LABEL_CHECKS_OF_CUSTOM_UPDATE,
    LABEL_CHECKS_OF_UPDATE,
    counts_generations,
    drop_empty,
    metadata_of,
    timestamp,
    validate_metadata,
)
from ktui.apiserver.objects.validation import validate_change
from ktui.kube.fielderrors import FieldError, invalid_object, invalid_value
from ktui.kube.resources import Resource
from ktui.kube.status import bad_request, conflict

Obj = dict[str, Any]

# Only the server sets these; what a client sends for them is ignored.
SERVERS_OWN = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "selfLink",
    "generateName",
)
# Strategies that do not allow an update without a resourceVersion.
CONDITIONAL_ONLY = frozenset({"leases", "customresourcedefinitions", "apiservices"})


@dataclass(frozen=True, slots=True)
class UpdateContext:
    """Who updates what. `whole` False: a patch, whose result may lack what the client did not send.

    `touched` are the containers that a patch goes into (`patches.touched`); `apply` is
    there when the update is a server-side apply.
    """

    resource: Resource
    namespace: str
    name: str
    subresource: str
    manager: str
    whole: bool
    touched: dict[str, Any] = field(default_factory=dict)
    apply: Apply | None = None


def check_identity(new: Obj, context: UpdateContext) -> None:
    """The object must be the one that the path names; StatusError 400."""
    metadata = metadata_of(new)
    if metadata.setdefault("name", context.name) != context.name:
        raise bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({context.name})"
        )
    if metadata.setdefault("namespace", context.namespace) != context.namespace:
        raise bad_request(
            f"the namespace of the object ({metadata['namespace']}) does not match the namespace on the URL "
            f"({context.namespace})"
        )
    if not context.namespace:
        metadata.pop("namespace", None)


def updated(old: Obj, new: Obj, context: UpdateContext) -> Obj:
    """The object to store. Raises StatusError 409 or 422.

    `old` has the resourceVersion that etcd has now; `new` is not stored if it
    comes out the same.
    """
    resource = context.resource
    _check_version(old, new, context)
    _check_uid(old, new, context)
    was, metadata = metadata_of(old), metadata_of(new)
    for name in SERVERS_OWN:
        metadata.pop(name, None)
        if name in was:
            metadata[name] = was[name]
    metadata.pop("resourceVersion", None)
    _keep_other_part(old, new, context)
    drop_empty(metadata)
    validate_metadata(
        new, resource, LABEL_CHECKS_OF_CUSTOM_UPDATE if resource.custom else LABEL_CHECKS_OF_UPDATE
    )
    validate_change(old, new, resource)
    if counts_generations(old, resource) and _spec_changed(old, new, resource):
        metadata["generation"] = int(was.get("generation", 0)) + 1
    if context.apply is not None:
        context.apply.track(old, new, timestamp())
        return new
    track_update(
        old,
        new,
        manager=context.manager,
        time=timestamp(),
        api_version=resource.api_version,
        subresource=context.subresource,
        custom=resource.custom,
    )
    return new


def _check_version(old: Obj, new: Obj, context: UpdateContext) -> None:
    wanted = metadata_of(new).get("resourceVersion") or ""
    if wanted in ("", "0"):
        needs_one = context.resource.custom or context.resource.resource in CONDITIONAL_ONLY
        if context.whole and needs_one:
            error = FieldError(
                "metadata.resourceVersion",
                "FieldValueInvalid",
                "Invalid value: 0x0: must be specified for an update",
            )
            raise invalid_object(context.resource.kind, context.resource.group, context.name, [error])
    elif wanted != metadata_of(old).get("resourceVersion"):
        raise conflict(context.resource, context.name)


def _check_uid(old: Obj, new: Obj, context: UpdateContext) -> None:
    wanted, found = metadata_of(new).get("uid"), metadata_of(old).get("uid")
    if not wanted or wanted == found:
        return
    if context.whole:
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        raise conflict(context.resource, context.name, why)
    error = invalid_value("metadata.uid", wanted, "field is immutable")
    # Both the generic strategy and the kind's own find it: two causes.
    raise invalid_object(context.resource.kind, context.resource.group, context.name, [error, error])


def _keep_other_part(old: Obj, new: Obj, context: UpdateContext) -> None:
    """The status is changed through its subresource only, all else not through it."""
    if context.subresource == "status":
        for name in (old.keys() | new.keys()) - {"status", "metadata"}:
            _keep(old, new, name)
        if context.resource.custom:
            new["metadata"] = {**old.get("metadata", {})}
        return
    if "status" in context.resource.subresources:
        _keep(old, new, "status")


def _keep(old: Obj, new: Obj, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def _spec_changed(old: Obj, new: Obj, resource: Resource) -> bool:
    if not resource.custom:
        return bool(old.get("spec") != new.get("spec"))
    apart = {"metadata", "status"} if "status" in resource.subresources else {"metadata"}
    return any(old.get(name) != new.get(name) for name in (old.keys() | new.keys()) - apart)


def finished_deleting(obj: Obj) -> bool:
    """Whether an update took the last thing away that kept a deleted object."""
    metadata = metadata_of(obj)
    if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
        return False
    spec = obj.get("spec") or {}
    held = obj.get("kind") == "Namespace" and spec.get("finalizers")
    return not held and not metadata.get("deletionGracePeriodSeconds")
