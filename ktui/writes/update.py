"""PUT, and any update as a function of the stored object, retried on conflicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ktui.apiserver.answer import send_object, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.server import Server
from ktui.kube.golang.formatting import go_value
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bare_error
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.admission.device_access import CLAIMS, may_have_admin_access
from ktui.writes.admission.quotas import Uncharged, charge_quotas, is_charged
from ktui.writes.admission.resizes import check_resize, node_of
from ktui.writes.admission.rights import confirm_changed_grant
from ktui.writes.admission.unenforced import check_webhooks, unevaluated
from ktui.writes.before_update import UpdateContext, check_identity, finished_deleting, uid_conflict, updated
from ktui.writes.create import Creation, create, decoded, ttl_of
from ktui.writes.decoding.body import (
    Faults,
    Unconvertible,
    Unfit,
    name_kind,
    refused,
    refused_patch,
    unconverted,
)
from ktui.writes.decoding.typed_objects import as_sent, shaped, shaped_by_converter, warn
from ktui.writes.objectmeta import drop_repeated_owners, finalizer_warnings, metadata_of
from ktui.writes.options import WriteOptions, write_options
from ktui.writes.own_objects import update_or_create
from ktui.writes.patches.patch_documents import arranged, patched_text
from ktui.writes.patches.strategic import consumed
from ktui.writes.service_allocation import Unallocated, allocating
from ktui.writes.strategies import CREATED_BY_UPDATES
from ktui.writes.validation.objects import has_changed, object_warnings
from ktui.writes.validation.statuses.kinds import status_warnings


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = write_options(call.request, "UpdateOptions")
    new = await compute(request_body.sent_object, server, resource, body)
    call.sent = dict(metadata_of(new))
    await request_body.keep_typed(server, call, resource, new)
    context = replace(context_of(server, call, resource, options), whole=True)
    faults = partial(body.faults, resource)
    decode = partial(decoded, server, call, resource, new, options, faults)
    replaced = partial(Update(server, call, form, options, context, faults).apply, lambda _: new)
    try:
        check_identity(new, context)
    except StatusError:
        await compute(decode)  # upstream decodes it first
        raise
    if resource.resource not in CREATED_BY_UPDATES or call.info.subresource:
        try:
            await replaced()
        except StatusError as error:
            if error.code == 404:  # so it does here
                await compute(decode)
            raise
        return

    async def create_it() -> None:
        if uid := metadata_of(new).get("uid"):
            raise uid_conflict(context, uid, "")
        missing = await compute(copied, new)
        metadata_of(missing).pop("resourceVersion", None)
        await create(server, call, Creation(resource, missing, options, faults, authorized=False), form)

    await update_or_create(replaced, create_it)


Change = Callable[[Obj], Obj]
"""Stored object → wanted object; must not modify the stored one (they may share parts)."""


def context_of(server: Server, call: Call, resource: Resource, options: WriteOptions) -> UpdateContext:
    info, manager = call.info, options.field_manager
    path = f"{info.namespace}/{info.name}" if info.namespace else info.name
    # Upstream checks a dry run above the storage, whose keys have no --etcd-prefix yet (dryrun.go).
    prefix = f"/{resource.prefix}" if options.dry_run else server.cacher(resource).store.prefix
    key, minor = prefix + path, call.behaviour.minor
    where = info.namespace, info.name, info.subresource
    return UpdateContext(resource, *where, manager, whole=False, key=key, minor=minor)


@dataclass(frozen=True, slots=True)
class Update:
    """An update of a stored object; `faults` adds those of the body to unknown fields."""

    server: Server
    call: Call
    form: Form
    options: WriteOptions
    context: UpdateContext
    faults: Faults = list

    async def apply(self, change: Change) -> None:
        """Store `change(old)` by the rules of an update, and send the result."""
        server, call, resource = self.server, self.call, self.context.resource
        warnings: list[str] = []
        await check_webhooks(server, resource, call.info, "UPDATE", None)
        call.writes()
        where, part = self.context.namespace, (resource.id, self.context.subresource)
        resized = part == ("pods", "resize") and self.context.minor >= 36
        node = await node_of(server, where, self.context.name) if resized else ("", None)
        refuses = part == (CLAIMS, "status") and not await may_have_admin_access(server, where)
        update = replace(self, context=replace(self.context, refuses_admin=refuses)) if refuses else self

        def changed(old: Obj) -> Obj:
            new = update._by_the_rules(old, change, warnings)
            check_resize(old, new, *node)
            return new

        try:
            outcome = await self._allocated(changed)
        finally:
            warn(call, warnings)  # also for a refused update
        if isinstance(outcome, dict):
            call.meter.trees.append(outcome)
            await send_tree(server, call, resource, outcome, self.form)
        else:
            await send_object(server, call, resource, outcome, self.form)

    async def _allocated(self, change: Change) -> StoredObject | Obj:
        """The outcome with allocated values: reserved on demand, then the change is decided again.

        So are quotas charged: with the growth of an update that was decided, unless it was paid for.
        """
        context, dry_run, paid = self.context, self.options.dry_run, False
        where = context.resource, context.namespace, context.name
        async with allocating(self.server, *where, dry_run=dry_run) as allocation:

            def filled(old: Obj) -> Obj:
                new = change(old)
                if allocation is not None and not context.subresource:
                    allocation.fill(old, new)
                if not paid and is_charged(context.resource, context.subresource, old, new):
                    raise Uncharged(old, new)
                return new

            while True:
                try:
                    return await self._outcome(filled)
                except Unallocated as lacking:
                    assert allocation is not None
                    await allocation.reserve(lacking.needs)
                except Uncharged as decided:
                    paid = True
                    await charge_quotas(
                        self.server, context.resource, context.namespace, decided.new, old=decided.old,
                        dry_run=dry_run,
                    )  # fmt: skip

    async def _outcome(self, change: Change) -> StoredObject | Obj:
        """The stored object; or, if nothing was stored, what a dry run would write, or the deleted object."""
        answer: Obj | None = None
        dry_run = self.options.dry_run

        def commit(old: Obj) -> Obj | None:
            nonlocal answer
            answer = None
            new = change(old)
            removes = finished_deleting(new)
            if removes or dry_run:
                resource_version = (old.get("metadata") or {}).get("resourceVersion", "")
                answer = {**new, "metadata": {**new["metadata"], "resourceVersion": resource_version}}
            if dry_run:
                raise NoWrite
            return None if removes else new

        cacher = self.server.cacher(self.context.resource)
        where, name = self.context.namespace or None, self.context.name
        cached = None if dry_run else cacher.cached(where, name)
        ttl = ttl_of(self.context.resource)
        stored = await cacher.store.update(where, name, commit, cached=cached, ttl=ttl)
        return stored if answer is None else answer

    def _by_the_rules(self, old: Obj, change: Change, warnings: list[str]) -> Obj:
        """Return the changed object, by all rules of an update; `warnings` collects those for the client."""
        server, context, resource = self.server, self.context, self.context.resource
        old = in_version(server, old, resource)
        patched = change(old)
        if not resource.custom and isinstance(patched, dict):
            name_kind(patched, resource)
        converts = context.strategic is not None or context.apply is not None
        if not (resource.custom or context.whole or converts):
            patched = arranged(patched, context.touched)
        try:
            new, unknown = (shaped_by_converter if converts else shaped)(server, patched, resource, old)
        except Unfit as unfit:
            raise _unfit(context, patched, unfit) from None
        resource_version = (patched.get("metadata") or {}).get("resourceVersion")
        warnings[:] = self.options.warnings(self.faults(unknown), partial(_refused, context, patched))
        warnings += drop_repeated_owners(new, patched=not context.whole)
        check_identity(new, context)
        if not resource.custom and (patched.get("metadata") or {}).get("managedFields") == []:
            new["metadata"]["managedFields"] = [{}]  # both reset them
        if resource_version:
            new["metadata"]["resourceVersion"] = resource_version
        confirm_changed_grant(server, self.call, resource, old, new)
        new = updated(old, new, context, partial(as_sent, sent=patched))
        if resource.custom:
            warnings.extend(finalizer_warnings(new["metadata"], old.get("metadata")))
        elif context.subresource == "status":
            warnings.extend(status_warnings(resource.id, new))
        elif not context.subresource:
            warnings.extend(object_warnings(resource.id, new, old))
            if has_changed(old, new):
                warnings.extend(unevaluated(resource, new))
        return new


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


def _unfit(context: UpdateContext, patched: Obj, unfit: Unfit) -> StatusError:
    if context.apply is not None and not context.resource.custom:
        return unconverted(context.apply.config, context.resource, unfit)
    if context.strategic is not None and isinstance(unfit, Unconvertible):
        return bare_error(str(unfit))
    return _refused(context, patched, str(unfit))


def _refused(context: UpdateContext, patched: Obj, reason: str) -> StatusError:
    if context.whole:
        return refused(context.resource, reason)
    if context.strategic is not None:
        return refused_patch(go_value(consumed(context.strategic)), reason)
    touched = None if context.resource.custom else context.touched
    return refused_patch(patched_text(patched, touched), reason)
