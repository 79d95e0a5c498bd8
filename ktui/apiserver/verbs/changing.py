"""An update as a function of the stored object, tried again while others write."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.objects.defaults import set_defaults
from ktui.apiserver.objects.schema import apply_defaults, prune_object
from ktui.apiserver.objects.update import UpdateContext, finished_deleting, updated
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing

Obj = dict[str, Any]
Change = Callable[[Obj], Obj]


async def apply_change(
    server: Server, call: Call, context: UpdateContext, change: Change, form: Form, *, dry_run: bool
) -> None:
    """Store `change(old)` by the rules of an update, and answer it."""
    compute = _by_the_rules(server, context, change)
    call.writes()
    if dry_run:
        old = await writing.current(server, context.resource, context.namespace, context.name)
        new = compute(writing.tree(server, old, context.resource))
        await writing.answer_tree(call, new, form)
        return
    store = server.cacher(context.resource).store
    stored = await store.update(context.namespace or None, context.name, compute)
    if finished_deleting(writing.tree(server, stored, context.resource)):
        await store.delete(context.namespace or None, context.name)
    await writing.send_object(server, call, context.resource, stored, form)


def _by_the_rules(server: Server, context: UpdateContext, change: Change) -> Change:
    resource = context.resource

    def compute(old: Obj) -> Obj:
        new = change(copy.deepcopy(old))
        if resource.custom:
            schema = server.catalog.schema_of(resource)
            prune_object(new, schema)
            apply_defaults(new, schema)
            return updated(old, new, context)
        set_defaults(new)
        resource_version = (new.get("metadata") or {}).get("resourceVersion")
        new = writing.as_stored(server, new, resource)
        if resource_version:
            new["metadata"]["resourceVersion"] = resource_version
        return updated(old, new, context)

    return compute
