"""LIST."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

from ktui.apiserver.call import Call
from ktui.apiserver.forms import item_writer, list_shape
from ktui.apiserver.framing import chunked, list_metadata
from ktui.apiserver.http.compression import Body, accepts_gzip
from ktui.apiserver.negotiation import negotiate
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.seats import estimate
from ktui.apiserver.verbs.selecting import selection_of
from ktui.cacher.requests import ListAnswer, ListRequest
from ktui.kube.listoptions import parse_list_options
from ktui.kube.resources import Resource
from ktui.kube.validation import validate_list


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(
        call.request.headers.get("accept", ""), custom=resource.custom, pretty=call.request.flag("pretty")
    )
    options = parse_list_options(call.request.query)
    validate_list(options, call.behaviour)
    selection = selection_of(options, resource, call.info.namespace, "")
    cacher = server.cacher(resource)
    estimate(server, call, resource, options)
    answer = await cacher.list(ListRequest(call.info.namespace or None, None, options, selection))
    call.decided(answer.decision, answer.route)
    call.rv = str(answer.rv)
    call.meter.returned = len(answer.objects)
    shape = list_shape(resource, form, call.request.parameter("includeObject", "Metadata"))
    metadata = list_metadata(call.rv, answer.continue_, answer.remaining, always_continue=resource.custom)
    await _send(call, shape.head(metadata), _items(call, answer, item_writer(shape)), shape)


def _items(call: Call, answer: ListAnswer, write: object) -> Iterator[bytes]:
    raise NotImplementedError


async def _send(call: Call, head: bytes, items: Iterable[bytes], shape: object) -> None:
    raise NotImplementedError
