"""Requests to the Kubernetes API: find the resource, call its handler, turn every error into a response."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from http import HTTPStatus

from ktui.apiserver.call import LONG_QUERY, Call
from ktui.apiserver.chain import REFUSED, Rejected
from ktui.apiserver.dispatch import READS, Handlers, TextNotFound, find_handler, find_resource, nothing_there
from ktui.apiserver.http.request import BodyIncomplete
from ktui.apiserver.http.response import warning_headers
from ktui.apiserver.metrics.requests import RequestMetrics
from ktui.apiserver.negotiation import JSON, check_whole, route_by_mime_type
from ktui.apiserver.pages.discovery import find_document, served_by_verb
from ktui.apiserver.pages.responses import log_refusal, send_error, send_json, send_negotiated
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import components
from ktui.kube.flow_schemas import PriorityLevel, displayed_level
from ktui.kube.listoptions import parse_list_options
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.resources import Resource
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.parameters import NAME
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.seats import list_seats, max_seats, watch_seats, work_of
from ktui.kube.selectors import FieldSelector
from ktui.kube.status import (
    StatusError,
    body_incomplete,
    internal_error,
    method_not_allowed,
    timeout,
    unknown_path,
)
from ktui.kube.versions import Behaviour
from ktui.telemetry.meter import CpuClock, Meter, metered, use_meter
from ktui.telemetry.off_loop import compute, compute_large

log = logging.getLogger(__name__)

GONE = "the client disconnected before the answer"
NOT_FOUND_TEXT = "404 page not found\n"
# The verbs that routing decides about; a write may also read, but has only one route.
READ_VERBS = ("GET", "LIST", "WATCH")
BAD_OPTION = "v.bad_option"


def refusal_of(call: Call) -> Plan:
    """Return the plan of a read that was rejected before it was routed; its source is none.

    The rules are applied to the request's text. Errors without a rule (a selector that cannot be parsed)
    count as an invalid option.
    """
    try:
        request = parse_request(f"{call.request.path}?{call.request.query}", call.verb.lower())
    except RequestError:
        return Plan(Source.NONE, (BAD_OPTION,))
    plan = predict(request, CacheState(), call.behaviour)
    return plan if plan.source is Source.NONE else Plan(Source.NONE, (BAD_OPTION,))


# resource id -> first minor that warns, and the replacement
_DEPRECATED = {
    "componentstatuses": (19, "v1 ComponentStatus is deprecated in v1.19+"),
    "endpoints": (33, "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
}


def warning_of(resource: Resource, behaviour: Behaviour) -> str:
    """Return the Warning of every response of a deprecated API, "" if the resource is not deprecated."""
    since, text = _DEPRECATED.get(resource.id, (0, resource.deprecation))
    return text if behaviour.minor >= since else ""


def _of_components(call: Call) -> bool:
    """Whether the call is for ComponentStatuses; they are not stored, so have no route and no telemetry."""
    info = call.info
    known = (info.group, info.version, info.resource) == ("", "v1", "componentstatuses")
    return known and not info.namespace and not info.deeper


def _warn(call: Call, resource: Resource) -> None:
    """Add a deprecated API's warning, unless the HTTP router refuses a read's Accept header (406)."""
    if warning := warning_of(resource, call.behaviour):
        if not resource.custom and call.verb in READ_VERBS and call.request.accept.strip():
            route_by_mime_type(call.request.accept, collection=call.verb != "GET")
        call.response.add_headers(warning_headers([warning]))


class Api:
    """Answers calls below /api and /apis: reads itself, all others with `others`."""

    def __init__(self, server: Server, metrics: RequestMetrics, others: Handlers) -> None:
        self._server = server
        self._metrics = metrics
        self._handlers = READS | others

    async def serve(self, call: Call) -> None:
        """Answer a call, and always report it to bus and metrics."""
        resolved = self._resolve(call)
        call.announce()
        self._metrics.began(call)
        if call.verb in READ_VERBS:
            call.meter.on_plan = call.planned
        use_meter(call.meter)
        try:
            guarded = self._guarded(call, resolved)
            await CpuClock(guarded, call.meter, brief=call.verb == "GET", waits=call.limit)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if call.large is None or not call.large.gone or task is None:
                raise
            task.uncancel()
            call.error = GONE
        finally:
            use_meter(None)
            call.meter.on_plan = None  # no cycle is left for the garbage collector
            if call.meter.large or call.large is not None:
                call.release_large()
            call.finish()
            self._metrics.ended(call)

    async def reject(self, call: Call, rejected: Rejected) -> None:
        """Send flow control's 429 in plain text as upstream does, and report it like any other answer."""
        self._resolve(call)
        call.announce()
        self._metrics.began(call)
        call.error = f"{REFUSED.strip()} (flow control: {rejected.reason})"
        try:
            call.stamp()
            await call.response.text(429, REFUSED)
        finally:
            call.finish()
            self._metrics.ended(call)

    async def seats(
        self, info: RequestInfo, verb: str, query: str, level: PriorityLevel, meter: Meter
    ) -> int:
        """Return the work estimate of a request, in seats."""
        asked = self._server, info, verb, query, level
        if len(query) < LONG_QUERY:
            return seats_of(*asked)
        with metered(meter):
            return await compute_large(seats_of, *asked)

    def _resolve(self, call: Call) -> StatusError | TextNotFound | None:
        """Find the resource first, so that telemetry can name it; return the error, if any, for later."""
        if not call.info.is_resource or _of_components(call):
            return None
        try:
            call.resource = find_resource(self._server.catalog.table, call.info, call.verb, self._handlers)
        except (StatusError, TextNotFound) as error:
            return error
        return None

    async def _guarded(self, call: Call, wrong: Exception | None) -> None:
        call.meter.large |= len(call.request.query) >= LONG_QUERY
        try:
            if wrong is not None:
                self._warn_of_unserved(call)
                try:
                    raise wrong
                finally:
                    wrong = None  # its traceback keeps this frame
            try:
                await self._handle(call)
            except asyncio.CancelledError:
                if not call.timed_out():
                    raise
                raise timeout() from None
            finally:
                call.unlimit()
        except StatusError as error:
            call.error = error.message
            unrouted = call.plan is None and error.code != HTTPStatus.METHOD_NOT_ALLOWED
            if call.resource is not None and call.verb in READ_VERBS and unrouted:
                refusal = await compute(refusal_of, call)
                call.planned(refusal, refusal.source.value)
            await self._fail(call, error)
        except TextNotFound:
            call.error = NOT_FOUND_TEXT.strip()
            if call.behaviour.minor >= 38:
                await self._fail(call, unknown_path())
                return
            call.stamp()
            await call.response.text(404, NOT_FOUND_TEXT)
        except (BodyIncomplete, RecursionError) as error:
            fault = body_incomplete()
            if isinstance(error, RecursionError):  # of an object stored by another client of etcd
                fault = internal_error("the object is nested too deeply to be served")
            call.error = fault.message
            log_refusal(call.request, fault)
            await self._fail(call, fault)
        except Exception as error:  # a bug in a handler: its request gets a 500, the others are served
            call.error = call.panicked = f"{type(error).__name__}: {error}"
            log.exception("%s %s failed", call.verb, call.request.path)
            await self._fail(call, internal_error("the server log has the details"))

    def _warn_of_unserved(self, call: Call) -> None:
        """Add a deprecated custom resource's warning even if the requested subresource does not exist."""
        info = call.info
        found = self._server.catalog.table.find(info.group, info.version, info.resource)
        in_scope = found is not None and (bool(info.namespace) or not found.namespaced)
        if found is not None and found.custom and info.subresource and in_scope:
            _warn(call, found)

    async def _handle(self, call: Call) -> None:
        if call.resource is not None:
            # Upstream warns per route, so not for an unsupported method; for custom resources it always
            # warns.
            if call.resource.custom:
                _warn(call, call.resource)
                # As upstream, the first request of any verb starts filling a custom resource's watch cache.
                self._server.cacher(call.resource).warm()
            handle = find_handler(call, call.resource, self._handlers)
            call.routed = True
            if not call.resource.custom:
                _warn(call, call.resource)
            await handle(self._server, call, call.resource)
            return
        if _of_components(call):
            assert components.RESOURCE is not None
            if components.is_served(call):
                _warn(call, components.RESOURCE)
            await components.handle(self._server, call)
            return
        found = find_document(self._server.catalog.table, call.request)
        if found is None:
            raise nothing_there(call.request.path)
        if call.verb != "GET" and served_by_verb(call.request.path):
            raise method_not_allowed()
        document, media_type = found
        if media_type == JSON:
            check_whole(call.request.accept, routed=served_by_verb(call.request.path))
        call.stamp()
        if media_type == JSON:
            await send_negotiated(call.response, document, call.request, self._server.services.codec.messages)
        else:
            await send_json(call.response, document, media_type=media_type)

    async def _fail(self, call: Call, error: StatusError) -> None:
        """Send an error's Status; once the response has begun, break the connection off instead."""
        if call.response.started:
            return
        call.status = error.body()
        call.stamp()
        await send_error(call.response, error, call.request, self._server.services.codec.messages)


def seats_of(server: Server, info: RequestInfo, verb: str, query: str, level: PriorityLevel) -> int:
    """Return the seats of a LIST or WATCH by its resource's size; 0 without flow control."""
    settings = server.services.settings
    behaviour = settings.behaviour
    if not behaviour.enabled("APIPriorityAndFairness"):
        return 0
    resource = server.catalog.table.find(info.group, info.version, info.resource)
    if resource is None or not resource.stored:
        return 1
    cap = displayed_level(level).max_seats
    try:
        options = parse_list_options(query)
    except StatusError:
        return max_seats(behaviour, cap)
    single = False
    if NAME in options.field_selector:
        with suppress(StatusError):
            single = FieldSelector.parse(options.field_selector, resource).requires(NAME) is not None
    objects, average_bytes = server.cacher(resource).size()
    progress = settings.progress
    work = work_of(
        behaviour, options, single=single, progress=progress, objects=objects, average_bytes=average_bytes
    )
    if verb == "LIST":
        return list_seats(behaviour, work, cap)
    return watch_seats(behaviour, work, options.resource_version, options.send_initial_events, cap)
