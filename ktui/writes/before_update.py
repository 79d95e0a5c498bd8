"""Compute the object to store from the stored object and the object that a client sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ktui.kube.fielderrors import FieldError, invalid, invalid_object
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, conflict, other_namespace, unmet_in_storage
from ktui.wire.conversion import to_v1, to_v2
from ktui.writes import definitions
from ktui.writes.admission.device_access import granted_errors
from ktui.writes.admission.mutation import tolerate
from ktui.writes.before_create import (
    drop_removed_config,
    drop_traffic_policy,
    name_secrets_only,
    set_data_sources,
)
from ktui.writes.decoding.body import check_custom_kind
from ktui.writes.defaults import TEMPLATE_GENERATION
from ktui.writes.gated_fields import drop_gated, has_gated
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.entries import keep_times, store_entries, track_update
from ktui.writes.objectmeta import (
    drop_empty,
    finalizer_change_errors,
    metadata_of,
    next_generation,
    sent_version,
    timestamp,
    validate_metadata,
)
from ktui.writes.strategies import KEPT_METADATA, NO_UNCONDITIONAL_UPDATES, reset_fields
from ktui.writes.subresource_parts import PARTS, keep, settle_status
from ktui.writes.validation.custom_resources import custom_errors
from ktui.writes.validation.objects import change_errors, changed_errors, has_changed
from ktui.writes.validation.statuses.kinds import status_errors
from ktui.writes.validation.updates import pods, services
from ktui.writes.validation.updates.field_rules import IMMUTABLE
from ktui.writes.validation.updates.pod_parts import PART_RULES
from ktui.writes.validation.values.checks import inside
from ktui.writes.validation.values.cluster import finalize_errors
from ktui.writes.validation.values.services import address_errors

# Metadata that only the server sets; values from clients are ignored.
SERVERS_OWN = (
    "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink",
)  # fmt: skip
SIGNING_REQUESTS = "certificatesigningrequests.certificates.k8s.io"


@dataclass(frozen=True, slots=True)
class UpdateContext:
    """An update. `whole` False: a patch, whose result may lack fields that the client did not send.

    `key` is the object's key in etcd; `touched` are the containers that a patch changes, `strategic` is a
    strategic merge patch; `apply` is set for a server-side apply. `minor` is that of the Kubernetes version.
    `refuses_admin`: the namespace has no label for administrators of devices.
    """

    resource: Resource
    namespace: str
    name: str
    subresource: str
    manager: str
    whole: bool
    key: str = ""
    touched: Obj = field(default_factory=dict)
    strategic: Obj | None = None
    apply: Apply | None = None
    minor: int = NEWEST_MINOR
    refuses_admin: bool = False


def check_identity(new: Obj, context: UpdateContext) -> None:
    """Raise StatusError 400 unless the object is the one in the path."""
    metadata = metadata_of(new)
    if context.namespace and (metadata.get("namespace") or context.namespace) != context.namespace:
        raise other_namespace()
    metadata["namespace"] = context.namespace
    if not context.namespace:
        del metadata["namespace"]
    name = metadata.get("name") or ""
    if not name:
        why = "was undeterminable: name must be provided"
        raise bad_request(f"the name of the object ({context.name} based on URL) {why}")
    if name != context.name:
        why = f"does not match the name on the URL ({context.name})"
        raise bad_request(f"the name of the object ({name}) {why}")


def updated(
    old: Obj, new: Obj, context: UpdateContext, as_sent: Callable[[Obj], Obj] = lambda obj: obj
) -> Obj:
    """Return the object to store; raise StatusError 409 or 422.

    `old` has etcd's current resourceVersion; an unchanged `new` is not stored. Errors show it `as_sent`.
    """
    resource = context.resource
    if context.whole:
        check_uid(new, old, context)
    _check_version(old, new, context)
    was, metadata = metadata_of(old), metadata_of(new)
    if _keeps_deletion(context):
        keep(was, metadata, "deletionTimestamp")
    identity = [*_identity_errors(was, metadata)]
    for name in SERVERS_OWN:
        metadata.pop(name, None)
        if name in was:
            metadata[name] = was[name]
    metadata.pop("resourceVersion", None)
    part = PARTS.get(context.subresource)
    sent = copied(new) if part is not None else {}
    if part is not None:
        part(old, new)
    elif new.get("apiVersion") == "autoscaling/v1":  # parts of its spec and status are in annotations
        internal = to_v2(new)
        _keep_other_part(to_v2(old), internal, context)
        new.update(to_v1(internal))
    else:
        _keep_other_part(old, new, context)
    metadata = metadata_of(new)
    change = [*finalizer_change_errors(was, metadata), *identity]
    drop_empty(metadata)
    check_custom_kind(new, resource)
    if resource.id == definitions.ID and not context.subresource:
        definitions.add_stored_version(new)
    # A manager owns what it sent, not what is restored or left of it.
    sent = sent or dict(new)
    if resource.id in ("services", "persistentvolumeclaims") and "spec" in new:
        sent["spec"] = copied(new["spec"])
    if not resource.custom and has_gated(new):
        sent = sent if part is not None else {**copied(new), "metadata": new["metadata"]}
        drop_gated(new, old)
    values, fixed = _member_errors(old, new, context, as_sent)
    validate_metadata(new, resource, values, change, context.subresource, fixed)
    if next_generation(old, new, resource):
        metadata["generation"] = int(was.get("generation", 0)) + 1
    if context.apply is not None:
        context.apply.track(old, sent, timestamp())
    else:
        who, where = context.manager, context.subresource
        track_update(old, sent, manager=who, time=timestamp(), resource=resource, subresource=where)
    store_entries(new, metadata_of(sent).get("managedFields") or [])
    _count_templates(old, new)
    _set_servers_own(old, new, context)
    keep_times(old, new)
    return new


def _set_servers_own(old: Obj, new: Obj, context: UpdateContext) -> None:
    """Set the fields that the server decides on, after managedFields have noted what the client sent.

    A namespace's finalizers change only through `finalize`.
    """
    which = (context.resource.id, context.subresource)
    if which == ("namespaces", ""):
        keep(old, new, "spec")
    elif which == ("services", ""):
        drop_traffic_policy(new)


def _count_templates(old: Obj, new: Obj) -> None:
    """Set a DaemonSet's template generation, which only the server counts."""
    if new.get("kind") != "DaemonSet":
        return
    counted = str((metadata_of(old).get("annotations") or {}).get(TEMPLATE_GENERATION))
    count = int(counted) if counted.isascii() and counted.isdigit() else 0
    changed = (old.get("spec") or {}).get("template") != (new.get("spec") or {}).get("template")
    metadata_of(new).setdefault("annotations", {})[TEMPLATE_GENERATION] = str(count + changed)


def _member_errors(
    old: Obj, new: Obj, context: UpdateContext, as_sent: Callable[[Obj], Obj]
) -> tuple[list[FieldError], list[FieldError]]:
    """Return the errors outside the metadata: in the object itself, and in its changes.

    Before that, fields that a client may omit of a built-in kind are restored.
    """
    resource = context.resource
    if resource.custom:
        return custom_errors(new, resource, context.subresource, old, context.minor), []
    if context.subresource in ("approval", "status"):
        of = resource.id if context.subresource == "status" else f"{resource.id}/{context.subresource}"
        settle_status(of, old, new, context.minor)
        errors = status_errors(of, new, old)
        first = granted_errors(old, new) if context.refuses_admin else []
        return [*first, *(status_errors(of, as_sent(new), old) if errors else ())], []
    if context.subresource == "finalize":
        return [*finalize_errors(new)], []
    if rule := PART_RULES.get(context.subresource):
        shown = {**as_sent(new), "metadata": new["metadata"]}
        return rule(old, shown, changed_errors(old, shown, resource)), []
    if context.subresource or not has_changed(old, new) or resource.id == "namespaces":
        return [], []  # the server keeps what a namespace has besides metadata
    if resource.id == "services" and isinstance(new.get("spec"), dict):
        services.settled(old.get("spec") or {}, new["spec"])
        services.drop_balancer(new)
        _check_addresses(old, new, context)
    elif resource.id == "nodes":
        drop_removed_config(new, old)
    elif resource.id == "serviceaccounts":
        name_secrets_only(new)
    elif resource.id == "persistentvolumeclaims":
        set_data_sources(new.setdefault("spec", {}), old.get("spec"))
    elif resource.id == "pods":
        spec = new.setdefault("spec", {})
        pods.settled(old.get("spec") or {}, spec)
        tolerate(spec)
    shown = {**as_sent(new), "metadata": new["metadata"]}
    drop_gated(shown, old)  # what was sent as an empty list is back
    return changed_errors(old, shown, resource), change_errors(old, shown, resource)


def _check_addresses(old: Obj, service: Obj, context: UpdateContext) -> None:
    """Raise StatusError 422 for wrong addresses: upstream allocates before it validates."""
    errors = list(inside("spec", address_errors(service["spec"])))
    errors = errors or services.family_errors(old.get("spec") or {}, service["spec"])
    if errors:
        raise invalid_object("Service", "", context.name, errors)


def _check_version(old: Obj, new: Obj, context: UpdateContext) -> None:
    wanted = sent_version(new)
    if wanted in ("", "0"):
        if context.resource.custom or context.resource.resource in NO_UNCONDITIONAL_UPDATES:
            error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            # Here upstream's error has the resource instead of the kind.
            raise invalid_object(context.resource.resource, context.resource.group, context.name, [error])
    elif wanted != metadata_of(old).get("resourceVersion"):
        raise conflict(context.resource, context.name)


def _keeps_deletion(context: UpdateContext) -> bool:
    """Whether the time of a deletion that a client sends is ignored (upstream: ResetObjectMetaForStatus)."""
    paths = reset_fields(context.resource, "status") if context.subresource == "status" else ()
    return context.subresource in PART_RULES or any(
        path in paths for path in (("metadata",), ("metadata", "deletionTimestamp"))
    )


def _identity_errors(was: Obj, metadata: Obj) -> Iterator[FieldError]:
    """Yield the errors between two states' metadata: uid and deletion timestamp must not change."""
    uid, time, grace = (metadata.get(n) for n in ("uid", "deletionTimestamp", "deletionGracePeriodSeconds"))
    if uid and uid != was.get("uid"):
        yield invalid("metadata.uid", uid, IMMUTABLE)
    if not was.get("deletionTimestamp"):
        if time:
            yield invalid("metadata.deletionTimestamp", time, IMMUTABLE)
        if grace is not None:
            yield invalid("metadata.deletionGracePeriodSeconds", grace, IMMUTABLE)


def check_uid(new: Obj, old: Obj, context: UpdateContext) -> None:
    """Raise StatusError 409 unless what a PUT sends has the stored object's uid, or none."""
    wanted, found = metadata_of(new).get("uid"), metadata_of(old).get("uid")
    if wanted and wanted != found:
        raise uid_conflict(context, str(wanted), str(found))


def uid_conflict(context: UpdateContext, wanted: str, found: str) -> StatusError:
    """Return the 409 of a PUT with another uid, which storage treats as a precondition."""
    return unmet_in_storage(context.resource, context.name, context.key, "UID", wanted, found)


def _keep_other_part(old: Obj, new: Obj, context: UpdateContext) -> None:
    """Restore what this request may not change, as the status without its subresource; StatusError 422."""
    if context.resource.id == SIGNING_REQUESTS and not context.subresource:
        keep(old, new, "spec")
    if context.subresource == "status":
        for name in (old.keys() | new.keys()) - {"status", "metadata"}:
            keep(old, new, name)
        for path in reset_fields(context.resource, "status"):
            for name in (path[1:] or KEPT_METADATA) if path[0] == "metadata" else ():
                keep(metadata_of(old), metadata_of(new), name)
        if context.resource.custom:
            new["metadata"] = {**old.get("metadata", {})}
        return
    if "status" in context.resource.subresources:
        keep(old, new, "status")


def finished_deleting(obj: Obj) -> bool:
    """Return True if an update removed the last reason to keep a deleted object."""
    metadata = metadata_of(obj)
    if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
        return False
    spec = obj.get("spec") or {}
    held = obj.get("kind") == "Namespace" and spec.get("finalizers")
    return not held and not metadata.get("deletionGracePeriodSeconds")
