"""DELETE of all that a LIST selects."""

from __future__ import annotations

from functools import partial

from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.listing import send_list
from ktui.apiserver.verbs.selecting import selection_of
from ktui.cacher.requests import ListRequest
from ktui.kube.listoptions import parse_list_options
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.kube.validation import read_list
from ktui.writes import request_body
from ktui.writes.delete import delete
from ktui.writes.options import delete_options


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = parse_list_options(call.request.query)
    selection = selection_of(*read_list(options, call.behaviour, resource), call.info)
    decode, misfit = partial(request_body.from_protobuf, server), server.services.codec.go_mismatch
    deletion = delete_options(call.request, body, decode, misfit)
    answer = await server.cacher(resource).list(
        ListRequest(call.info.namespace or None, None, options, selection)
    )
    call.writes()
    for obj in answer.objects:
        try:
            await delete(server, resource, obj.namespace, obj.name, deletion)
        except StatusError as error:
            if error.code != 404:  # somebody else deleted it: that is what was wanted
                raise
    renderer = object_form(form, resource, server.services.codec, include="", of_list=True)
    await send_list(call, resource, answer, renderer, form)
