"""LIST: read the objects and stream the response."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ktui.apiserver.answer import finished
from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import dropper, object_form
from ktui.apiserver.forms.plain import Message, ObjectForm
from ktui.apiserver.framing import LARGE_FOLLOWS, chunked, in_yaml, indented, list_metadata
from ktui.apiserver.http.response import Body, accepts_gzip
from ktui.apiserver.negotiation import JSON, YAML, Form, negotiate
from ktui.apiserver.server import Server
from ktui.cacher.cacher_requests import FELL_BACK, ListAnswer, ListRequest
from ktui.kube.listoptions import parse_list_options, read_list, read_shards
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.resources import Resource
from ktui.kube.routing.plan import Source
from ktui.kube.selectors import FieldSelector, LabelSelector, ShardSelector
from ktui.kube.status import bad_request
from ktui.storage.objects import SelectionPredicate, StoredObject
from ktui.telemetry.meter import Meter
from ktui.telemetry.off_loop import compute, compute_large, sliced
from ktui.wire.pieces import Piece


def selection_of(
    labels: LabelSelector, fields: FieldSelector, info: RequestInfo, shards: ShardSelector | None = None
) -> SelectionPredicate:
    """Return the selection by the options and by the path's namespace and name; raise StatusError 400."""
    if info.name and fields.requires("metadata.name") not in (None, info.name):
        raise bad_request("fieldSelector metadata.name doesn't match requested name")
    return SelectionPredicate(labels, fields, info.namespace or None, info.name or None, shards)


# Items that have to be encoded are kept until the size of the List is known if there are at most this many
# objects; with more objects they are encoded again when they are sent.
_FEW = 500
_AT_ONCE = 16


async def message_chunks(
    renderer: Message,
    metadata: dict[str, Any],
    objects: Sequence[StoredObject],
    replaced: Callable[[StoredObject], StoredObject] | None = None,
) -> Iterator[bytes]:
    """Yield the List in chunks. Measuring its size yields to other tasks.

    `replaced` replaces each object whenever it is rendered, so that none is held twice.
    """
    shown: Callable[[Iterable[StoredObject]], Iterator[StoredObject]]
    shown = iter if replaced is None else partial(map, replaced)
    keep = len(objects) <= _FEW and not all(map(renderer.ready, shown(objects)))
    items: list[Sequence[Piece]] = []
    size = 0
    async for part in sliced(objects, _AT_ONCE):
        if keep:
            items += map(renderer.item, shown(part))
        else:
            size += sum(map(renderer.item_size, shown(part)))
    size += sum(len(piece) for item in items for piece in item)
    head, tail = renderer.whole_head(metadata, size), renderer.list_tail(metadata)
    return chunked(head, items if keep else map(renderer.item, shown(objects)), tail, joint=b"")


TURN_SECONDS = 0.001


async def handle(server: Server, call: Call, resource: Resource) -> None:
    accept, pretty = call.request.accept, call.request.wants_pretty
    form = negotiate(accept, custom=resource.custom, collection=True, pretty=pretty, drops=call.drops)
    options = parse_list_options(call.request.query)
    selectors = await compute(read_list, options, call.behaviour, resource)
    selection = selection_of(*selectors, call.info, read_shards(options, call.behaviour))
    cacher = server.cacher(resource)
    answer = await cacher.list(ListRequest(call.info.namespace or None, None, options, selection))
    # As in upstream, a form that does not apply is detected after the read.
    include = call.request.parameter("includeObject")
    renderer = object_form(form, resource, server.services.codec, include=include, of_list=True)
    with cacher.sending(answer):
        await send_list(call, resource, answer, renderer, form, selection.shards)


async def send_list(
    call: Call,
    resource: Resource,
    answer: ListAnswer,
    renderer: ObjectForm,
    form: Form,
    shards: ShardSelector | None = None,
) -> None:
    """Stream the response; its cost, except the bytes, is known before the first byte."""
    call.rv = str(answer.rv)
    metadata = list_metadata(
        call.rv, answer.continue_, answer.remaining, always_continue=resource.custom and not form.target
    )
    if shards is not None:
        metadata["shardInfo"] = {"selector": str(shards)}
    chunks = await _chunks(answer, renderer, metadata, form, call.meter)
    if (objects := call.objects) is not None and objects.responds and form.media_type == JSON:
        chunks = objects.copied(chunks)
    call.stamp()
    body = Body(call.response, form.media_type, accepts_gzip(call.request.accept_encoding))
    if not await stream(body, chunks, call.meter, call.request.disconnection):
        call.error = "the client disconnected before the end of the list"


async def _chunks(
    answer: ListAnswer, renderer: ObjectForm, metadata: dict[str, Any], form: Form, meter: Meter
) -> Iterator[bytes]:
    replaced = dropper(form)
    if isinstance(renderer, Message):
        return await message_chunks(renderer, metadata, answer.objects, replaced)
    head, tail = renderer.list_head(metadata), renderer.list_tail(metadata)
    if not answer.objects:
        return iter((finished(renderer.empty_list(metadata), form),))
    whole = iter(answer.objects)
    if answer.route in (Source.ETCD.value, FELL_BACK) and isinstance(answer.objects, list):
        whole = drain(answer.objects, meter)  # read from etcd for this response
    items = _items(renderer, whole if replaced is None else map(replaced, whole))
    if form.media_type == YAML:
        return chunked(*in_yaml(head, items, tail), joint=b"")
    return chunked(*(indented(head, items, tail) if form.pretty else (head, items, tail)))


def _items(renderer: ObjectForm, objects: Iterable[StoredObject]) -> Iterator[Sequence[Piece]]:
    kept = renderer.kept
    for obj in objects:
        item = kept(obj)
        if item is None:
            if obj.size >= renderer.large_bytes:
                yield LARGE_FOLLOWS
            item = renderer.item(obj)
        yield item


def drain(objects: list[StoredObject], meter: Meter) -> Iterator[StoredObject]:
    """Yield the objects in order and remove them from the list: each is released once it is rendered."""
    objects.reverse()
    while objects:
        obj = objects.pop()
        yield obj
        meter.held -= len(obj.key) + obj.size


async def stream(
    body: Body, chunks: Iterable[bytes], meter: Meter, disconnection: Callable[[], asyncio.Task[None]]
) -> bool:
    """Send the chunks as they are made; other tasks run every millisecond.

    Return False once the client has disconnected: the remaining chunks are not made. (The transport would
    continue to accept them.)

    The clock is read between the steps and summed up here: a whole cache is sent at about fifty microseconds
    per chunk, where any more elaborate measurement would show. (Yielding after each chunk would show too: it
    costs two readings of the CPU clock.)
    """
    clock, iterator = time.perf_counter, iter(chunks)
    encoding = sending = queueing = 0.0
    gone: asyncio.Task[None] | None = None  # most lists are sent before it would be of use
    try:
        began = clock()
        due = began + TURN_SECONDS
        while (chunk := next(iterator, None)) is not None:
            if not chunk:
                chunk = await compute_large(next, iterator, b"")
            made = clock()
            meter.reach(len(chunk) + body.held_bytes)
            await body.write(chunk)
            meter.encoded_bytes += len(chunk)
            sent = clock()
            encoding, sending = encoding + made - began, sending + sent - made
            began = sent
            if sent >= due:
                gone = gone or disconnection()
                await asyncio.sleep(0)
                began = clock()
                due = began + TURN_SECONDS
                queueing += began - sent
                if gone.done():
                    return False
        await body.end()
        return True
    finally:
        if gone is not None:
            gone.cancel()
        for name, seconds in (("encode", encoding), ("send", sending), ("queue", queueing)):
            meter.add_phase(name, seconds * 1000.0)
        meter.look()
