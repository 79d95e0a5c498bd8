"""The parts that every handler uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ktui.apiserver.call import Call
from ktui.apiserver.catalog import Catalog
from ktui.apiserver.chain import Authenticator, Authorizer, FlowControl
from ktui.apiserver.http.connections import Connections
from ktui.apiserver.large_requests import LargeRequests
from ktui.apiserver.parsing.pool import BodyParser
from ktui.apiserver.watches import OpenWatches
from ktui.cacher.cacher import Cacher
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.contract.events import ServerInfo
from ktui.contract.faults import Fault
from ktui.kube.resources import Resource, ResourceTable
from ktui.storage.browser import EtcdBrowser
from ktui.telemetry.bus import Bus
from ktui.wire.stored_codec import StoredCodec


class ServerFacts(Protocol):
    """Facts of the running server and its etcd."""

    def info(self) -> ServerInfo:
        """Return the current facts, which are also the first event of every telemetry stream."""

    def etcd_problem(self) -> str:
        """Return why etcd does not answer, in one sentence; "" while it does."""


class Faults(Protocol):
    """Faults of the etcd that this server started."""

    @property
    def active(self) -> list[Fault]: ...

    async def inject(self, fault: Fault) -> None:
        """Begin a fault; raise ValueError if it cannot begin, or EtcdError."""

    async def end(self) -> None: ...


class RequestLog(Protocol):
    """A log of requests: audit log or httplog. `kind` is "audit" or "http"."""

    kind: str

    @property
    def lost(self) -> int:
        """The number of lines that could not be written."""

    async def received(self, call: Call) -> None:
        """Log a request whose user is known."""

    def response_started(self, call: Call) -> None:
        """Log that the headers of a long-running request have been sent."""

    async def finished(self, call: Call) -> None:
        """Log that the response is complete or was broken off."""


async def _on_demand(table: ResourceTable) -> None:
    """Fill no cache in advance: each is filled at its first request."""


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a server.

    `service_cluster_ip_range` is the network of cluster IPs, unless one is stored. `warm` is awaited before
    the first request, with the resources that are served then. `faults` is None if ktui did not start this
    etcd, or the etcd holds a snapshot. `counts_quotas`: a controller of quotas runs here.
    `disabled_admission` are admission plugins that are off. `connections` are the figures of the HTTP server.
    """

    registry: Registry
    settings: Settings
    bus: Bus
    facts: ServerFacts
    etcd: EtcdBrowser
    codec: StoredCodec
    authenticator: Authenticator
    authorizer: Authorizer
    flow_control: FlowControl
    service_cluster_ip_range: str = "10.32.0.0/16"
    warm: Callable[[ResourceTable], Awaitable[None]] = _on_demand
    faults: Faults | None = None
    request_logs: Sequence[RequestLog] = ()
    counts_quotas: bool = False
    disabled_admission: frozenset[str] = frozenset()
    connections: Connections = field(default_factory=lambda: Connections(0))


@dataclass(frozen=True, slots=True)
class Server:
    """The parts that every handler uses. `watches` are the open ones, which end when the server stops."""

    services: Services
    catalog: Catalog
    watches: OpenWatches
    parser: BodyParser
    large_requests: LargeRequests

    def cacher(self, resource: Resource) -> Cacher:
        """Return the cacher of a resource, shared by all its versions."""
        return self.services.registry.for_resource(self.catalog.canonical(resource))
