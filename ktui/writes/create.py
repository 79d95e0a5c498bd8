"""POST: create an object. Also used by an update or an apply of a missing object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ktui.apiserver.answer import send_object, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import FieldError
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import (
    StatusError,
    already_exists,
    being_deleted,
    generated_name_taken,
    namespace_terminating,
    not_found,
)
from ktui.storage.objects import StoredObject
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.admission.device_access import admin_access_errors
from ktui.writes.admission.limit_ranges import LIMIT_RANGER, Limits, check_limits, limits_of, set_defaults
from ktui.writes.admission.mutation import admit_pod, changes, outline, set_classes
from ktui.writes.admission.quotas import charge_quotas
from ktui.writes.admission.rights import authorize_creation, confirm_new_grant
from ktui.writes.admission.runtime_classes import admit_runtime_class, check_overhead, runtime_class_of
from ktui.writes.admission.service_accounts import SERVICE_ACCOUNT, admit_account
from ktui.writes.admission.unenforced import check_webhooks, unenforced
from ktui.writes.before_create import prepare, relabel, set_profiles, set_requester
from ktui.writes.before_update import SIGNING_REQUESTS
from ktui.writes.decoding.body import (
    Faults,
    Unfit,
    check_metadata,
    refused,
    unconverted,
    unknown_texts,
)
from ktui.writes.decoding.typed_objects import (
    as_sent,
    shaped,
    shaped_by_converter,
    warn,
    with_empty_lists,
)
from ktui.writes.gated_fields import drop_gated
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import (
    drop_repeated_owners,
    fill_new,
    finalizer_warnings,
    metadata_of,
    timestamp,
    validate_metadata,
)
from ktui.writes.options import WriteOptions, write_options
from ktui.writes.service_allocation import allocating, check_new
from ktui.writes.strategies import STATUS_CREATED
from ktui.writes.validation.objects import new_errors, object_warnings


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = write_options(call.request, "CreateOptions")
    obj = await compute(request_body.sent_object, server, resource, body)
    call.sent = dict(metadata_of(obj))
    await request_body.keep_typed(server, call, resource, obj)
    await create(server, call, Creation(resource, obj, options, partial(body.faults, resource)), form)


@dataclass(frozen=True, slots=True)
class Creation:
    """The object to create. `faults` adds those of the body to unknown fields.

    `apply` is set for a server-side apply. `authorized` False: the request's verb is not `create`, so that
    right is checked as well.
    """

    resource: Resource
    obj: Obj
    options: WriteOptions
    faults: Faults = list
    apply: Apply | None = None
    authorized: bool = True


async def create(server: Server, call: Call, new: Creation, form: Form) -> None:
    """Store a new object, unless it is a dry run, and send it."""
    resource = new.resource
    await check_namespace(server, resource, call.info.namespace, new.obj)
    obj = await _prepared(server, call, new)
    call.writes()
    try:
        stored = await _allocated(server, call, new, obj)
    except StatusError as error:
        if error.reason != "AlreadyExists":
            raise
        raise await _taken(server, call, resource, obj, error) from None
    if stored is None:
        await send_tree(server, call, resource, obj, form, 201)
    else:
        await send_object(server, call, resource, stored, form, 201)


async def _allocated(server: Server, call: Call, new: Creation, obj: Obj) -> StoredObject | None:
    """Store the object with its allocated values (a Service's addresses and ports)."""
    where, name, dry_run = call.info.namespace, metadata_of(obj)["name"], new.options.dry_run
    async with allocating(server, new.resource, where, name, dry_run=dry_run) as allocation:
        if allocation is not None:
            await allocation.fill_new(obj)
        if not new.resource.custom and new.resource.id != "pods":
            warn(call, await compute(object_warnings, new.resource.id, obj))
        return await _stored(server, call, new, obj)


async def _stored(server: Server, call: Call, new: Creation, obj: Obj) -> StoredObject | None:
    """Return the stored object, None for a dry run; raise StatusError 409 if the name exists."""
    resource, cacher = new.resource, server.cacher(new.resource)
    if not new.options.dry_run:
        return await cacher.store.create(obj, ttl_of(resource))
    name = metadata_of(obj)["name"]
    if (await cacher.get(call.info.namespace or None, name, "")).object is not None:
        raise already_exists(resource, name)
    return None


async def _taken(server: Server, call: Call, resource: Resource, obj: Obj, taken: StatusError) -> StatusError:
    """Return upstream's error for an existing name, by how the name was generated and what has it."""
    metadata = metadata_of(obj)
    if metadata.get("generateName"):
        taken = generated_name_taken(resource, metadata["name"])
    there = await server.cacher(resource).get(call.info.namespace or None, metadata["name"], "")
    if there.object is None:
        return taken
    ending = metadata_of(await stored_objects.tree(server, there.object, resource)).get("deletionTimestamp")
    return being_deleted(taken) if ending else taken


EVENT_SECONDS = 3600  # kube-apiserver's --event-ttl


def ttl_of(resource: Resource) -> int:
    """Return the lifetime of an object in seconds, 0 for unlimited; only Events expire."""
    return EVENT_SECONDS if resource.prefix == "events/" else 0


async def _prepared(server: Server, call: Call, new: Creation) -> Obj:
    """Return the object to store: defaults, managed fields, admission, in upstream's order."""
    typed = await compute(_shaped, server, call, new)
    warn(call, drop_repeated_owners(typed, patched=new.apply is not None))
    await confirm_new_grant(server, call, new.resource, typed)
    obj = await compute(_tracked, new, typed)
    node = None
    if new.resource.id == "pods" and (name := (obj.get("spec") or {}).get("nodeName")):
        node = await stored_objects.find(server, builtin("", "nodes"), "", name)
    before = await compute(outline, obj)
    call.resume()
    limits = await _limits(server, call, new.resource, obj)
    await set_classes(server, new.resource, obj)
    await check_webhooks(server, new.resource, call.info, "CREATE", obj)
    if new.resource.id == "services":
        await check_new(server, obj)
    runtime = await runtime_class_of(server, obj) if new.resource.id == "pods" else None
    denied = await admin_access_errors(server, new.resource, call.info.namespace, obj)
    await compute(_admit, server, call, new, obj, node, runtime, denied)
    if not new.authorized:
        authorize_creation(server, call, new.resource)
    await compute(check_limits, new.resource, obj, limits)
    await charge_quotas(server, new.resource, call.info.namespace, obj, dry_run=new.options.dry_run)
    call.passed("admission", await compute(lambda: changes(before, outline(obj))))
    return obj


async def _limits(server: Server, call: Call, resource: Resource, obj: Obj) -> Limits:
    """Run what LimitRanger and ServiceAccount set in a new pod; return the limits to check it by."""
    off, namespace = server.services.disabled_admission, call.info.namespace
    limits = [] if LIMIT_RANGER in off else await limits_of(server, resource, namespace)
    if resource.id == "pods":
        for each in limits:
            await compute(set_defaults, obj, each)
        if SERVICE_ACCOUNT not in off:
            name = call.sent.get("name") or call.sent.get("generateName") or metadata_of(obj).get("name", "")
            await admit_account(server, resource, namespace, str(name), obj)
    return limits


def _tracked(new: Creation, obj: Obj) -> Obj:
    """Return the typed object with its managed fields."""
    resource = new.resource
    metadata_of(obj).pop("managedFields", None)
    with with_empty_lists(obj, new.obj):
        if new.apply is not None:
            new.apply.track(None, obj, timestamp())
        else:
            track_update(None, obj, manager=new.options.field_manager, time=timestamp(), resource=resource)
    return obj


def _admit(
    server: Server,
    call: Call,
    new: Creation,
    obj: Obj,
    node: Obj | None,
    runtime: Obj | None,
    denied: Sequence[FieldError],
) -> None:
    """Run admission and validation; a pod has its node and RuntimeClass. Raises StatusError 403 or 422.

    `denied` are the errors that depend on other objects.
    """
    resource = new.resource
    if resource.id == "pods":
        admit_pod(obj, node, call.behaviour.minor)
        admit_runtime_class(obj, runtime)
    if resource.id == "pods":
        warn(call, set_profiles(obj))
    elif resource.id == "jobs.batch":
        relabel(obj, new.obj)
    shown = obj
    if not resource.custom:
        prepare(obj, call.behaviour.minor)
        shown = {**as_sent(obj, new.obj), "metadata": metadata_of(obj)}
        drop_gated(shown)  # what was sent as an empty list is back
    validate_metadata(obj, resource, [*denied, *new_errors(shown, resource, call.behaviour.minor)])
    warn(call, list(unenforced(resource, obj, counts_quotas=server.services.counts_quotas)))
    if resource.id == SIGNING_REQUESTS:
        set_requester(obj, call.who)
    if resource.custom:
        warn(call, finalizer_warnings(metadata_of(obj), None))
    if resource.id == "pods":  # is warned of also if the overhead is refused
        warn(call, object_warnings(resource.id, obj))
        check_overhead(obj, runtime)


def _shaped(server: Server, call: Call, new: Creation) -> Obj:
    """Return the typed and defaulted object; raise StatusError 400 for wrong types or unknown fields."""
    resource, obj = new.resource, new.obj
    try:
        check_metadata(obj)
        fill_new(obj, resource, call.info.namespace)
    except Unfit as unfit:
        raise refused(resource, str(unfit)) from None
    except StatusError:
        decoded(server, call, resource, obj, new.options, new.faults)  # upstream decodes it first
        raise
    dropped = _dropped_status(server, resource, obj)
    return decoded(
        server, call, resource, obj, new.options, lambda unknown: new.faults([*dropped, *unknown]), new.apply
    )


def _dropped_status(server: Server, resource: Resource, obj: Obj) -> list[str]:
    """Remove the client's status from a new object; it is decoded all the same: return its unknown fields."""
    if "status" not in resource.subresources or obj.get("kind") in STATUS_CREATED:
        return []
    sent = {"status": obj.pop("status", None)}
    if resource.id == "pods":
        _keep_class(obj, sent["status"])
    if resource.custom or sent["status"] is None:
        return []
    codec = server.services.codec
    if fault := codec.go_mismatch(sent, resource.api_version, resource.kind):
        raise refused(resource, fault)
    release = server.services.settings.behaviour.minor
    return unknown_texts(codec.unknown_fields(sent, resource.api_version, resource.kind, release))


def _keep_class(pod: Obj, status: Any) -> None:
    """Keep the QoS class of a new pod, the only part of a status that upstream takes (GetPodQOS)."""
    if isinstance(status, dict) and status.get("qosClass"):
        pod["status"] = {"qosClass": status["qosClass"]}


def decoded(
    server: Server,
    call: Call,
    resource: Resource,
    obj: Obj,
    options: WriteOptions,
    faults: Faults,
    apply: Apply | None = None,
) -> Obj:
    """Return the typed and defaulted object; raise StatusError 400, or warn, for unknown fields."""
    try:
        typed, unknown = (shaped_by_converter if apply else shaped)(server, obj, resource)
    except Unfit as unfit:
        if apply is not None and not resource.custom:
            raise unconverted(apply.config, resource, unfit) from None
        raise refused(resource, str(unfit)) from None
    warn(call, options.warnings(faults(unknown), partial(refused, resource)))
    return typed


async def check_namespace(server: Server, resource: Resource, namespace: str, obj: Obj) -> None:
    """Admission NamespaceLifecycle: the namespace must exist and not be terminating."""
    if not namespace:
        return
    namespaces = builtin("", "namespaces")
    found = await stored_objects.find_one(server, namespaces, "", namespace)
    if found is None:
        raise not_found(namespaces, namespace)
    if (found.get("metadata") or {}).get("deletionTimestamp"):
        named = metadata_of(obj)
        name = str(named.get("name") or named.get("generateName") or "Unknown")
        raise namespace_terminating(resource, name, namespace)
