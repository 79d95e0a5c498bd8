"""GET of one object."""

from __future__ import annotations

from ktui.apiserver.answer import send_object
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import negotiate
from ktui.apiserver.server import Server
from ktui.kube.listoptions import parse_get_options
from ktui.kube.resources import Resource
from ktui.kube.status import not_found


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(
        call.request.accept, custom=resource.custom, pretty=call.request.wants_pretty, drops=call.drops
    )
    options = parse_get_options(call.request.query)
    cacher = server.cacher(resource)
    answer = await cacher.get(call.info.namespace or None, call.info.name, options.resource_version)
    if answer.object is None:
        raise not_found(resource, call.info.name)
    await send_object(server, call, resource, answer.object, form)
