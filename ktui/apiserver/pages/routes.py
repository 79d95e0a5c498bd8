"""All pages and their paths; health, version and metrics."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ktui import __version__
from ktui.apiserver.catalog import Catalog
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.metrics.metric_types import render
from ktui.apiserver.metrics.requests import RequestMetrics
from ktui.apiserver.metrics.storage import EtcdMetrics, KeyNames, cache_metrics, process_metrics
from ktui.apiserver.negotiation import JSON, acceptable
from ktui.apiserver.pages import discovery
from ktui.apiserver.pages.caches import CachePages
from ktui.apiserver.pages.etcd import EtcdPages
from ktui.apiserver.pages.own import FinishedPages, OwnPages, TelemetryStream
from ktui.apiserver.pages.responses import Page, PageRouter, send_json
from ktui.apiserver.server import Services
from ktui.contract import paths
from ktui.kube.discovery import api_paths
from ktui.kube.status import StatusError, not_acceptable
from ktui.kube.versions import Behaviour
from ktui.telemetry.off_loop import Slices


def version_document(behaviour: Behaviour) -> dict[str, str]:
    """Return /version: the Kubernetes version whose rules apply; ktui's own version follows the plus."""
    released = f"1.{behaviour.minor}.{behaviour.patch or 0}"
    numbers = {"major": "1", "minor": str(behaviour.minor)}
    if behaviour.minor >= 33:  # kubernetes#130019
        numbers |= {"emulationMajor": "1", "emulationMinor": str(behaviour.minor)}
        numbers |= {"minCompatibilityMajor": "1", "minCompatibilityMinor": str(behaviour.minor - 1)}
    return numbers | {
        "gitVersion": f"v{behaviour.preview or released}+ktui-{__version__}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",  # upstream's for a build that sets none
        "goVersion": "",
        "compiler": f"python {platform.python_version()}",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


@dataclass(frozen=True, slots=True)
class Check:
    """A line of the response."""

    name: str
    failure: Callable[[], str]  # why the check fails, "" if it passes
    shown: bool = False  # kube-apiserver withholds the reason; ktui's own checks show it


class HealthPages:
    """/healthz, /livez and, with the checks `ready`, /readyz; `?verbose`: a line for each check."""

    def __init__(self, alive: list[Check], ready: list[Check]) -> None:
        self._alive = alive
        self._ready = ready

    def pages(self) -> dict[str, Page]:
        """Return the pages of all checks, and of each single one, by path."""
        found: dict[str, Page] = {}
        for name in ("healthz", "livez", "readyz"):
            checks = [*self._alive, *self._ready] if name == "readyz" else self._alive
            found[f"/{name}"] = partial(self._answer, name, checks)
            found |= {f"/{name}/{check.name}": partial(self._one, name, check) for check in checks}
        return found

    async def _one(self, name: str, check: Check, request: Request, response: Response) -> None:
        failure = check.failure()
        if not failure:
            await response.text(200, "ok")
        else:
            reason = failure if check.shown else f"{check.name} failed"
            await response.text(500, f"internal server error: {name}: {reason}\n")

    async def _answer(self, name: str, checks: list[Check], request: Request, response: Response) -> None:
        excluded = request.parameters.get("exclude", [])
        failures = {check: "" if check.name in excluded else check.failure() for check in checks}
        if any(failures.values()):
            await response.text(500, _report(failures, excluded) + f"{name} check failed\n")
        elif "verbose" in request.parameters:
            await response.text(200, _report(failures, excluded) + f"{name} check passed\n")
        else:
            await response.text(200, "ok")


def _report(failures: dict[Check, str], excluded: list[str]) -> str:
    lines = []
    for check, failure in failures.items():
        if check.name in excluded:
            lines.append(f"[+]{check.name} excluded: ok")
        elif failure:
            lines.append(f"[-]{check.name} failed: {failure if check.shown else 'reason withheld'}")
        else:
            lines.append(f"[+]{check.name} ok")
    return "".join(f"{line}\n" for line in lines)


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
NAMED_CACHES = 5  # maximum number of stale caches named in the text


def stale_text(stale: Mapping[str, float]) -> str:
    """Return which caches are stale and for how long, "" if none is."""
    if not stale:
        return ""
    names = sorted(stale)
    more = f" and {len(names) - NAMED_CACHES} more" if len(names) > NAMED_CACHES else ""
    return f"stale for {max(stale.values()):.0f} s: {', '.join(names[:NAMED_CACHES])}{more}"


class Pages(PageRouter):
    """All pages; `close` ends their streams when the server stops."""

    def __init__(
        self, services: Services, catalog: Catalog, requests: RequestMetrics, others: Mapping[str, Page]
    ) -> None:
        super().__init__()
        self._services = services
        self._catalog = catalog
        self._requests = requests
        supervisor = services.registry.supervisor
        names = KeyNames(services.facts.info().etcd_prefix, lambda prefix: catalog.table.by_prefix(prefix))
        self._etcd_metrics = EtcdMetrics(services.bus, supervisor, services.settings, names)
        self._telemetry = TelemetryStream(services.bus, services.facts)
        self._finished = FinishedPages(services.bus, supervisor)
        self._add_upstreams()
        self._add_own()
        for path, page in others.items():
            self.add("GET", path, page)

    def close(self) -> None:
        self._telemetry.close()
        self._finished.close()
        self._etcd_pages.close()
        self._etcd_metrics.close()

    def _add_upstreams(self) -> None:
        """Add kube-apiserver's pages: only its version refuses methods other than GET."""
        services = self._services
        health = HealthPages(
            alive=[Check("ping", lambda: ""), Check("etcd", services.facts.etcd_problem)],
            ready=[
                Check("crd-informer-synced", lambda: "" if self._catalog.synced.is_set() else "not synced"),
                Check("watch-caches", lambda: stale_text(services.registry.stale()), shown=True),
            ],
        )
        for path, page in health.pages().items():
            self.add("*", path, page)
        for path in ("/", "/index.html"):
            self.add("*", path, self._root)
        self.add("GET", "/version", self._version)
        self.add("GET", "/version/", self._version)
        self.add("*", "/metrics", self._metrics)
        self.add("DELETE", "/metrics", self._no_reset)
        documents = discovery.OpenApiPages(self._catalog, services.settings)
        self.add("*", discovery.V2, documents.whole)
        self.add("*", discovery.ROOT, documents.index)
        for segments in ("{}", "{}/{}", "{}/{}/{}"):
            self.add("*", f"{discovery.ROOT}/{segments}", documents.group_version)

    def _add_own(self) -> None:
        own = OwnPages(self._services)
        self.add("GET", paths.TELEMETRY, self._telemetry.get)
        self.add("GET", paths.INFO, own.info)
        self.add("GET", paths.PRESENT, self._telemetry.present)
        self.add("GET", paths.BEHAVIOUR, own.behaviour)
        self.add("PUT", paths.BEHAVIOUR, own.switch)
        self.add("GET", paths.FAULTS, own.faults)
        self.add("POST", paths.FAULTS, own.inject)
        self.add("DELETE", paths.FAULTS, own.end_faults)
        self.add("POST", paths.MARKERS, own.mark)
        self.add("GET", paths.REQUESTS, self._finished.newest)
        self.add("GET", f"{paths.REQUESTS}/{{}}", self._finished.one)
        prefix, registry = self._services.facts.info().etcd_prefix, self._services.registry
        etcd = self._etcd_pages = EtcdPages(self._services.etcd, prefix, registry)
        self.add("GET", paths.ETCD_PREFIXES, etcd.prefixes)
        self.add("GET", paths.ETCD_KEYS, etcd.keys)
        self.add("GET", paths.ETCD_KEY, etcd.key)
        self.add("GET", paths.ETCD_SURVEY, etcd.survey)
        self.add("GET", paths.ETCD_CHURN, etcd.churn)
        self.add("GET", paths.ETCD_HISTORY, etcd.history)
        caches = CachePages(registry, self._catalog, self._services.settings)
        self.add("GET", paths.CACHE_OBJECTS, caches.objects)
        self.add("GET", paths.CACHE_EVENTS, caches.events)
        self.add("POST", paths.CACHE_WARM, caches.warm)
        self.add("POST", paths.CACHE_CHECK, caches.check)
        self.add("POST", paths.CACHE_LOSE, caches.lose)
        self.add("DELETE", paths.CACHE_WARM, caches.cancel)

    async def _root(self, request: Request, response: Response) -> None:
        listed = [path for path in self.paths() if path not in ("/", "/index.html") and "{}" not in path]
        await send_json(response, {"paths": sorted({*listed, *api_paths(self._catalog.table)})})

    async def _version(self, request: Request, response: Response) -> None:
        if not acceptable(request.accept, JSON):
            raise not_acceptable((JSON,))
        document = version_document(self._services.settings.behaviour)
        await response.whole(200, JSON, json.dumps(document, indent=2).encode())  # always indented

    async def _no_reset(self, request: Request, response: Response) -> None:
        why = "others read them too, and a reset would look like a restart"
        raise StatusError(501, "NotImplemented", f"ktui does not reset its metrics: {why}")

    async def _metrics(self, request: Request, response: Response) -> None:
        self._etcd_metrics.start()
        behaviour = self._services.settings.behaviour
        metrics = [
            *self._requests.metrics(behaviour.minor),
            *cache_metrics(self._services.registry, behaviour),
            *self._etcd_metrics.metrics(),
            *process_metrics(self._services.connections, self._services.request_logs),
            *self._services.flow_control.metrics(behaviour),
        ]
        slices, pieces = Slices(), []
        for piece in render(metrics):
            pieces.append(piece)
            await slices.yield_if_due()
        await response.whole(200, METRICS_TYPE, b"".join(pieces))
