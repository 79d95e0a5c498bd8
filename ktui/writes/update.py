"""PUT: replace an object, its status or its finalizers."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.json_trees import copied
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body
from ktui.writes.before_update import check_identity, uid_conflict
from ktui.writes.create import Creation, create, decoded
from ktui.writes.guaranteed_update import apply_change, context_of
from ktui.writes.objectmeta import metadata_of
from ktui.writes.options import write_options
from ktui.writes.own_objects import update_or_create
from ktui.writes.strategies import CREATED_BY_UPDATES


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
