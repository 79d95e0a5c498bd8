"""LIST."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from typing import Any

from ktui.apiserver.answer import finished
from ktui.apiserver.call import Call
from ktui.apiserver.forms.base import ObjectForm
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.forms.message import Message
from ktui.apiserver.framing import INDENTED_TAIL, LIST_TAIL, chunked, indented, list_metadata
from ktui.apiserver.http.compression import Body, accepts_gzip
from ktui.apiserver.negotiation import YAML, Form, negotiate
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.message_list import message_chunks
from ktui.apiserver.verbs.seats import seats_of_list
from ktui.apiserver.verbs.selecting import selection_of
from ktui.cacher.requests import ListAnswer, ListRequest
from ktui.kube.listoptions import parse_list_options
from ktui.kube.resources import Resource
from ktui.kube.validation import validate_list
from ktui.telemetry.meter import Meter


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(
        call.request.accept, custom=resource.custom, pretty=call.request.wants_pretty, protobuf=True
    )
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
    chunks = await _chunks(answer, renderer, metadata, form)
    call.stamp()
    body = Body(call.response, form.media_type, accepts_gzip(call.request.accept_encoding))
    await stream(body, chunks, call.meter)


async def _chunks(
    answer: ListAnswer, renderer: ObjectForm, metadata: dict[str, Any], form: Form
) -> Iterator[bytes]:
    if isinstance(renderer, Message):
        return await message_chunks(renderer, metadata, answer.objects)
    head, items = renderer.list_head(metadata), (renderer.item(obj) for obj in answer.objects)
    if form.media_type == YAML:
        return iter((finished(b"".join(chunked(head, items)), form),))
    if not form.pretty:
        return chunked(head, items)
    if answer.objects:
        return chunked(*indented(head, items), INDENTED_TAIL)
    return iter((finished(head + LIST_TAIL, form),))


async def stream(body: Body, chunks: Iterable[bytes], meter: Meter) -> None:
    """Send the chunks as they are made; others have their turn after each.

    The clock is read between the steps and summed up here: a whole cache goes out in some
    fifty microseconds a chunk, where anything more elaborate would show.
    """
    clock, iterator = time.perf_counter, iter(chunks)
    encoding = sending = queueing = 0.0
    try:
        began = clock()
        while (chunk := next(iterator, None)) is not None:
            made = clock()
            await body.write(chunk)
            sent = clock()
            await asyncio.sleep(0)
            meter.encoded_bytes += len(chunk)
            now = clock()
            encoding, sending, queueing = (
                encoding + made - began,
                sending + sent - made,
                queueing + now - sent,
            )
            began = now
        await body.end()
    finally:
        for name, seconds in (("encode", encoding), ("send", sending), ("queue", queueing)):
            meter.add_phase(name, seconds * 1000.0)
