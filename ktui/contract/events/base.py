"""The base of all telemetry events."""

from __future__ import annotations

from typing import Annotated

import msgspec

# Limits for numbers from a recording or a foreign server: beyond them a number cannot be formatted,
# or is not a date. Integers are int64, as in Go: counts, bytes, revisions and ids.
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Difference = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
UnixTime = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]  # up to the year 9999
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """Base of all events.

    They contain no cycles, so the garbage collector need not track them (`gc=False`).
    """

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


class ServerInfo(Event, frozen=True, kw_only=True, tag="server"):
    """The server and its etcd. First event of every stream, sent again when it changes."""

    ktui_version: str
    kube_version: str
    etcd_version: str
    etcd_kind: str  # "embedded" | "external" | "snapshot"
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
