"""All pages and their paths."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ktui.apiserver.catalog import Catalog
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.metrics.caches import cache_metrics
from ktui.apiserver.metrics.etcd import EtcdMetrics, KeyNames
from ktui.apiserver.metrics.exposition import render
from ktui.apiserver.metrics.process import process_metrics, request_log_metrics
from ktui.apiserver.metrics.requests import RequestMetrics
from ktui.apiserver.negotiation import JSON, acceptable
from ktui.apiserver.pages import openapi
from ktui.apiserver.pages.caches import CachePages
from ktui.apiserver.pages.etcd import EtcdPages
from ktui.apiserver.pages.faults import FaultPages
from ktui.apiserver.pages.finished import FinishedPages
from ktui.apiserver.pages.health import Check, HealthPages
from ktui.apiserver.pages.markers import MarkerPages
from ktui.apiserver.pages.responses import send_json
from ktui.apiserver.pages.router import Page, PageRouter
from ktui.apiserver.pages.settings import SettingsPages
from ktui.apiserver.pages.telemetry import TelemetryStream
from ktui.apiserver.pages.version import version_document
from ktui.apiserver.services import Services
from ktui.contract import paths
from ktui.kube.status import not_acceptable
from ktui.storage.slices import Slices

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
        documents = openapi.OpenApiPages(self._catalog, self._services.settings)
        router.add("GET", openapi.V2, documents.whole)
        router.add("GET", openapi.ROOT, documents.index)
        for segments in ("{}", "{}/{}", "{}/{}/{}"):
            router.add("GET", f"{openapi.ROOT}/{segments}", documents.group_version)
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
        caches = CachePages(registry, self._catalog)
        router.add("GET", paths.CACHE_OBJECTS, caches.objects)
        router.add("GET", paths.CACHE_EVENTS, caches.events)
        router.add("POST", paths.CACHE_WARM, caches.warm)
        router.add("POST", paths.CACHE_CHECK, caches.check)
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
