"""All pages and their paths."""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial

import msgspec

from ktui import __version__
from ktui.apiserver.catalog import Catalog
from ktui.apiserver.http.request import BodyTooLarge, Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.metrics.metric_types import render
from ktui.apiserver.metrics.process import process_metrics, request_log_metrics
from ktui.apiserver.metrics.requests import RequestMetrics
from ktui.apiserver.metrics.storage import EtcdMetrics, KeyNames, cache_metrics
from ktui.apiserver.negotiation import JSON, acceptable
from ktui.apiserver.pages import discovery
from ktui.apiserver.pages.behaviour import SettingsPages
from ktui.apiserver.pages.caches import CachePages
from ktui.apiserver.pages.etcd import EtcdPages
from ktui.apiserver.pages.health import Check, HealthPages
from ktui.apiserver.pages.responses import Page, PageRouter, number, send_json
from ktui.apiserver.pages.telemetry import MarkerPages, TelemetryStream
from ktui.apiserver.server import Faults, Services
from ktui.contract import paths
from ktui.contract.events import RequestFinished
from ktui.contract.faults import ActiveFaults, Fault
from ktui.etcd.errors import EtcdError
from ktui.kube.status import StatusError, bad_request, not_acceptable, request_entity_too_large
from ktui.kube.versions import Behaviour
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus, Subscription
from ktui.telemetry.off_loop import Slices


def version_document(behaviour: Behaviour) -> dict[str, str]:
    """Return /version: the Kubernetes version whose rules apply; ktui's own version follows the plus."""
    released = f"1.{behaviour.minor}.{behaviour.patch or 0}"
    return {
        "major": "1",
        "minor": str(behaviour.minor),
        "gitVersion": f"v{behaviour.preview or released}+ktui-{__version__}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",  # upstream's for a build that sets none
        "goVersion": "",
        "compiler": f"python {platform.python_version()}",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


KEPT = 5000
# Seconds without calls. A full LIST of a huge cluster must end before, or its cost is lost.
IDLE_SECONDS = 600.0
# Seconds. A request's cost follows its last byte at once, but a busy loop may delay it.
WAIT_SECONDS = 5.0


class FinishedPages:
    """`/ktui/v1/requests`: the cost of the last KEPT requests, for the clients that sent them.

    A client that wants the cost of one request need not follow the telemetry stream of a busy server.
    Requests are kept from the first call on, until no client has called for a while: without calls there is
    no overhead.
    """

    def __init__(self, bus: Bus, supervisor: Supervisor) -> None:
        self._bus = bus
        self._supervisor = supervisor
        self._kept: OrderedDict[int, RequestFinished] = OrderedDict()
        self._subscription: Subscription | None = None
        self._task: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._arrived = asyncio.Event()

    async def newest(self, request: Request, response: Response) -> None:
        """Send the newest requests, newest first, and keep requests from now on."""
        limit = number(request, "limit", 100)
        self._keep()
        rows = list(reversed(self._kept.values()))[:limit]
        await send_json(response, {"requests": rows})

    async def one(self, request: Request, response: Response) -> None:
        """Send the cost of one request; wait briefly for one that is just ending. 404 if unknown."""
        text = request.path.rstrip("/").rsplit("/", 1)[-1]
        if not (text.isascii() and text.isdigit()) or len(text) > 19:
            raise bad_request(f"a request id is a whole number, not {text!r}")
        self._keep()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_SECONDS):
                while int(text) not in self._kept:
                    arrived = self._arrived
                    await arrived.wait()
        found = self._kept.get(int(text))
        if found is None:
            raise StatusError(404, "NotFound", f"no account of request {text} is kept")
        await send_json(response, found)

    def close(self) -> None:
        """Stop keeping requests."""
        if self._idle is not None:
            self._idle.cancel()
        if self._subscription is not None:
            self._subscription.close()
        self._subscription = self._task = self._idle = None
        self._kept.clear()

    def _keep(self) -> None:
        if self._subscription is None:
            self._subscription = self._bus.subscribe()
            self._task = self._supervisor.start(
                "the record of finished requests", partial(self._follow, self._subscription)
            )
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)

    async def _follow(self, subscription: Subscription) -> None:
        async for batch in subscription.batches():
            for event in batch:
                if isinstance(event, RequestFinished):
                    self._kept[event.id] = event
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            arrived, self._arrived = self._arrived, asyncio.Event()
            arrived.set()


MAX_BODY = 4 * 1024


class FaultPages:
    """`/ktui/v1/faults`: inject faults into the etcd that this server started, for workloads."""

    def __init__(self, services: Services) -> None:
        self._faults = services.faults

    async def get(self, request: Request, response: Response) -> None:
        """Send the active faults."""
        await self._send(response, 200)

    async def inject(self, request: Request, response: Response) -> None:
        """Begin a fault: 202; 403 if ktui did not start this etcd, 409 if one of its kind is active."""
        faults = self._allowed()
        try:
            fault = msgspec.json.decode(await request.body(MAX_BODY), type=Fault).checked()
        except BodyTooLarge:
            raise request_entity_too_large(f"limit is {MAX_BODY}") from None
        except (msgspec.DecodeError, ValueError) as error:
            raise bad_request(str(error)) from None
        try:
            await faults.inject(fault)
        except ValueError as error:
            raise StatusError(409, "Conflict", str(error)) from None
        except EtcdError as error:
            raise StatusError(500, "InternalError", f"{fault.kind}: {error}") from None
        await self._send(response, 202)

    async def end(self, request: Request, response: Response) -> None:
        """End all faults."""
        await self._allowed().end()
        await self._send(response, 200)

    def _allowed(self) -> Faults:
        if self._faults is None:
            raise StatusError(
                403, "Forbidden", "faults are only for an embedded etcd that ktui started, which this is not"
            )
        return self._faults

    async def _send(self, response: Response, status: int) -> None:
        active = self._faults.active if self._faults is not None else []
        await send_json(response, ActiveFaults(active), status)


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
NAMED_CACHES = 5  # maximum number of stale caches named in the text


def stale_text(stale: Mapping[str, float]) -> str:
    """Return which caches are stale and for how long, "" if none is."""
    if not stale:
        return ""
    names = sorted(stale)
    more = f" and {len(names) - NAMED_CACHES} more" if len(names) > NAMED_CACHES else ""
    return f"stale for {max(stale.values()):.0f} s: {', '.join(names[:NAMED_CACHES])}{more}"


class Pages:
    """All pages: `find` finds one, `close` ends the streams when the server stops."""

    def __init__(
        self, services: Services, catalog: Catalog, requests: RequestMetrics, others: Mapping[str, Page]
    ) -> None:
        self._services = services
        self._catalog = catalog
        self._requests = requests
        supervisor = services.registry.supervisor
        names = KeyNames(services.facts.info().etcd_prefix, lambda prefix: catalog.table.by_prefix(prefix))
        self._etcd_metrics = EtcdMetrics(services.bus, supervisor, services.settings, names)
        self._telemetry = TelemetryStream(services.bus, services.facts)
        self._finished = FinishedPages(services.bus, supervisor)
        self._router = self._routes()
        for path, page in others.items():
            self._router.add("GET", path, page)

    def find(self, method: str, path: str) -> Page | None:
        """Return the page, None if there is none; raise StatusError 405."""
        return self._router.find(method, path)

    def close(self) -> None:
        self._telemetry.close()
        self._finished.close()
        self._etcd_pages.close()
        self._etcd_metrics.close()

    def _routes(self) -> PageRouter:
        router = PageRouter()
        services = self._services
        health = HealthPages(
            alive=[Check("ping", lambda: "")],
            ready=[
                Check("etcd", services.facts.etcd_problem),
                Check("crd-informer-synced", lambda: "" if self._catalog.synced.is_set() else "not synced"),
                Check("watch-caches", lambda: stale_text(services.registry.stale()), shown=True),
            ],
        )
        for name, page in (("healthz", health.healthz), ("livez", health.livez), ("readyz", health.readyz)):
            router.add("*", f"/{name}", page)
            for check, single in health.single(name).items():
                router.add("*", f"/{name}/{check}", single)
        for path in ("/", "/index.html"):  # upstream's index answers every method
            router.add("*", path, self._root)
        router.add("GET", "/version", self._version)
        router.add("GET", "/metrics", self._metrics)
        router.add("GET", paths.TELEMETRY, self._telemetry.get)
        router.add("GET", "/version/", self._version)
        documents = discovery.OpenApiPages(self._catalog, self._services.settings)
        router.add("GET", discovery.V2, documents.whole)
        router.add("GET", discovery.ROOT, documents.index)
        for segments in ("{}", "{}/{}", "{}/{}/{}"):
            router.add("GET", f"{discovery.ROOT}/{segments}", documents.group_version)
        self._add_ktui(router)
        return router

    def _add_ktui(self, router: PageRouter) -> None:
        settings = SettingsPages(self._services)
        router.add("GET", paths.INFO, settings.info)
        router.add("GET", paths.PRESENT, self._telemetry.present)
        router.add("GET", paths.BEHAVIOUR, settings.behaviour)
        router.add("PUT", paths.BEHAVIOUR, settings.switch)
        faults = FaultPages(self._services)
        router.add("GET", paths.FAULTS, faults.get)
        router.add("POST", paths.FAULTS, faults.inject)
        router.add("DELETE", paths.FAULTS, faults.end)
        router.add("POST", paths.MARKERS, MarkerPages(self._services.bus).publish)
        router.add("GET", paths.REQUESTS, self._finished.newest)
        router.add("GET", f"{paths.REQUESTS}/{{}}", self._finished.one)
        prefix, registry = self._services.facts.info().etcd_prefix, self._services.registry
        etcd = self._etcd_pages = EtcdPages(self._services.etcd, prefix, registry)
        router.add("GET", paths.ETCD_PREFIXES, etcd.prefixes)
        router.add("GET", paths.ETCD_KEYS, etcd.keys)
        router.add("GET", paths.ETCD_KEY, etcd.key)
        router.add("GET", paths.ETCD_SURVEY, etcd.survey)
        router.add("GET", paths.ETCD_CHURN, etcd.churn)
        router.add("GET", paths.ETCD_HISTORY, etcd.history)
        caches = CachePages(registry, self._catalog, self._services.settings)
        router.add("GET", paths.CACHE_OBJECTS, caches.objects)
        router.add("GET", paths.CACHE_EVENTS, caches.events)
        router.add("POST", paths.CACHE_WARM, caches.warm)
        router.add("POST", paths.CACHE_CHECK, caches.check)
        router.add("POST", paths.CACHE_LOSE, caches.lose)
        router.add("DELETE", paths.CACHE_WARM, caches.cancel)

    async def _root(self, request: Request, response: Response) -> None:
        listed = {*self._router.paths(), "/api", "/api/v1", "/apis"} - {"/index.html"}
        await send_json(response, {"paths": sorted(listed)})

    async def _version(self, request: Request, response: Response) -> None:
        if not acceptable(request.accept, JSON):
            raise not_acceptable((JSON,))
        document = version_document(self._services.settings.behaviour)
        await response.whole(200, JSON, json.dumps(document, indent=2).encode())  # always indented

    async def _metrics(self, request: Request, response: Response) -> None:
        self._etcd_metrics.start()
        behaviour = self._services.settings.behaviour
        metrics = [
            *self._requests.metrics(behaviour.minor),
            *cache_metrics(self._services.registry, behaviour),
            *self._etcd_metrics.metrics(),
            *request_log_metrics(self._services.request_logs),
            *process_metrics(self._services.connections),
            *self._services.flow_control.metrics(behaviour),
        ]
        slices, pieces = Slices(), []
        for piece in render(metrics):
            pieces.append(piece)
            await slices.yield_if_due()
        await response.whole(200, METRICS_TYPE, b"".join(pieces))
