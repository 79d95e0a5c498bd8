"""Scrapes a kube-apiserver's replicas, with GETs only, and turns what they answer into telemetry events.

One connection is kept for each replica; fresh ones find the replicas that were not met yet. The server is
spared: a page every 15 seconds, less often when it answers slowly or with 429.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field

import msgspec

from ktui import __version__
from ktui.client.api import ApiClient, Received, RefusedError
from ktui.client.connection import ClientError
from ktui.client.kube_connection import KubeConnection
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.live import Denied, LiveServer, LiveStatus, ReplicaScrape, RequestsDump
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json
from ktui.kube.gates import GATES
from ktui.kube.versions import BehaviourError, behaviour_of
from ktui.live.access import denied
from ktui.live.dumps import requests_of
from ktui.live.exposition import Exposition, ExpositionError
from ktui.live.families import WANTED
from ktui.live.figures import ScrapePage, page_of
from ktui.live.replicas import Replicas, follows

SECONDS = 15.0  # between two scrapes of a replica
MOST_SECONDS = 240.0
SLOW_MS = 1_000.0  # a scrape that takes longer: the next ones come less often
DUMP_SECONDS = 1.0
FACTS_SECONDS = 60.0  # between two looks at readiness and Leases, and for a replica not met yet
RETRY_DENIED_SECONDS = 300.0
STATUS_SECONDS = 5.0
IDLE_SECONDS = 300.0  # that a connection is kept between scrapes
MOST_REPLICAS = 16
MOST_CHECKS = 50  # of readiness that are named
STRANGERS = 3  # fresh connections without a new replica after which no more are opened
MOST_PAGE_BYTES = 512 << 20
MOST_DOCUMENT_BYTES = 8 << 20
SLICE = 32 * 1024  # of a page that is parsed at a time: under 2 ms
METRICS, VERSION, READY = "/metrics", "/version", "/readyz?verbose"
DUMP = "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1"
LEASES = (
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    "?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver&resourceVersion=0"
)
_TEXT, _JSON = "text/plain;version=0.0.4;q=1,*/*;q=0.1", "application/json"
_START_TIME = "process_start_time_seconds"
_LAST_FAMILY = b"process_t"  # pages are sorted by name: a whole one goes beyond the process' start time

Connect = Callable[[], KubeConnection]  # reads the kubeconfig; runs a program for credentials: in a thread


class _Version(msgspec.Struct):
    major: str = ""
    minor: str = ""


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Lease(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Leases(msgspec.Struct):
    items: list[_Lease] | None = None


@dataclass(slots=True)
class ReplicaConnection:
    """One connection, and the replica at its other end once that is known."""

    client: ApiClient
    replica: str = ""


@dataclass(slots=True)
class Scrape:
    """A page with the facts of its transport."""

    page: ScrapePage
    at: float
    ms: float
    bytes: int
    lines: int


@dataclass(slots=True)
class ServerDetails:
    """What is known of the server beside its figures."""

    version: str = ""
    minor: int = 0
    expected: int | None = None
    not_ready: list[str] = field(default_factory=list)
    gates: dict[str, bool] = field(default_factory=dict)
    denied: dict[str, Denied] = field(default_factory=dict)


class Scraper:
    """Call `start`, then read `batches`; `close` at the end. All raise ClientError."""

    def __init__(
        self,
        connect: Connect,
        interval: float = SECONDS,
        *,
        clock: Callable[[], float] = time.time,
        user_agent: str = f"ktui/{__version__} (observe)",
    ) -> None:
        self._connect = connect
        self._given = self._interval = interval
        self._clock = clock
        self._user_agent = user_agent
        self._connection: KubeConnection | None = None
        self._lanes: list[ReplicaConnection] = []
        self._replicas = Replicas()
        self.facts = ServerDetails()
        self.problem = ""
        self._requests = 0
        self._received = 0
        self._busy_ms = 0.0
        self._looked = False  # for replicas behind fresh connections
        self._told: LiveServer | None = None
        self._barred_at: dict[str, float] = {}  # paths that were refused, and when

    @property
    def warnings(self) -> list[str]:
        return self._connection.warnings if self._connection is not None else []

    # Life.

    async def start(self) -> list[AnyEvent]:
        """Connect, and ask for the version: the first events."""
        self._connection = await asyncio.to_thread(self._connect)
        self._lanes = [self._lane()]
        await self._ask_version()
        await self._ask_facts()
        return self._who()

    async def close(self) -> None:
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            await lane.client.close()

    async def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]:
        """Events for `seconds`, with a scrape at the beginning and at the end; None: for ever.

        A scrape that fails is reported and tried again.
        """
        loop = asyncio.get_running_loop()
        yield await self.scrape()
        scraped = told = faced = loop.time()
        end = None if seconds is None else scraped + seconds
        while end is None or loop.time() < end:
            left = DUMP_SECONDS if end is None else end - loop.time()
            await asyncio.sleep(max(0.0, min(DUMP_SECONDS, left)))
            if events := await self.dump():
                yield events
            now = loop.time()
            if now - faced >= FACTS_SECONDS:
                faced = now
                await self._ask_facts()
                yield self._who()
            if now - scraped >= self._interval:
                scraped = told = now
                yield await self.scrape()
            elif now - told >= STATUS_SECONDS:
                told = now
                yield [self._status()]
        if end is not None:
            yield await self.scrape()

    async def scrape(self) -> list[AnyEvent]:
        """Every replica once, and those that fresh connections find."""
        events: list[AnyEvent] = []
        if self._barred(METRICS):
            return [self._status()]
        try:
            for lane in list(self._lanes):
                scrape = await self._page(lane)
                lane.replica = self._replicas.identify(scrape.page, lane.replica)
                events += self._events(scrape, lane.replica)
            await self._drop_doubles()
            events += await self._find_others()
            self.problem = ""
        except RefusedError as error:
            await self._refused(METRICS, error)
        except ClientError as error:
            await self._failed(error)
        return [*events, *self._who(), self._status()]

    async def dump(self) -> list[AnyEvent]:
        """The requests that execute or wait, of each replica."""
        events: list[AnyEvent] = []
        if self._barred(DUMP) or self.problem:
            return events
        for lane in self._lanes:
            if not lane.replica:
                continue
            try:
                at, content = self._clock(), await self._document(lane, DUMP, _TEXT)
            except RefusedError as error:
                self._bar(DUMP, error)
                return self._who()
            except ClientError:
                return events  # the next scrape tells why
            requests = requests_of(content.decode("utf-8", "replace"))
            events.append(RequestsDump(at=at, replica=lane.replica, requests=requests))
        return events

    # Replicas.

    async def _drop_doubles(self) -> None:
        """A connection that the network closed is opened again, perhaps to a replica that has one."""
        kept: dict[str, ReplicaConnection] = {}
        for lane in self._lanes:
            if kept.setdefault(lane.replica, lane) is not lane:
                await lane.client.close()
                self._looked = False
        self._lanes = list(kept.values())

    async def _find_others(self) -> list[AnyEvent]:
        """Open connections until several in a row meet only replicas that are known."""
        events: list[AnyEvent] = []
        missing = len(self._lanes) < (self.facts.expected or 0)
        strangers = (STRANGERS - 1 if missing else STRANGERS) if self._looked else 0
        self._looked = True
        while strangers < STRANGERS and len(self._lanes) < MOST_REPLICAS:
            lane = self._lane()
            try:
                scrape = await self._page(lane)
                name = await self._stranger(scrape)
            except ClientError:
                await lane.client.close()
                raise
            if not name:
                strangers += 1
                await lane.client.close()
                continue
            lane.replica = name
            self._lanes.append(lane)
            events += self._events(scrape, name)
        return events

    async def _stranger(self, scrape: Scrape) -> str:
        """The name of a new replica that sent this page; "" when it is one that has a lane.

        One that has counted more of everything than a known one might be it, some moments later: then the
        known one is scraped again, and it must be ahead.
        """
        name = self._replicas.candidate(scrape.page)
        if not name:
            return self._replicas.add(scrape.page)
        lane = next((lane for lane in self._lanes if lane.replica == name), None)
        if lane is None:
            self._replicas.identify(scrape.page, name)
            return name
        again = await self._page(lane)
        if not self._replicas.may_be(name, again.page):
            return ""  # that connection leads elsewhere by now: not known which one it was
        if follows(again.page, scrape.page):
            self._replicas.identify(again.page, name)
            return ""
        return self._replicas.add(scrape.page)

    def _lane(self) -> ReplicaConnection:
        if self._connection is None:
            raise ClientError("not connected yet")
        return ReplicaConnection(ApiClient(self._connection, self._user_agent, idle_seconds=IDLE_SECONDS))

    # Requests.

    async def _page(self, lane: ReplicaConnection) -> Scrape:
        at, received, reader = self._clock(), Received(), Exposition(WANTED)
        try:
            async for piece in self._read(lane, METRICS, _TEXT, received):
                if reader.bytes > MOST_PAGE_BYTES:
                    raise ExpositionError(f"it has more than {MOST_PAGE_BYTES >> 20} MiB")
                for start in range(0, len(piece), SLICE):
                    reader.feed(piece[start : start + SLICE])
                    await asyncio.sleep(0)
            reader.finish()
            if reader.last_family < _LAST_FAMILY and _START_TIME not in reader.families:
                raise ExpositionError("the page is incomplete")
        except ExpositionError as error:
            raise ClientError(f"/metrics of {lane.client.connection.url} cannot be used: {error}") from error
        page = await asyncio.to_thread(page_of, reader.samples, reader.families, self.facts.minor)
        self._slow_down(received.ms)
        return Scrape(page, at, received.ms, reader.bytes, reader.lines)

    async def _document(self, lane: ReplicaConnection, path: str, accept: str = _JSON) -> bytes:
        content, received = bytearray(), Received()
        async for piece in self._read(lane, path, accept, received):
            content += piece
            if len(content) > MOST_DOCUMENT_BYTES:
                raise ClientError(f"the answer to {path} has more than {MOST_DOCUMENT_BYTES >> 20} MiB")
        return bytes(content)

    async def _read(
        self, lane: ReplicaConnection, path: str, accept: str, received: Received
    ) -> AsyncGenerator[bytes, None]:
        """Every request goes this way: what it costs is added to ktui's load."""
        self._requests += 1
        try:
            async for piece in lane.client.read(path, accept, received):
                yield piece
        finally:
            self._received += received.wire_bytes
            self._busy_ms += received.ms

    # What the server is.

    async def _ask_version(self) -> None:
        try:
            found = decode_json(await self._document(self._lanes[0], VERSION), _Version)
        except RefusedError as error:
            if error.status == 401:
                raise
            self._bar(VERSION, error)
            return
        except DocumentError as error:
            url = self._lanes[0].client.connection.url
            raise ClientError(f"{url} is not a kube-apiserver: its /version is not valid: {error}") from error
        minor = "".join(character for character in found.minor if character.isdecimal())
        if not found.major.isdecimal() or not minor:
            url = self._lanes[0].client.connection.url
            raise ClientError(f"{url} is not a kube-apiserver: its /version has no major and minor")
        self.facts.version, self.facts.minor = f"{found.major}.{minor}", int(minor[:4])

    async def _ask_facts(self) -> None:
        """Readiness, and how many replicas there are; what cannot be asked is left as it was."""
        try:
            self.facts.not_ready = await self._not_ready()
            if not self._barred(LEASES):
                leases = decode_json(await self._document(self._lanes[0], LEASES), _Leases)
                names = [(item.metadata.labels or {}) for item in leases.items or ()]
                known = [label for label in names if label.get(_IDENTITY) == "kube-apiserver"]
                self.facts.expected = len(known) or None
        except RefusedError as error:
            self._bar(LEASES, error)
        except (ClientError, DocumentError):
            return

    async def _not_ready(self) -> list[str]:
        try:
            await self._document(self._lanes[0], READY, _TEXT)
        except RefusedError as error:
            if error.status in (401, 403, 404):
                self._bar(READY, error)
                return []
            lines = error.content.decode("utf-8", "replace").splitlines()
            failed = [text[3:].partition(" ")[0] for text in lines if text.startswith("[-]")]
            return failed[:MOST_CHECKS] or [f"HTTP {error.status}"]
        return []

    def _who(self) -> list[AnyEvent]:
        facts, connection = self.facts, self._connection
        url = connection.url if connection is not None else ""
        name = connection.context if connection is not None else ""
        now = self._clock()
        server = LiveServer(
            context=name,
            url=url,
            origin="metrics",
            version=facts.version,
            expected=facts.expected,
            gates=facts.gates,
            denied=list(facts.denied.values()),
            not_ready=facts.not_ready,
        )
        if server == self._told:
            return []
        self._told = server
        return [server_info(server, now, self.warnings), msgspec.structs.replace(server, at=now)]

    def _status(self) -> LiveStatus:
        return LiveStatus(
            at=self._clock(),
            interval=self._interval,
            problem=self.problem,
            requests=self._requests,
            received_bytes=self._received,
            busy_ms=self._busy_ms,
        )

    def _events(self, scrape: Scrape, replica: str) -> list[AnyEvent]:
        page, process = scrape.page, scrape.page.process
        if page.gates:
            self.facts.gates = page.gates
        if page.version:
            self.facts.version = page.version
        row = ReplicaScrape(
            replica=replica,
            version=page.version or self.facts.version,
            started=_number(process, "started") or 0,
            page_bytes=scrape.bytes,
            page_lines=scrape.lines,
            ms=scrape.ms,
            memory_bytes=_number(process, "memory_bytes"),
            storage_bytes=_number(process, "storage_bytes"),
            hidden_metrics=_number(process, "hidden_metrics"),
            reading=_number(process, "reading"),
            writing=_number(process, "writing"),
        )
        return [msgspec.structs.replace(event, at=scrape.at) for event in page.events(row)]

    # What goes wrong.

    def _slow_down(self, ms: float) -> None:
        if ms > SLOW_MS:
            self._interval = min(self._interval * 2, MOST_SECONDS)
        elif self._interval > self._given:
            self._interval = max(self._given, self._interval / 2)

    async def _refused(self, path: str, error: RefusedError) -> None:
        if error.status == 401:
            await self._reconnect()  # credentials expire: the kubeconfig may give new ones
        if error.status == 403:
            self._bar(path, error)
            return
        if error.status == 429:
            self._interval = min(max(self._interval * 2, float(error.retry_after)), MOST_SECONDS)
        self.problem = f"{path}: {error}"

    async def _failed(self, error: ClientError) -> None:
        """The connections are of no use any more; the next scrape opens others."""
        self.problem = str(error)
        await self._reconnect()

    async def _reconnect(self) -> None:
        await self.close()
        self._looked = False
        try:
            self._connection = await asyncio.to_thread(self._connect)
        except ClientError as error:
            self.problem = str(error)
        self._lanes = [self._lane()]

    def _bar(self, path: str, error: RefusedError) -> None:
        self.facts.denied[path.partition("?")[0]] = denied(path, error.status, str(error))
        self._barred_at[path] = self._clock()

    def _barred(self, path: str) -> bool:
        """Whether it was refused lately; after some minutes it is tried again."""
        at = self._barred_at.get(path)
        if at is not None and self._clock() - at > RETRY_DENIED_SECONDS:
            del self._barred_at[path]
            self.facts.denied.pop(path.partition("?")[0], None)
            at = None
        return at is not None


_IDENTITY = "apiserver.kubernetes.io/identity"


def server_info(server: LiveServer, at: float, warnings: list[str]) -> ServerInfo:
    """The same as header, Lab and Versions know a server; gates that ktui does not know are left out."""
    known = {name: on for name, on in server.gates.items() if name in GATES}
    try:
        version = behaviour_of(server.version).version if server.version else ""
        defaults = behaviour_of(server.version).gates if server.version else {}
    except BehaviourError:  # older or newer than the rules
        version, defaults = server.version, {}
    return ServerInfo(
        at=at,
        ktui_version=__version__,
        kube_version=version,
        etcd_version="",
        etcd_kind="kube-apiserver",
        endpoints=[server.url],
        writable=False,
        progress="assumed",
        name=server.context,
        feature_gates={name: on for name, on in known.items() if name in defaults and on != defaults[name]},
        warnings=warnings,
    )


def _number(process: dict[str, float], figure: str) -> int | None:
    value = process.get(figure)
    return int(value) if value is not None and 0 <= value < 1 << 63 else None
