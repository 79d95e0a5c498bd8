"""WATCH: open the stream and send its events."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import event_form
from ktui.apiserver.forms.plain import EventForm, UnfitEventError
from ktui.apiserver.http.response import GZIPPED, accepts_gzip, gzip_member
from ktui.apiserver.negotiation import JSON, negotiate
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.listing import selection_of
from ktui.apiserver.watches import OpenWatch
from ktui.cacher.cache_watch import do_nothing
from ktui.cacher.cacher_requests import WatchRequest
from ktui.cacher.watch_events import OutEvent
from ktui.contract.events import WatcherOpened
from ktui.kube.listoptions import (
    ListOptions,
    parse_list_options,
    read_list,
    read_shards,
    read_watch,
    with_watch_defaults,
)
from ktui.kube.resources import Resource
from ktui.telemetry.off_loop import compute, compute_large

# kube-apiserver's --min-request-timeout: a watch without timeoutSeconds lasts between this and twice this
# (seconds).
MIN_REQUEST_SECONDS = 1800.0
# CPU time of a live WATCH is sampled on every Nth step.
LIVE_STEPS = 16


async def handle(server: Server, call: Call, resource: Resource) -> None:
    negotiate(call.request.accept, custom=resource.custom, collection=True, drops=call.drops)
    listed = parse_list_options(call.request.query)
    options = with_watch_defaults(listed, watch_list=call.behaviour.enabled("WatchList"))
    if listed.watch:
        selectors = await compute(read_watch, options, call.behaviour, resource)
    else:  # upstream checks the options of a path below /watch/ as those of a LIST
        selectors = await compute(read_list, listed, call.behaviour, resource)
    form = negotiate(call.request.accept, custom=resource.custom, stream=True, drops=call.drops)
    selection = selection_of(*selectors, call.info, read_shards(options, call.behaviour))
    include = call.request.parameter("includeObject")
    renderer = event_form(form, resource, server.services.codec, include=include)
    cacher = server.cacher(resource)
    lasts = float(options.timeout_seconds or MIN_REQUEST_SECONDS * (1.0 + random.random()))
    scope = call.info.namespace or None, call.info.name or None
    encoded = form.target or resource.api_version + ("" if form.media_type == JSON else " protobuf")
    # The options are as the client wrote them; the plan has the defaults.
    answer = await cacher.watch(WatchRequest(*scope, listed, selection, lasts, resource, encoded))
    call.planned(answer.plan, answer.route)
    opened = _opened(call, listed, form.target, answer.route, lasts)
    watch = server.watches.add(opened, answer.stream, call.meter, call.begun)
    answer.stream.on_live = call.initialized
    if answer.stream.live:
        call.initialized()
    try:
        media_type = form.media_type if form.media_type == JSON else f"{form.media_type};stream=watch"
        await _stream(call, watch, renderer, lasts, media_type, _compresses(call, options))
    finally:
        server.watches.discard(watch)
        answer.stream.on_live = do_nothing  # no cycle is left for the garbage collector


def _opened(call: Call, requested: ListOptions, form: str, route: str, lasts: float) -> WatcherOpened:
    return WatcherOpened(
        id=call.meter.request_id,
        resource=call.resource_id,
        since=requested.resource_version,
        client=call.request.client,
        namespace=call.info.namespace,
        name=call.info.name,
        selector=" ".join(filter(None, (requested.label_selector, requested.field_selector))),
        form=form,
        route=route,
        timeout=lasts,
        seats=call.meter.seats,
    )


def _compresses(call: Call, options: ListOptions) -> bool:
    """Return True if the whole stream is gzip: a WatchList with `Accept-Encoding: gzip`, since 1.37.

    The gate is WatchListCompression (beta, on). Other WATCHes are never compressed (k8s.io/apiserver at
    24a394e516bf: endpoints/handlers/get.go:329, watch.go:318, 386).
    """
    if not call.behaviour.enabled("WatchListCompression"):
        return False
    watch_list = options.send_initial_events is True and options.allow_watch_bookmarks
    return watch_list and accepts_gzip(call.request.accept_encoding)


async def _stream(
    call: Call, watch: OpenWatch, renderer: EventForm, lasts: float, media_type: str, gzip: bool
) -> None:
    stream = watch.stream
    gone = call.request.disconnection()
    gone.add_done_callback(lambda _: stream.close("client gone"))
    ending = asyncio.get_running_loop().call_later(lasts, stream.close, "timeout")
    try:
        call.stamp()
        await call.response.start(200, media_type, GZIPPED if gzip else ())
        await call.response.flush()
        call.meter.initial_ms = call.elapsed_ms()  # without initial events the seats are released here
        try:
            await _write_events(call, watch, renderer, gzip)
        except UnfitEventError:
            stream.close("unfit event")
            await call.response.end()
    finally:
        ending.cancel()
        gone.cancel()
        stream.close("ended")


def _is_large(event: OutEvent, renderer: EventForm) -> bool:
    return event.object is not None and not event.encoded and event.object.size >= renderer.large_bytes


def _rendered(batch: Sequence[OutEvent], renderer: EventForm, first: bool) -> tuple[bytes, int]:
    """Return the lines of some events, and how many of the events had to be encoded."""
    lines, made = [], 0
    for event in batch:
        before = event.encoded
        lines.append(renderer.event(event, first=first))
        made += event.encoded - before
        first = False
    return b"".join(lines), made


async def _write_events(call: Call, watch: OpenWatch, renderer: EventForm, gzip: bool) -> None:
    first, meter = True, call.meter
    async for batch in watch.stream.batches():
        initial = not watch.stream.live
        with meter.phase("encode"):
            if meter.large or any(_is_large(event, renderer) for event in batch):
                piece, made = await compute_large(_rendered, batch, renderer, first)
            else:
                piece, made = _rendered(batch, renderer, first)
        first = False
        watch.made += made
        watch.shared += len(batch) - made
        watch.bytes += len(piece)
        meter.returned += sum(event.type != "BOOKMARK" for event in batch)
        meter.encoded_bytes += len(piece)
        meter.reach(len(piece))
        if not initial:
            call.end_concurrency()  # from now on it mostly waits: it no longer counts as a concurrent request
        with meter.phase("send"):
            await call.response.write(await gzip_member(piece) if gzip else piece)
        if initial:
            meter.initial += len(batch)
            meter.initial_bytes += len(piece)
            meter.initial_ms = call.elapsed_ms()
        else:
            meter.clocked_steps = LIVE_STEPS
    await call.response.end()
