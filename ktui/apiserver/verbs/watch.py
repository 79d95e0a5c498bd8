"""WATCH."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

from ktui.apiserver.call import Call
from ktui.apiserver.forms.base import ObjectForm
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.negotiation import negotiate
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.seats import seats_of_watch
from ktui.apiserver.verbs.selecting import selection_of
from ktui.cacher.requests import WatchAnswer, WatchRequest
from ktui.kube.listoptions import ListOptions, parse_list_options, with_watch_defaults
from ktui.kube.resources import Resource
from ktui.kube.validation import validate_watch
from ktui.telemetry.events import WatcherClosed, WatcherOpened

# kube-apiserver: --min-request-timeout; a watch without timeoutSeconds lasts this long, at most twice.
MIN_REQUEST_SECONDS = 1800.0


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(call.request.accept, custom=resource.custom, stream=True)
    asked = replace(parse_list_options(call.request.query), watch=True)
    options = with_watch_defaults(asked, watch_list=call.behaviour.watch_list)
    validate_watch(options, call.behaviour)
    selection = selection_of(options, resource, call.info)
    include = call.request.parameter("includeObject")
    renderer = object_form(
        form, resource, call.behaviour, server.services.codec, include=include, of_list=False
    )
    cacher = server.cacher(resource)
    call.meter.seats = seats_of_watch(server, call, cacher, asked, selection)
    lasts = watch_timeout(options)
    answer = await cacher.watch(
        WatchRequest(call.info.namespace or None, call.info.name or None, options, selection, lasts)
    )
    call.decided(answer.decision, answer.route)
    server.streams.add(answer)
    try:
        await _stream(call, answer, renderer, lasts, form.media_type)
    finally:
        server.streams.discard(answer)


def watch_timeout(options: ListOptions) -> float:
    """Seconds until the server ends the stream."""
    if options.timeout_seconds:
        return float(options.timeout_seconds)
    return MIN_REQUEST_SECONDS * (1.0 + random.random())


async def _stream(
    call: Call, answer: WatchAnswer, renderer: ObjectForm, lasts: float, media_type: str
) -> None:
    opened = WatcherOpened(
        id=call.id,
        resource=call.resource_id,
        since=call.request.parameter("resourceVersion"),
        client=call.request.client,
    )
    call.bus.publish(opened)
    gone = call.request.disconnection()
    gone.add_done_callback(lambda _: answer.close("client gone"))
    ending = asyncio.get_running_loop().call_later(lasts, answer.close, "timeout")
    try:
        call.stamp()
        await call.response.start(200, media_type)
        await call.response.flush()
        await _write_events(call, answer, renderer)
    finally:
        ending.cancel()
        gone.cancel()
        answer.close("ended")
        call.bus.publish(
            WatcherClosed(
                id=call.id,
                resource=call.resource_id,
                delivered=answer.stream.delivered,
                bookmarks=answer.stream.bookmarks,
                cause=answer.stream.cause,
            )
        )


async def _write_events(call: Call, answer: WatchAnswer, renderer: ObjectForm) -> None:
    first = True
    async for batch in answer.batches():
        lines = []
        for event in batch:
            lines.append(renderer.event(event, first=first))
            first = False
        piece = b"".join(lines)
        call.meter.returned += len(batch)
        call.meter.encoded_bytes += len(piece)
        await call.response.write(piece)
    await call.response.end()
