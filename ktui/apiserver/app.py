"""The ASGI application: one object that answers every request."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from functools import partial
from html import escape

from ktui.apiserver.api import NOT_FOUND_TEXT, Api
from ktui.apiserver.authorization import authorize
from ktui.apiserver.call import Call
from ktui.apiserver.catalog import Catalog
from ktui.apiserver.chain import ChainRecord, RequestLog
from ktui.apiserver.deadline import REQUEST_SECONDS, time_allowed
from ktui.apiserver.dispatch import Handlers
from ktui.apiserver.flow_control import REFUSED, FlowRequest, Rejected
from ktui.apiserver.http.asgi import Receive, Scope, Send
from ktui.apiserver.http.request import BodyIncomplete, Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.identity import audit_id, flow_headers, unseen_token_headers
from ktui.apiserver.impersonation import impersonated
from ktui.apiserver.large_requests import LargeRequests
from ktui.apiserver.metrics.requests import RequestMetrics
from ktui.apiserver.pages.responses import LONGEST_PATH, log_refusal, send_error
from ktui.apiserver.pages.routes import Pages
from ktui.apiserver.parsing.parser import BodyParser
from ktui.apiserver.parsing.pool import ParserPool
from ktui.apiserver.server import Server
from ktui.apiserver.services import Services
from ktui.apiserver.watches import OpenWatches
from ktui.apiserver.web_pages import NOSNIFF, browser_headers, check_web_page
from ktui.contract import paths
from ktui.kube.flowcontrol import PriorityLevel
from ktui.kube.golang.quoting import quote
from ktui.kube.requestinfo import attributes_of, parse_path, request_verb, rules_verb, selected_name
from ktui.kube.seats import flow_controlled
from ktui.kube.status import StatusError, bad_request, body_incomplete, internal_error, path_not_found
from ktui.kube.users import Requester, described
from ktui.telemetry.memory import ConcurrentRequests, Footprint
from ktui.telemetry.meter import Meter

log = logging.getLogger(__name__)

# Custom resources are usually known within milliseconds; a slow etcd must not keep the port closed.
SYNC_SECONDS = 5.0


# kube-apiserver: WithRetryAfter.
COME_BACK = [("retry-after", "5"), ("connection", "close")]


class Application:
    """The application. Its ASGI lifespan syncs the catalog before the first request is served."""

    def __init__(self, services: Services, others: Handlers) -> None:
        self._services = services
        self.catalog = Catalog(services.registry)
        metrics = RequestMetrics()
        self.server = Server(
            services, self.catalog, OpenWatches(services.bus), BodyParser(ParserPool()), LargeRequests()
        )
        self._api = Api(self.server, metrics, others)
        self._pages = Pages(services, self.catalog, metrics, others.pages)
        self._logs = services.request_logs
        self._stopping = False
        self._ids = itertools.count(1)
        self._concurrent = ConcurrentRequests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            response = Response(send, bodyless=scope["method"] == "HEAD")
            await self._serve(Request(scope, receive), response)

    async def start(self) -> None:
        self.catalog.start()
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                await self.catalog.synced.wait()
        except TimeoutError:
            log.warning("custom resources are still being read: they are served as soon as they are known")
        await self._services.warm(self.catalog.table)

    async def stop(self) -> None:
        """End the streams and refuse further requests."""
        self._stopping = True
        self.server.watches.end_all()
        self._pages.close()
        await self.server.parser.close()
        await self.catalog.stop()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await self.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, request: Request, response: Response) -> None:
        if self._stopping:
            response.add_headers(COME_BACK)
            await response.text(429, "The apiserver is shutting down, please try again later.\n")
            return
        has_token = self._services.authenticator.has_token
        response.add_headers(browser_headers(request, has_token=has_token))
        if request.badly_escaped:
            await response.refuse_target()
            return
        try:
            _check_target(request)
            if not has_token:
                check_web_page(request)
        except StatusError as error:
            await self._refuse(response, error, request)
            return
        info = parse_path(request.path)
        verb = request_verb(request.method, info, request.query)
        record = ChainRecord(request, response, info, verb, audit_id(request))
        response.add_headers([("audit-id", record.audit_id)])
        if info.incomplete:
            await response.text(500, _without_info(request))
            return
        response.add_headers([("cache-control", "no-cache, private")])
        if not self._logs:
            await self._serve_recorded(record)
            return
        if verb == "WATCH":
            response.on_start = partial(_log_start, self._logs, record)
        try:
            await self._serve_recorded(record)
        finally:
            for kept in self._logs:
                await kept.finished(record)

    async def _serve_recorded(self, record: ChainRecord) -> None:
        request, response, verb = record.request, record.response, record.verb
        try:
            if verb != "WATCH":
                time_allowed(request, self._services.settings.behaviour.minor)
            level = await self._admit(record)
            if request.path.split("/")[1] in ("api", "apis"):  # nothing is served below a doubled slash
                await self._api.serve(self._call(record, level))
            else:
                await self._serve_page(record)
        except StatusError as error:
            await self._fail(response, error, record)
            self._publish_refusal(record, error)
        except Rejected as rejected:
            await self._reject(rejected, record)
        except Exception as error:  # a bug in the chain: its request gets a 500, the others are served
            await self._broken(error, record)
        finally:
            if record.ticket is not None:
                record.ticket.leave()

    async def _admit(self, record: ChainRecord) -> PriorityLevel:
        """Authenticate, impersonate, classify, authorize; raise StatusError 400, 401 or 403, or Rejected."""
        services, request = self._services, record.request
        authorizer = services.authorizer
        try:
            record.who = who = await services.authenticator.identify(request)
            if services.authenticator.has_token:
                record.response.add_headers(unseen_token_headers(request))
            record.passed("authentication", described(who))
            for kept in self._logs:
                await kept.received(record)
            record.acting = acting = impersonated(authorizer, who, request)
            if acting is not who:
                record.passed("impersonation", described(acting))
            level = await self._enter(record, acting)
            authorize(authorizer, record)
            record.passed("authorization", (record.decision and record.decision.reason) or "allowed")
        except StatusError as error:
            record.refused(error.message)
            if error.code != 401:
                record.response.add_headers([NOSNIFF])
            raise
        return level

    async def _enter(self, record: ChainRecord, who: Requester) -> PriorityLevel:
        """Classify the request and wait for its seats (ktui's own pages need none); raise Rejected."""
        request, info, verb = record.request, record.info, record.verb
        control, behaviour = self._services.flow_control, self._services.settings.behaviour
        asked = attributes_of(info, rules_verb(info, verb))
        record.flow = flow = control.classify(who, asked, behaviour.minor)
        controlled = flow_controlled(behaviour)
        if controlled:
            record.response.add_headers(flow_headers(flow))
        if not info.is_resource and request.path.startswith(paths.OWN):
            return flow.level
        seats = await self._api.seats(info, verb, request.query, flow.level)
        watch = verb == "WATCH"
        patience = (REQUEST_SECONDS if watch else time_allowed(request, behaviour.minor)) / 4.0
        name = selected_name(verb, request.query) if watch else ""
        wanted = FlowRequest(
            flow, who, asked, seats, patience, behaviour, name, request.path, request.disconnection
        )
        record.ticket = ticket = await control.enter(wanted)
        if controlled:
            waited = f", queued {ticket.waited * 1000.0:.1f} ms for its seats" if ticket.waited else ""
            record.passed("flow control", f"{flow.name}, level {flow.level.name}{waited}")
        return flow.level

    async def _reject(self, rejected: Rejected, record: ChainRecord) -> None:
        """Send flow control's 429, in plain text as upstream does."""
        record.refused(rejected.reason)
        record.response.add_headers([("retry-after", str(rejected.retry_after))])
        assert record.flow is not None
        if record.info.is_resource:
            await self._api.reject(self._call(record, record.flow.level), rejected)
        else:
            await record.response.text(429, REFUSED)

    def _publish_refusal(self, record: ChainRecord, error: StatusError) -> None:
        """Publish a request of the API that a known user may not send."""
        info, who = record.info, record.who
        if who is None or not info.is_resource:
            return
        record.acting = record.acting or who
        asked, minor = (
            attributes_of(info, rules_verb(info, record.verb)),
            self._services.settings.behaviour.minor,
        )
        flow = record.flow or self._services.flow_control.classify(who, asked, minor)
        call = self._call(record, flow.level)
        call.resource = self.catalog.table.find(info.group, info.version, info.resource)
        call.error = error.message
        call.announce()
        call.turn.leave()
        call.finish()

    def _call(self, record: ChainRecord, level: PriorityLevel) -> Call:
        record.meter = meter = Meter(request_id=next(self._ids), footprint=Footprint())
        turn, behaviour = self._concurrent.arrive(), self._services.settings.behaviour
        bus = self._services.bus
        assert record.acting is not None
        call = Call(
            record.request, record.response, record.info, record.verb, behaviour, bus, meter, level, turn,
            record.acting, record,
        )  # fmt: skip
        if record.ticket is not None:
            call.take(record.ticket)
        return call

    async def _serve_page(self, record: ChainRecord) -> None:
        request, response = record.request, record.response
        try:
            path = "/version" if request.path == "/version/" else request.path
            page = self._pages.find(request.method, path)
            if page is None and request.path.startswith("/version/"):
                raise path_not_found()  # upstream's router of the API returns that page
            if page is None:
                await response.text(404, NOT_FOUND_TEXT)
            else:
                await page(request, response)
        except StatusError as error:
            await self._fail(response, error, record)
        except BodyIncomplete:
            log_refusal(request, body_incomplete())
            await self._fail(response, body_incomplete(), record)
        except Exception as error:  # a bug in a page: its request gets a 500, the others are served
            await self._broken(error, record)

    async def _broken(self, error: Exception, record: ChainRecord) -> None:
        record.panicked = f"{type(error).__name__}: {error}"
        log.exception("%s %s failed", record.request.method, record.request.path)
        if not record.response.started:
            await self._fail(record.response, internal_error("the server log has the details"), record)

    async def _refuse(self, response: Response, error: StatusError, request: Request) -> None:
        """Refuse a request that no client of the Kubernetes API sends, and log it."""
        log_refusal(request, error)
        await send_error(response, error, request, self._services.codec.messages)

    async def _fail(self, response: Response, error: StatusError, record: ChainRecord) -> None:
        record.status = error.body()
        await send_error(response, error, record.request, self._services.codec.messages)


def _log_start(logs: Sequence[RequestLog], record: ChainRecord) -> None:
    for kept in logs:
        kept.response_started(record)


def _check_target(request: Request) -> None:
    """Raise StatusError 400 for `OPTIONS *` and `CONNECT host:port`, which name no path.

    Go's server answers `OPTIONS *` itself, with an empty 200, before kube-apiserver sees it.
    """
    if not request.path.startswith("/"):
        target = quote(request.path[:LONGEST_PATH])
        raise bad_request(f"the request target {target} is not a path: a path begins with a slash")


def _without_info(request: Request) -> str:
    url = f"{request.path}?{request.query}" if request.query else request.path
    why = f"unable to determine kind and namespace from url, {url}"
    text = f"Internal Server Error: {quote(url)}: failed to create RequestInfo: {why}\n"
    return escape(text, quote=False)


def build_app(services: Services, others: Handlers) -> Application:
    """Compose the server of the read path and the handlers `others`. The ASGI lifespan starts it."""
    return Application(services, others)
