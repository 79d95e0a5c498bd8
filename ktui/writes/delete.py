"""DELETE of one object."""

from __future__ import annotations

from functools import partial
from typing import Any

from ktui.apiserver.answer import send_other, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import precondition_failed, precondition_unmet, success
from ktui.writes import request_body, stored_objects
from ktui.writes.before_delete import ANSWERS_OBJECT, Fate, fate_of, marked
from ktui.writes.options import DeleteOptions, delete_options


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    decode, misfit = partial(request_body.from_protobuf, server), server.services.codec.go_mismatch
    options = delete_options(call.request, body, decode, misfit)
    call.writes()
    gone, obj = await delete(server, resource, call.info.namespace, call.info.name, options)
    if gone and resource.resource not in ANSWERS_OBJECT:
        uid = (obj.get("metadata") or {}).get("uid", "")
        await send_other(server, call, success(resource, call.info.name, uid), form)
    else:
        call.rv = str((obj.get("metadata") or {}).get("resourceVersion", ""))
        await send_tree(server, call, resource, obj, form)


async def delete(
    server: Server, resource: Resource, namespace: str, name: str, options: DeleteOptions
) -> tuple[bool, dict[str, Any]]:
    """Whether the object is gone, and its last state. StatusError 404, 409."""
    stored = await stored_objects.current(server, resource, namespace, name)
    obj = stored_objects.tree(server, stored, resource)
    _check_preconditions(resource, name, obj, options)
    fate = fate_of(obj, options)
    if options.dry_run or fate is Fate.NOTHING:
        shown = marked(obj, options) if fate in (Fate.MARK, Fate.MARK_AND_REMOVE) else obj
        return fate in (Fate.REMOVE, Fate.MARK_AND_REMOVE), shown
    store = server.cacher(resource).store
    where = namespace or None
    if fate in (Fate.MARK, Fate.MARK_AND_REMOVE):
        stored = await store.update(where, name, lambda old: marked(old, options))
        obj = stored_objects.tree(server, stored, resource)
    if fate is Fate.MARK:
        return False, obj
    removed = await store.delete(where, name)
    return True, stored_objects.tree(server, removed, resource)


def _check_preconditions(resource: Resource, name: str, obj: dict[str, Any], options: DeleteOptions) -> None:
    metadata = obj.get("metadata") or {}
    for what, wanted, found in (
        ("UID", options.uid, metadata.get("uid", "")),
        ("ResourceVersion", options.resource_version, metadata.get("resourceVersion", "")),
    ):
        if wanted and wanted != found:
            # Namespaces are deleted by code of their own.
            unmet = precondition_failed if resource.id == "namespaces" else precondition_unmet
            raise unmet(resource, name, what, wanted, found)
