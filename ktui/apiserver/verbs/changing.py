"""An update as a function of the stored object, tried again while others write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.apiserver.answer import send_object
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.objects.fitting import STRICT, WARN, Unfit, refused, refused_patch, strict_error
from ktui.apiserver.objects.options import WriteOptions
from ktui.apiserver.objects.patches.touched import patched_text
from ktui.apiserver.objects.trees import copied
from ktui.apiserver.objects.update import UpdateContext, finished_deleting, updated
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.apiserver.verbs.create import ttl_of
from ktui.apiserver.verbs.shaping import shaped, warn
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

Obj = dict[str, Any]
Change = Callable[[Obj], Obj]


class _Finished(Exception):
    """The update took away the last finalizer of a deleted object."""

    def __init__(self, obj: Obj, resource_version: str) -> None:
        super().__init__(resource_version)
        self.resource_version = resource_version
        self.obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": resource_version}}


async def apply_change(
    server: Server, call: Call, context: UpdateContext, change: Change, form: Form, options: WriteOptions
) -> None:
    """Store `change(old)` by the rules of an update, and answer it."""
    unknown: list[str] = []
    compute = _by_the_rules(server, context, change, options.validation, unknown)
    call.writes()
    if options.dry_run:
        old = await writing.current(server, context.resource, context.namespace, context.name)
        new = compute(writing.tree(server, old, context.resource))
        new["metadata"]["resourceVersion"] = str(old.rv)
        await writing.answer_tree(call, new, form)
        return
    cacher = server.cacher(context.resource)
    store = cacher.store
    where = context.namespace or None
    try:
        held = cacher.held(where, context.name)
        ttl = ttl_of(server, context.resource)
        stored = await store.update(where, context.name, compute, cached=held, ttl=ttl)
    except _Finished as finished:
        # Nothing holds the object any more: it is deleted instead of written.
        await store.delete(where, context.name, resource_version=finished.resource_version)
        await writing.answer_tree(call, finished.obj, form)
        return
    if options.validation == WARN:
        warn(call, unknown)
    await send_object(server, call, context.resource, stored, form)


def _by_the_rules(
    server: Server, context: UpdateContext, change: Change, validation: str, unknown: list[str]
) -> Change:
    """The change with all that an update has to keep to; `unknown` gets the unknown fields found."""
    resource = context.resource

    def compute(old: Obj) -> Obj:
        old = in_version(server, old, resource)
        new = change(copied(old))
        resource_version = (new.get("metadata") or {}).get("resourceVersion")
        patched = new
        try:
            new, found = shaped(server, copied(patched), resource)
        except Unfit as unfit:
            reason = server.services.codec.go_mismatch(patched, resource) or unfit.reason
            raise _refused(context, patched, reason) from None
        if found and validation == STRICT:
            raise _refused(context, patched, strict_error(found))
        unknown[:] = found
        if resource_version:
            new["metadata"]["resourceVersion"] = resource_version
        new = updated(old, new, context)
        if finished_deleting(new):
            raise _Finished(new, (old.get("metadata") or {}).get("resourceVersion", ""))
        return new

    return compute


def in_version(server: Server, obj: Obj, resource: Resource) -> Obj:
    """A stored object's tree in the version of the request."""
    if resource.custom:
        return {**obj, "apiVersion": resource.api_version}
    if obj.get("apiVersion") == resource.api_version:
        return obj
    resource_version = (obj.get("metadata") or {}).get("resourceVersion", "")
    converted = writing.as_stored(server, obj, resource)
    converted.setdefault("metadata", {})["resourceVersion"] = resource_version
    return converted


def _refused(context: UpdateContext, patched: Obj, reason: str) -> StatusError:
    if context.whole:
        return refused(context.resource, reason)
    touched = None if context.resource.custom else context.touched
    return refused_patch(patched_text(patched, touched), reason)
