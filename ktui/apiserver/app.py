"""The ASGI application: one object that answers every request."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from functools import partial
from html import escape
from random import getrandbits

from ktui.apiserver.api import NOT_FOUND_TEXT, Api
from ktui.apiserver.authorization import authorize
from ktui.apiserver.call import FLOW_CONTROL, UNKNOWN, Call
from ktui.apiserver.catalog import Catalog
from ktui.apiserver.chain import REFUSED, Rejected, Ticket
from ktui.apiserver.dispatch import Handlers
from ktui.apiserver.http import Receive, Scope, Send
from ktui.apiserver.http.loopback import NOSNIFF, browser_headers, check_web_page
from ktui.apiserver.http.request import BodyIncomplete, Request
from ktui.apiserver.http.response import Response, header, warning_headers
from ktui.apiserver.http.turns import Turns
from ktui.apiserver.impersonation import Impersonation
from ktui.apiserver.large_requests import LargeRequests
from ktui.apiserver.metrics.requests import RequestMetrics
from ktui.apiserver.pages.responses import LONGEST_PATH, log_refusal, send_error, time_allowed
from ktui.apiserver.pages.routes import Pages
from ktui.apiserver.parsing.pool import BodyParser, ParserPool
from ktui.apiserver.server import RequestLog, Server, Services
from ktui.apiserver.watches import OpenWatches
from ktui.contract import paths
from ktui.kube.flow_schemas import PriorityLevel
from ktui.kube.golang.formatting import quote
from ktui.kube.requestinfo import parse_path, request_verb, selected_name
from ktui.kube.status import (
    StatusError,
    bad_request,
    body_incomplete,
    internal_error,
    path_not_found,
    unknown_path,
)
from ktui.kube.users import Requester, described
from ktui.telemetry.large_work import LARGE_WORK
from ktui.telemetry.meter import ConcurrentRequests

log = logging.getLogger(__name__)

# Custom resources are usually known within milliseconds; a slow etcd must not keep the port closed.
SYNC_SECONDS = 5.0
UNCACHED = (b"cache-control", b"no-cache, private")
# kube-apiserver: WithRetryAfter.
COME_BACK = [(b"retry-after", b"5"), (b"connection", b"close")]

# kube-apiserver cuts a client's Audit-ID to this length.
MAX_AUDIT_ID = 64
SPACED_TOKEN = (
    "the provided Authorization header contains extra space before the bearer token, and is ignored"
)
# RFC 9562: version 4 in bits 48-51, variant 10 in bits 64 and 65.
_VERSION_4 = 0x4 << 76 | 0x2 << 62
_FREE_BITS = (1 << 128) - 1 ^ (0xF << 76 | 0x3 << 62)


def _random_uuid() -> str:
    """Return a UUID of version 4. It has to be unique, not secret: `uuid.uuid4` takes ten times as long."""
    digits = f"{getrandbits(128) & _FREE_BITS | _VERSION_4:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def spaced_token(authorization: str) -> bool:
    """Whether a token comes after two spaces: kube-apiserver ignores it, and warns (bearertoken.go)."""
    scheme, _, rest = authorization.strip().partition(" ")
    return scheme.lower() == "bearer" and rest.startswith(" ")


class Application:
    """The application; `start` it before the first request."""

    def __init__(self, services: Services, others: Handlers) -> None:
        self._services = services
        self._impersonation = Impersonation(services.authorizer)
        self.catalog = Catalog(services.registry)
        metrics = RequestMetrics()
        self.server = Server(
            services, self.catalog, OpenWatches(services.bus), BodyParser(ParserPool()), LargeRequests()
        )
        self._api = Api(self.server, metrics, others)
        self._pages = Pages(services, self.catalog, metrics, others.pages)
        self._logs = services.request_logs
        self._has_token = services.authenticator.has_token
        self._stopping = False
        self._turns = Turns()
        self._ids = itertools.count(1)
        self._concurrent = ConcurrentRequests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._turns.full():
            await self._turns.wait(scope)
        response = Response(send, bodyless=scope["method"] == "HEAD")
        await self._serve(Request(scope, receive), response)

    async def start(self) -> None:
        """Wait until custom resources are known, at most SYNC_SECONDS, and fill the caches to begin with."""
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
        LARGE_WORK.end_all()
        await self.server.parser.close()
        await self.catalog.stop()

    async def _serve(self, request: Request, response: Response) -> None:
        if self._stopping:
            response.add_headers(COME_BACK)
            await response.text(429, "The apiserver is shutting down, please try again later.\n")
            return
        has_token = self._has_token
        if headers := browser_headers(request, has_token=has_token):
            response.add_headers(headers)
        if request.badly_escaped:
            await response.refuse_head()
            return
        if fault := request.head_fault():
            log_refusal(request, bad_request(fault))
            await response.refuse_head(fault)
            return
        try:
            if not request.path.startswith("/"):
                # Go's server answers `OPTIONS *` itself, with an empty 200, before kube-apiserver sees it.
                target = quote(request.path[:LONGEST_PATH])
                raise bad_request(f"the request target {target} is not a path: a path begins with a slash")
            if not has_token:
                check_web_page(request)
        except StatusError as error:
            log_refusal(request, error)  # which no client of the Kubernetes API sends
            await send_error(response, error, request, self._services.codec.messages)
            return
        info = parse_path(request.path)
        verb = request_verb(request.method, info, request.query)
        behaviour, bus = self._services.settings.behaviour, self._services.bus
        audit_id = request.headers.get("audit-id", "")[:MAX_AUDIT_ID] or _random_uuid()
        call = Call(request, response, info, verb, audit_id, behaviour, bus)
        if info.incomplete:
            response.add_headers([header("audit-id", call.audit_id)])
            await response.text(500, _without_info(request))
            return
        response.add_headers((header("audit-id", call.audit_id), UNCACHED))
        if not self._logs:
            await self._serve_recorded(call)
            return
        if verb == "WATCH":
            response.on_start = partial(_log_start, self._logs, call)
        try:
            await self._serve_recorded(call)
        finally:
            for kept in self._logs:
                await kept.finished(call)

    async def _serve_recorded(self, call: Call) -> None:
        request, response, verb = call.request, call.response, call.verb
        try:
            if verb != "WATCH" and "timeout" in request.parameters:
                call.allowed = time_allowed(request, call.behaviour.minor)
            level = await self._admit(call)
            if request.path.split("/")[1] in ("api", "apis"):  # nothing is served below a doubled slash
                self._begin(call, level)
                await self._api.serve(call)
            else:
                await self._serve_page(call)
        except StatusError as error:
            await self._fail(response, error, call)
            self._publish_refusal(call, error)
        except Rejected as rejected:
            await self._reject(rejected, call)
        except BodyIncomplete:
            log_refusal(request, body_incomplete())
            await self._fail(response, body_incomplete(), call)
        except Exception as error:  # a bug: its request gets a 500, the others are served
            call.panicked = f"{type(error).__name__}: {error}"
            log.exception("%s %s failed", request.method, request.path)
            if not response.started:
                await self._fail(response, internal_error("the server log has the details"), call)
        finally:
            if call.ticket is not None:
                call.ticket.leave()

    async def _admit(self, call: Call) -> PriorityLevel:
        """Authenticate, impersonate, classify, authorize; raise StatusError 400, 401 or 403, or Rejected."""
        services, request = self._services, call.request
        authorizer = services.authorizer
        try:
            call.authenticated = who = await services.authenticator.identify(request)
            call.meter.user = who.user
            sent = request.headers.get("authorization", "")
            if self._has_token and "  " in sent and request.certified is None and spaced_token(sent):
                call.response.add_headers(warning_headers([SPACED_TOKEN]))
            call.passed("authentication", described(who))
            for kept in self._logs:
                await kept.received(call)
            call.who = acting = self._impersonation.of(call, who)
            if acting is not who:
                call.passed("impersonation", described(acting))
            level = await self._enter(call, acting)
            authorize(authorizer, call)
            call.passed("authorization", (call.decision and call.decision.reason) or "allowed")
        except StatusError as error:
            call.refused(error.message)
            if error.code != 401:
                call.response.add_headers([NOSNIFF])
            raise
        return level

    async def _enter(self, call: Call, who: Requester) -> PriorityLevel:
        """Classify the request and wait for its seats (ktui's own pages need none); raise Rejected."""
        request, info, verb = call.request, call.info, call.verb
        control, behaviour = self._services.flow_control, self._services.settings.behaviour
        asked = call.attributes
        call.flow = flow = control.classify(who, asked, behaviour.minor)
        if info.long_running:  # as upstream: these have neither seats nor the headers
            return flow.level
        controlled = behaviour.enabled("APIPriorityAndFairness")
        if controlled:
            call.response.add_headers(flow.headers)
        if not info.is_resource and request.path.startswith(paths.OWN):
            return flow.level
        seats = 1
        if verb in ("LIST", "WATCH") or not controlled:
            seats = await self._api.seats(info, verb, request.query, flow.level, call.meter)
        name = selected_name(info, verb, request.query) if verb == "WATCH" else ""
        ticket = Ticket(flow, who, asked, seats, name=name, path=request.path)
        await control.enter(ticket, call.allowed / 4.0, behaviour, request.disconnection)
        call.ticket = ticket
        if controlled:
            waited = f", queued {ticket.waited * 1000.0:.1f} ms for its seats" if ticket.waited else ""
            call.passed(FLOW_CONTROL, f"{flow.name}, level {flow.level.name}{waited}")
        return flow.level

    async def _reject(self, rejected: Rejected, call: Call) -> None:
        """Send flow control's 429, in plain text as upstream does."""
        call.refused(rejected.reason)
        call.response.add_headers([header("retry-after", str(rejected.retry_after))])
        assert call.flow is not None
        if call.info.is_resource:
            self._begin(call, call.flow.level)
            await self._api.reject(call, rejected)
        else:
            await call.response.text(429, REFUSED)

    def _publish_refusal(self, call: Call, error: StatusError) -> None:
        """Publish a request of the API that a known user may not send."""
        info, who = call.info, call.authenticated
        admitted = call.decision is not None and call.decision.allowed  # then a page has refused it
        if who is None or not info.is_resource or admitted:
            return
        call.who = who if call.who is UNKNOWN else call.who
        flow = call.flow or self._services.flow_control.classify(who, call.attributes, call.behaviour.minor)
        self._begin(call, flow.level)
        call.resource = self.catalog.table.find(info.group, info.version, info.resource)
        call.error = error.message
        call.announce()
        call.finish()

    def _begin(self, call: Call, level: PriorityLevel) -> None:
        # A GET looks at the process' memory before it reads etcd or encodes a large object.
        call.begin(next(self._ids), self._concurrent.arrive(small=call.verb == "GET"), level)

    async def _serve_page(self, call: Call) -> None:
        request, response = call.request, call.response
        path = "/version" if request.path == "/version/" else request.path
        page = self._pages.find(request.method, path)
        if page is None and request.path.startswith("/version/"):
            raise path_not_found()  # upstream's router of the API returns that page
        if page is None and call.behaviour.minor >= 38:
            raise unknown_path()
        if page is None:
            await response.text(404, NOT_FOUND_TEXT)
        else:
            await page(request, response)

    async def _fail(self, response: Response, error: StatusError, call: Call) -> None:
        call.status = error.body()
        await send_error(response, error, call.request, self._services.codec.messages)


def _log_start(logs: Sequence[RequestLog], call: Call) -> None:
    for kept in logs:
        kept.response_started(call)


def _without_info(request: Request) -> str:
    url = f"{request.path}?{request.query}" if request.query else request.path
    why = f"unable to determine kind and namespace from url, {url}"
    text = f"Internal Server Error: {quote(url)}: failed to create RequestInfo: {why}\n"
    return escape(text, quote=False)
