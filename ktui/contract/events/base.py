"""The base of all telemetry events, and the figures of a request's cost, each defined only here.

The server counts the figures in its meter, events carry them, and clients add them up. To add one: define it
in `Cost`, count it where the work is done (`current_meter().NAME += …`), show it, and describe it in
docs/meter.md.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

# Limits for numbers from a recording or a foreign server: beyond them a number cannot be formatted,
# or is not a date. Integers are int64, as in Go: counts, bytes, revisions and ids.
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Difference = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
UnixTime = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]  # up to the year 9999
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """Base of all events. They have no cycles, so the garbage collector ignores them (`gc=False`)."""

    seq: Count = 0
    at: UnixTime = 0.0


class Dropped(Event, frozen=True, kw_only=True, tag="dropped"):
    """This subscriber was too slow: `count` events were not sent to it."""

    count: Count


class Marker(Event, frozen=True, kw_only=True, tag="marker"):
    """A marked moment: set by a user while recording, by a workload, or by a server that injects faults.

    `ktui record` sets one at each new finding, with its severity (1 notice, 2 warning, 3 critical; 0: not
    a finding) and its cost, which ranks findings of one severity.
    """

    text: str = ""
    severity: Annotated[int, msgspec.Meta(ge=0, le=3)] = 0
    cost: Annotated[float, msgspec.Meta(ge=0, le=1e18)] = 0.0


class MarkerRequest(msgspec.Struct, frozen=True):
    """Body of a request to publish a Marker."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


KUBE_APISERVER = "kube-apiserver"


class ServerInfo(Event, frozen=True, kw_only=True, tag="server"):
    """The server and its etcd. First event of every stream, sent again when it changes."""

    ktui_version: str
    kube_version: str
    etcd_version: str
    etcd_kind: str  # "embedded" | "external" | "snapshot" | KUBE_APISERVER
    endpoints: list[str]
    writable: bool
    progress: str  # "supported" | "assumed" | "unsupported"
    etcd_prefix: str = "/registry"
    pid: Count = 0
    name: str = ""  # the name in the header: "demo", a file name, a host
    # Gates that override the defaults of `kube_version`.
    feature_gates: dict[str, bool] = msgspec.field(default_factory=dict)
    filling: str = ""  # progress of creating the demo cluster, as text for users
    # Sentences for users about the source: a snapshot without a hash, an etcd without Kubernetes data.
    warnings: list[str] = msgspec.field(default_factory=list)

    @property
    def scraped(self) -> bool:
        """True for a kube-apiserver that is not ktui's: only its metrics or traces are read."""
        return self.etcd_kind == KUBE_APISERVER

    def with_endpoint(self, url: str) -> ServerInfo:
        """Return the event with one more source, for example `otlp://…` for traces."""
        if url in self.endpoints:
            return self
        return msgspec.structs.replace(self, endpoints=[*self.endpoints, url])


class TaskFailures(Event, frozen=True, kw_only=True, tag="task_failures"):
    """Background tasks of the server that have failed (a bug in ktui) and not recovered yet.

    Sent when one fails and when one recovers: `failures` is empty while all of them run.
    """

    failures: list[str]  # one sentence each, with the error and the time of the next attempt


class CostRatios:
    """Ratios of the figures."""

    __slots__ = ()

    etcd_bytes: int
    cached_bytes: int
    encoded_bytes: int

    @property
    def processed_bytes(self) -> int:
        """Bytes that the control plane processed: read from etcd, or tested in the cache."""
        return self.etcd_bytes + self.cached_bytes

    @property
    def amplification(self) -> float | None:
        """Bytes processed per byte returned (before gzip); None if nothing was returned."""
        return self.processed_bytes / self.encoded_bytes if self.encoded_bytes else None


class Cost(CostRatios, msgspec.Struct):
    """The cost of one request, or the sum of several."""

    fetched: Count = 0  # objects read from cache or etcd
    evaluated: Count = 0  # objects that the selectors were evaluated for
    matched: Count = 0  # objects that matched them
    returned: Count = 0  # objects sent
    etcd_gets: Count = 0  # reads of etcd as kube-apiserver counts them, whatever their number of RPCs
    etcd_lists: Count = 0
    etcd_rpcs: Count = 0
    etcd_keys: Count = 0
    etcd_bytes: Count = 0  # as received in etcd's responses
    cached_bytes: Count = 0  # stored size of the objects tested in a cache (beyond a page: of references)
    decoded: Count = 0  # objects that were parsed for the request
    decoded_bytes: Count = 0  # their stored bytes
    encoded_bytes: Count = 0  # the body before gzip
    sent_bytes: Count = 0  # the body after gzip
    imputed_bytes: Count = 0  # of cached_bytes: objects that an index of ktui's skipped, at their mean size
    cpu_ms: Milliseconds = 0.0  # of the request's steps on the event loop, and of gzip in its thread


FIGURES = Cost.__struct_fields__
COUNTS = tuple(field.name for field in msgspec.structs.fields(Cost) if field.type == Count)
"""The figures that are whole numbers: all except times."""

figures: Callable[[Cost], tuple[Any, ...]] = attrgetter(*FIGURES)
"""Returns all figures in order: the first positional arguments of any struct with a cost."""


if TYPE_CHECKING:
    # mypy takes Cost for a base that is not frozen, here and where CostEvent is the base.
    class CostEvent(Cost, Event, frozen=True):  # type: ignore[misc]
        """An event with a cost: its figures are fields of the event."""

else:
    # Two structs with fields cannot both be base classes: the figures are copied instead.
    CostEvent = msgspec.defstruct(
        "CostEvent",
        [(field.name, field.type, field.default) for field in msgspec.structs.fields(Cost)],
        bases=(CostRatios, Event),
        module=__name__,
        frozen=True,
        gc=False,
    )
