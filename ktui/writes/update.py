"""PUT, and any update as a function of the stored object, retried on conflicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ktui.apiserver.answer import send_object, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.server import Server
from ktui.kube.golang.formatting import go_value
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.admission.rights import confirm_changed_grant
from ktui.writes.admission.unenforced import check_webhooks, unevaluated
from ktui.writes.before_update import UpdateContext, check_identity, finished_deleting, uid_conflict, updated
from ktui.writes.create import Creation, create, decoded, ttl_of
from ktui.writes.decoding.body import STRICT, WARN, Unfit, name_kind, refused, refused_patch, strict_error
from ktui.writes.decoding.typed_objects import shaped, warn
from ktui.writes.managedfields.apply import Apply
from ktui.writes.objectmeta import finalizer_warnings, metadata_of
from ktui.writes.options import WriteOptions, write_options
from ktui.writes.own_objects import update_or_create
from ktui.writes.patches.conversion import conversion_fault
from ktui.writes.patches.patch_documents import patched_text
from ktui.writes.patches.strategic import consumed
from ktui.writes.service_allocation import Unallocated, allocating
from ktui.writes.strategies import CREATED_BY_UPDATES
from ktui.writes.validation.objects import has_changed, object_warnings


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = write_options(call.request, "UpdateOptions")
    new = await compute(request_body.sent_object, server, resource, body)
    call.sent = dict(metadata_of(new))
    await request_body.keep_typed(server, call, resource, new)
    context, faults = context_of(server, call, resource, options, whole=True), body.duplicates
    try:
        check_identity(new, context)
    except StatusError:
        await compute(decoded, server, call, resource, new, options, faults)  # upstream decodes it first
        raise
    if resource.resource not in CREATED_BY_UPDATES or call.info.subresource:
        try:
            await apply_change(server, call, context, lambda _: new, form, options, faults)
        except StatusError as error:
            if error.code == 404:  # so it does here
                await compute(decoded, server, call, resource, new, options, faults)
            raise
        return

    async def create_it() -> None:
        if uid := metadata_of(new).get("uid"):
            raise uid_conflict(context, uid, "")
        missing = await compute(copied, new)
        metadata_of(missing).pop("resourceVersion", None)
        await create(server, call, Creation(resource, missing, options, faults, authorized=False), form)

    await update_or_create(
        lambda: apply_change(server, call, context, lambda _: new, form, options, faults), create_it
    )


Change = Callable[[Obj], Obj]
"""Stored object → wanted object; must not modify the stored one (they may share parts)."""


def context_of(
    server: Server,
    call: Call,
    resource: Resource,
    options: WriteOptions,
    *,
    whole: bool = False,
    touched: Obj | None = None,
    strategic: Obj | None = None,
    apply: Apply | None = None,
) -> UpdateContext:
    info, minor = call.info, call.behaviour.minor
    path = f"{info.namespace}/{info.name}" if info.namespace else info.name
    where = info.namespace, info.name, info.subresource
    key = server.cacher(resource).store.prefix + path
    patch = touched or {}, strategic
    return UpdateContext(resource, *where, options.field_manager, whole, key, *patch, apply, minor)


async def apply_change(
    server: Server,
    call: Call,
    context: UpdateContext,
    change: Change,
    form: Form,
    options: WriteOptions,
    faults: Sequence[str] = (),
) -> None:
    """Store `change(old)` by the rules of an update, and send the result; `faults` are those of the body."""
    warnings: list[str] = []
    compute = _by_the_rules(server, call, context, change, options.validation, faults, warnings)
    await check_webhooks(server, context.resource, call.info, "UPDATE", None)
    call.writes()
    try:
        outcome = await _allocated(server, context, compute, options)
    finally:
        warn(call, warnings)  # also for a refused update
    if isinstance(outcome, dict):
        call.meter.trees.append(outcome)
        await send_tree(server, call, context.resource, outcome, form)
    else:
        await send_object(server, call, context.resource, outcome, form)


async def _allocated(
    server: Server, context: UpdateContext, compute: Change, options: WriteOptions
) -> StoredObject | Obj:
    """The outcome with allocated values: they are reserved on demand, then the change is decided again."""
    where, name, dry_run = context.namespace, context.name, options.dry_run
    async with allocating(server, context.resource, where, name, dry_run=dry_run) as allocation:
        if allocation is None or context.subresource:
            return await _outcome(server, context, compute, options)

        def filled(old: Obj) -> Obj:
            new = compute(old)
            allocation.fill(old, new)
            return new

        while True:
            try:
                return await _outcome(server, context, filled, options)
            except Unallocated as lacking:
                await allocation.reserve(lacking.needs)


async def _outcome(
    server: Server, context: UpdateContext, compute: Change, options: WriteOptions
) -> StoredObject | Obj:
    """The stored object; or, if nothing was stored, what a dry run would write, or the deleted object."""
    answer: Obj | None = None

    def commit(old: Obj) -> Obj | None:
        nonlocal answer
        answer = None
        new = compute(old)
        removes = finished_deleting(new)
        if removes or options.dry_run:
            resource_version = (old.get("metadata") or {}).get("resourceVersion", "")
            answer = {**new, "metadata": {**new["metadata"], "resourceVersion": resource_version}}
        if options.dry_run:
            raise NoWrite
        return None if removes else new

    cacher = server.cacher(context.resource)
    where = context.namespace or None
    cached = None if options.dry_run else cacher.cached(where, context.name)
    ttl = ttl_of(server, context.resource)
    stored = await cacher.store.update(where, context.name, commit, cached=cached, ttl=ttl)
    return stored if answer is None else answer


def _by_the_rules(
    server: Server,
    call: Call,
    context: UpdateContext,
    change: Change,
    validation: str,
    faults: Sequence[str],
    warnings: list[str],
) -> Change:
    """Return the change with all rules of an update; `warnings` collects the warnings for the client."""
    resource = context.resource

    def compute(old: Obj) -> Obj:
        old = in_version(server, old, resource)
        patched = change(old)
        if not resource.custom and isinstance(patched, dict):
            name_kind(patched, resource)
        try:
            new, unknown = shaped(server, patched, resource, old)
        except Unfit as unfit:
            fault = conversion_fault(patched, resource) if context.strategic is not None else ""
            raise _refused(context, patched, fault or unfit.reason) from None
        resource_version = (patched.get("metadata") or {}).get("resourceVersion")
        found = [*faults, *unknown]
        if found and validation == STRICT:
            raise _refused(context, patched, strict_error(found))
        warnings[:] = found if validation == WARN else []
        check_identity(new, context)
        if not resource.custom and (patched.get("metadata") or {}).get("managedFields") == []:
            new["metadata"]["managedFields"] = [{}]  # both reset them
        if resource_version:
            new["metadata"]["resourceVersion"] = resource_version
        confirm_changed_grant(server, call, resource, old, new)
        new = updated(old, new, context)
        if resource.custom:
            warnings.extend(finalizer_warnings(new["metadata"], old.get("metadata")))
        elif not context.subresource:
            warnings.extend(object_warnings(resource.id, new, old))
            if has_changed(old, new):
                warnings.extend(unevaluated(resource, new))
        return new

    return compute


def in_version(server: Server, obj: Obj, resource: Resource) -> Obj:
    """Return a stored object as a tree in the version of the request."""
    if resource.custom:
        return {**obj, "apiVersion": resource.api_version}
    if obj.get("apiVersion") == resource.api_version:
        return obj
    resource_version = (obj.get("metadata") or {}).get("resourceVersion", "")
    converted = stored_objects.as_stored(server, obj, resource)
    converted.setdefault("metadata", {})["resourceVersion"] = resource_version
    return converted


def _refused(context: UpdateContext, patched: Obj, reason: str) -> StatusError:
    if context.whole:
        return refused(context.resource, reason)
    if context.strategic is not None:
        return refused_patch(go_value(consumed(context.strategic)), reason)
    touched = None if context.resource.custom else context.touched
    return refused_patch(patched_text(patched, touched), reason)
