"""An update as a function of the stored object, tried again while others write."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ktui.apiserver.answer import send_object
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.objects.fitting import STRICT, WARN, Unfit, refused, refused_patch, strict_error
from ktui.apiserver.objects.options import WriteOptions
from ktui.apiserver.objects.update import UpdateContext, finished_deleting, updated
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.apiserver.verbs.create import ttl_of
from ktui.apiserver.verbs.shaping import shaped, warn_unknown
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

Obj = dict[str, Any]
Change = Callable[[Obj], Obj]


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
    store = server.cacher(context.resource).store
    stored = await store.update(
        context.namespace or None, context.name, compute, ttl=ttl_of(server, context.resource)
    )
    if options.validation == WARN:
        warn_unknown(call, unknown)
    if finished_deleting(writing.tree(server, stored, context.resource)):
        await store.delete(context.namespace or None, context.name)
    await send_object(server, call, context.resource, stored, form)


def _by_the_rules(
    server: Server, context: UpdateContext, change: Change, validation: str, unknown: list[str]
) -> Change:
    """The change with all that an update has to keep to; `unknown` gets the unknown fields found."""
    resource = context.resource

    def compute(old: Obj) -> Obj:
        old = in_version(server, old, resource)
        new = change(copy.deepcopy(old))
        resource_version = (new.get("metadata") or {}).get("resourceVersion")
        patched = new
        try:
            new, found = shaped(server, copy.deepcopy(patched), resource)
        except Unfit as unfit:
            raise _refused(context, patched, unfit.reason) from None
        if found and validation == STRICT:
            raise _refused(context, patched, strict_error(found))
        unknown[:] = found
        if resource_version:
            new["metadata"]["resourceVersion"] = resource_version
        return updated(old, new, context)

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
    return refused(context.resource, reason) if context.whole else refused_patch(patched, reason)
