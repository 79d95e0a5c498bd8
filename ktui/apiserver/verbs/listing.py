"""LIST."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

from ktui.apiserver.answer import finished, send_document
from ktui.apiserver.call import Call
from ktui.apiserver.forms.base import ObjectForm
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.framing import chunked, list_metadata
from ktui.apiserver.http.compression import Body, accepts_gzip
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.seats import seats_of_list
from ktui.apiserver.verbs.selecting import selection_of
from ktui.cacher.requests import ListAnswer, ListRequest
from ktui.kube.listoptions import parse_list_options
from ktui.kube.resources import Resource
from ktui.kube.validation import validate_list


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(call.request.accept, custom=resource.custom, pretty=call.request.flag("pretty"))
    options = parse_list_options(call.request.query)
    validate_list(options, call.behaviour)
    selection = selection_of(options, resource, call.info)
    cacher = server.cacher(resource)
    call.meter.seats = seats_of_list(server, call, cacher, options, selection)
    answer = await cacher.list(ListRequest(call.info.namespace or None, None, options, selection))
    # A form that does not fit is found out after the read, as upstream.
    include = call.request.parameter("includeObject")
    renderer = object_form(
        form, resource, call.behaviour, server.services.codec, include=include, of_list=True
    )
    await send_list(call, resource, answer, renderer, form)


async def send_list(
    call: Call, resource: Resource, answer: ListAnswer, renderer: ObjectForm, form: Form
) -> None:
    """Stream the answer; what it cost is known before the first byte, except the bytes themselves."""
    call.rv = str(answer.rv)
    metadata = list_metadata(
        call.rv, answer.continue_, answer.remaining, always_continue=resource.custom and not form.target
    )
    items = (renderer.item(obj) for obj in answer.objects)
    chunks = chunked(renderer.list_head(metadata), items)
    if form.pretty:
        await send_document(call, finished(b"".join(chunks), form), form)
        return
    call.stamp()
    body = Body(call.response, form.media_type, accepts_gzip(call.request.accept_encoding))
    for chunk in _timed(call, chunks):
        call.meter.encoded_bytes += len(chunk)
        with call.meter.phase("send"):
            await body.write(chunk)
        await asyncio.sleep(0)
    await body.end()


def _timed(call: Call, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks, with the time it takes to make each counted as encoding."""
    iterator = iter(chunks)
    while True:
        with call.meter.phase("encode"):
            chunk = next(iterator, None)
        if chunk is None:
            return
        yield chunk
