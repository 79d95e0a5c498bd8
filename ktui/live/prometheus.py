"""Live figures of all replicas from a Prometheus that scrapes the kube-apiservers, with their past.

Range queries return raw counters, which are then processed like scraped pages: one page per instance and
time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlencode

import msgspec

from ktui import __version__
from ktui.client.api import ApiClient, Received
from ktui.client.connection import ClientError
from ktui.client.kube_connection import KubeConnection
from ktui.client.metrics_page import Sample
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import LiveServer, ReplicaScrape
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.gates import minor_of
from ktui.live.families import ALL, ANCHOR, Family
from ktui.live.page_figures import BY_SAMPLE, ScrapePage, page_of
from ktui.live.server_details import LiveFeed, page_events

SECONDS = 15.0  # between two queries; Prometheus scrapes every 15 to 60 s
HISTORY_SECONDS = 3_600.0
MOST_POINTS = 60  # of the past, per series
LEAST_STEP = 15.0
FAMILIES_A_QUERY = 10
MOST_BYTES = 256 << 20
MOST_SERIES = 200_000
_OWN_LABELS = ("__name__", "instance", "job")


@dataclass(frozen=True, slots=True)
class PrometheusConnection(KubeConnection):
    """A Prometheus or a compatible server. Secrets are not in its repr."""

    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def unauthorized(self) -> str:
        return "the Prometheus does not accept the credentials (prometheus-token, prometheus-user)"

    @property
    def untrusted(self) -> str:
        return "its CA must be among the system's"

    def headers(self) -> Mapping[str, str]:
        # Not super(): a dataclass with slots is a new class, not the one that super() refers to.
        return {**KubeConnection.headers(self), **self.extra_headers}


class _Series(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = msgspec.field(default_factory=list)
    value: tuple[float, str] | None = None


class _Data(msgspec.Struct):
    result: list[_Series] = msgspec.field(default_factory=list)


class _Answer(msgspec.Struct):
    status: str = ""
    error: str = ""
    data: _Data = msgspec.field(default_factory=_Data)


Moments = dict[float, dict[str, list[Sample]]]  # by time, then by instance


class PrometheusFeed(LiveFeed):
    """A LiveFeed over a Prometheus: `start` returns the past, `batches` what follows. Raises ClientError."""

    def __init__(
        self, connection: PrometheusConnection, history: float = HISTORY_SECONDS, *,
        interval: float = SECONDS, clock: Callable[[], float] = time.time,
        user_agent: str = f"ktui/{__version__} (observe)",
    ) -> None:  # fmt: skip
        super().__init__(interval, clock)
        self._client = ApiClient(connection, user_agent)
        self._connection = connection
        self._history = history
        self._families: dict[str, set[str]] = {}  # by instance
        self._started: dict[str, tuple[float, int]] = {}  # start time and restarts, by instance
        self._gates: dict[str, bool] = {}
        self._version = ""
        self._due = asyncio.Event()  # a query before the interval is over

    @property
    def warnings(self) -> list[str]:
        return self._connection.warnings

    async def start(self) -> list[AnyEvent]:
        """Return the past in at most MOST_POINTS pages per instance."""
        now = self._clock()
        step = max(LEAST_STEP, self._history / MOST_POINTS)
        times = {"start": f"{now - self._history:.3f}", "end": f"{now:.3f}", "step": f"{step:.0f}"}
        # The newest values, after the last step of the range.
        moments = await self._query("query_range", times)
        moments |= await self._query("query", {"time": f"{now:.3f}"})
        events = await self._pages(moments)
        if not events:
            raise ClientError(
                f"the Prometheus at {self._connection.url} has no metrics of a kube-apiserver ({ANCHOR})"
            )
        return [*self._server(), *events, self._status()]

    def refresh(self) -> None:
        """Query now instead of after the interval."""
        self._due.set()

    async def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]:
        """Yield new figures every few seconds. A failed query is reported and repeated."""
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        while end is None or loop.time() < end:
            left = self._interval if end is None else min(self._interval, end - loop.time())
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, left)):
                    await self._due.wait()
            self._due.clear()
            events: list[AnyEvent] = []
            try:
                moments = await self._query("query", {"time": f"{self._clock():.3f}"})
                events = await self._pages(moments)
                self.problem = ""
            except ClientError as error:
                self.problem = str(error)
            yield [*self._server(), *events, self._status()]

    async def close(self) -> None:
        await self._client.close()

    # Queries.

    async def _query(self, what: str, times: Mapping[str, str]) -> Moments:
        moments: Moments = {}
        series = 0
        for selector in selectors():
            for each in await self._result(f"/api/v1/{what}?{urlencode({'query': selector, **times})}"):
                series += 1
                if series > MOST_SERIES:
                    raise ClientError(f"{self._connection.url} has more than {MOST_SERIES:,} series")
                self._add(moments, each)
        return moments

    async def _result(self, path: str) -> list[_Series]:
        content, received = bytearray(), Received()
        self._load.requests += 1
        try:
            async for piece in self._client.read(path, "application/json", received):
                content += piece
                if len(content) > MOST_BYTES:
                    raise ClientError(f"{self._connection.url} answers with over {MOST_BYTES >> 20} MiB")
        finally:
            self._load.received_bytes += received.wire_bytes
            self._load.busy_ms += received.ms
        try:
            answer = await asyncio.to_thread(decode_json, bytes(content), _Answer)
        except DocumentError as error:
            raise ClientError(f"{self._connection.url} is not a Prometheus: {error}") from error
        if answer.status != "success":
            raise ClientError(f"{self._connection.url} answers: {answer.error[:300] or answer.status[:40]}")
        return answer.data.result

    def _add(self, moments: Moments, series: _Series) -> None:
        metric = series.metric
        name, instance = metric.get("__name__", ""), metric.get("instance", "")
        found = BY_SAMPLE.get(name)
        if found is None:
            return
        self._families.setdefault(instance, set()).add(found[0].name)
        labels = {label: text for label, text in metric.items() if label not in _OWN_LABELS}
        for at, text in series.values or ([series.value] if series.value is not None else []):
            with suppress(ValueError):
                if math.isfinite(value := float(text)):
                    moments.setdefault(at, {}).setdefault(instance, []).append(Sample(name, labels, value))

    # Events.

    async def _pages(self, moments: Moments) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        for at, instances in sorted(moments.items()):
            for instance, samples in sorted(instances.items()):
                families = self._families.get(instance, set())
                if ANCHOR not in families and "apiserver_cache_list_fetched_objects_total" not in families:
                    continue  # a scheduler, a metrics-server
                page = await asyncio.to_thread(_page, samples, families)
                self._version = page.version or self._version
                self._gates = page.gates or self._gates
                name = self._process_of(instance, page.process.get("started", 0.0))
                events += page_events(page, ReplicaScrape(at=at, replica=name, version=page.version))
        return events

    def _process_of(self, instance: str, started: float) -> str:
        """Return the replica's name: another one after a restart, as its counters start at 0 again."""
        known, restarts = self._started.get(instance, (started, 0))
        if started and known and abs(started - known) >= 1:
            restarts += 1
        self._started[instance] = (started or known, restarts)
        return f"{instance}, restart {restarts}" if restarts else instance

    def _server(self) -> list[AnyEvent]:
        server = LiveServer(
            context=self._connection.context, url=self._connection.url, origin="prometheus",
            version=self._version, gates=self._gates,
        )  # fmt: skip
        return self._announce(server)


def selectors() -> Iterator[str]:
    """Yield selectors for all needed series, each for a few families."""
    by_matcher: dict[str, list[Family]] = {}
    for family in ALL:
        by_matcher.setdefault(family.matcher, []).append(family)
    for matcher, families in by_matcher.items():
        for start in range(0, len(families), FAMILIES_A_QUERY):
            some = families[start : start + FAMILIES_A_QUERY]
            names = "|".join(f"{family.name}{suffix}" for family in some for suffix in family.samples)
            yield f'{{__name__=~"{names}"{f",{matcher}" if matcher else ""}}}'


def _page(samples: list[Sample], families: set[str]) -> ScrapePage:
    page = page_of(samples, families, 0)
    minor = minor_of(page.version) or inferred_minor(samples, families)
    page = page_of(samples, families, minor)
    page.version = page.version or (f"1.{minor}" if minor else "")
    return page


def inferred_minor(samples: Iterable[Sample], families: set[str]) -> int:
    """Return the oldest minor with these families, if kubernetes_build_info is not kept; 0: unknown.

    The minor decides whether storage LISTs include revision probes.
    """
    if any(sample.labels.get("storage") for sample in samples):
        return 37
    newest = max((family.since for family in ALL if family.name in families), default=0)
    return newest if newest > 24 else 0
