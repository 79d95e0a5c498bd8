"""What a kube-apiserver reports besides its metrics: version, readiness, replicas; and events about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict

import msgspec

from ktui import __version__
from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.client.kube_connection import KubeConnection
from ktui.client.list_stream import ItemList
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.base import KUBE_APISERVER
from ktui.contract.events.live import FlowConfig, LiveServer, LiveStatus, ReplicaScrape
from ktui.contract.flow_config import flow_config
from ktui.contract.flow_config import paths as flow_paths
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.gates import GATES
from ktui.kube.versions import BehaviourError, behaviour_of
from ktui.live.access import Refusals
from ktui.live.page_figures import MOST, ScrapePage
from ktui.live.replica_pool import TEXT, Load, ReplicaConnection

MOST_CHECKS = 50  # failed readiness checks that are kept
VERSION, READY = "/version", "/readyz?verbose"
LEASES = (
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    "?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver&resourceVersion=0"
)
_IDENTITY = "apiserver.kubernetes.io/identity"


class _Version(msgspec.Struct):
    major: str = ""
    minor: str = ""


class ServerDetails:
    """The server's details, set by `read_version`, by `refresh` every minute, and by each scraped page."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.version = ""
        self.minor = 0
        self.expected: int | None = None  # replicas that hold a Lease
        self.not_ready: list[str] = []
        self.gates: dict[str, bool] = {}
        self.refusals = Refusals(clock)

    async def read_version(self, connection: ReplicaConnection) -> None:
        """Read the version. Raises ClientError if this is no kube-apiserver, or refuses the credentials."""
        try:
            found = decode_json(await connection.document(VERSION), _Version)
        except RefusedError as error:
            if error.status == 401:
                raise
            self.refusals.add(VERSION, error)
            return
        except DocumentError as error:
            raise ClientError(
                f"{connection.url} is not a kube-apiserver: its /version is not valid: {error}"
            ) from error
        minor = "".join(character for character in found.minor if character.isdecimal())
        if not found.major.isdecimal() or not minor:
            raise ClientError(
                f"{connection.url} is not a kube-apiserver: its /version has no major and minor"
            )
        self.version, self.minor = f"{found.major}.{minor}", int(minor[:4])

    async def refresh(self, connection: ReplicaConnection) -> None:
        """Read readiness and Leases; what cannot be read is not changed."""
        try:
            self.not_ready = await self._failed_checks(connection)
            if not self.refusals.refused(LEASES):
                leases = decode_json(await connection.document(LEASES), ItemList)
                labels = [lease.metadata.labels or {} for lease in leases.items or ()]
                replicas = sum(found.get(_IDENTITY) == "kube-apiserver" for found in labels)
                self.expected = replicas or None
        except RefusedError as error:
            self.refusals.add(LEASES, error)
        except (ClientError, DocumentError):
            return

    async def _failed_checks(self, connection: ReplicaConnection) -> list[str]:
        try:
            await connection.document(READY, TEXT)
        except RefusedError as error:
            if error.status in (401, 403, 404):
                self.refusals.add(READY, error)
                return []
            lines = error.content.decode("utf-8", "replace").splitlines()
            failed = [line[3:].partition(" ")[0] for line in lines if line.startswith("[-]")]
            return failed[:MOST_CHECKS] or [f"HTTP {error.status}"]
        return []

    async def read_flow(self, connection: ReplicaConnection) -> FlowConfig | None:
        """Return the configuration of flow control; None if it cannot be read."""
        if not (paths := flow_paths(self.minor)):
            return None
        found = []
        for path in paths:
            if self.refusals.refused(path):
                return None
            try:
                found.append(await connection.document(path))
            except ClientError as error:
                if isinstance(error, RefusedError):
                    self.refusals.add(path, error)
                return None
        try:
            return flow_config(*found)
        except DocumentError:
            return None

    def add_page(self, page: ScrapePage) -> None:
        """Set feature gates and version from a page that has them."""
        self.gates = page.gates or self.gates
        self.version = page.version or self.version

    def server(self, target: KubeConnection | None) -> LiveServer:
        """Return the details as the event about the server, without its time."""
        context, url = (target.context, target.url) if target is not None else ("", "")
        return LiveServer(
            context=context, url=url, origin="metrics", version=self.version, expected=self.expected,
            gates=self.gates, denied=self.refusals.denied, not_ready=self.not_ready,
        )  # fmt: skip


class LiveFeed(ABC):
    """A source of live figures. All methods raise ClientError.

    `start` connects and returns the first events; `batches` yields more for `seconds` (None: without end).
    `refresh` asks for new figures before the `interval` (seconds) is over.
    """

    def __init__(self, interval: float, clock: Callable[[], float]) -> None:
        self.problem = ""
        self._interval, self._clock = interval, clock
        self._load = Load()
        self._announced: LiveServer | None = None

    @property
    @abstractmethod
    def warnings(self) -> list[str]: ...

    @abstractmethod
    async def start(self) -> list[AnyEvent]: ...

    @abstractmethod
    def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]: ...

    @abstractmethod
    def refresh(self) -> None: ...

    @abstractmethod
    async def close(self) -> None: ...

    def _announce(self, server: LiveServer) -> list[AnyEvent]:
        """Return two events about `server`, which has no time yet; none if it has not changed."""
        if server == self._announced:
            return []
        self._announced, at = server, self._clock()
        return [server_info(server, at, self.warnings), msgspec.structs.replace(server, at=at)]

    def _status(self) -> LiveStatus:
        load = asdict(self._load)
        return LiveStatus(at=self._clock(), interval=self._interval, problem=self.problem, **load)


def server_info(server: LiveServer, at: float, warnings: list[str]) -> ServerInfo:
    """Return the ServerInfo for header, Lab and Versions; gates that ktui does not know are left out."""
    known = {name: on for name, on in server.gates.items() if name in GATES}
    version = server.version
    defaults: Mapping[str, bool] = {}
    with suppress(BehaviourError):  # older or newer than the rules
        if version:
            behaviour = behaviour_of(version)
            version, defaults = behaviour.version, behaviour.gates
    return ServerInfo(
        at=at, ktui_version=__version__, kube_version=version, etcd_version="", etcd_kind=KUBE_APISERVER,
        endpoints=[server.url], writable=False, progress="assumed", name=server.context,
        feature_gates={name: on for name, on in known.items() if name in defaults and on != defaults[name]},
        warnings=warnings,
    )  # fmt: skip


_OF_PROCESS = ("memory_bytes", "storage_bytes", "hidden_metrics", "reading", "writing", "tls_errors")


def page_events(page: ScrapePage, replica: ReplicaScrape) -> list[AnyEvent]:
    """Return the events of a page with the time of `replica`, to which the process' figures are added."""

    def number(figure: str) -> int | None:
        value = page.process.get(figure)
        return int(value) if value is not None and 0 <= value < MOST else None

    row = msgspec.structs.replace(
        replica,
        started=number("started") or 0,
        cpu_seconds=cpu if 0 <= (cpu := page.process.get("cpu", -1.0)) < 1e12 else None,
        **{figure: number(figure) for figure in _OF_PROCESS},
        **page.admission,
    )
    return [msgspec.structs.replace(event, at=replica.at) for event in page.events(row)]
