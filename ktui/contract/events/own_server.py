"""Events of ktui's own server: requests, caches, WATCHes, changes on their way to them, and etcd."""

from __future__ import annotations

import msgspec

from ktui.contract.events.base import CostEvent, Count, Difference, Event, Milliseconds, Seconds, UnixTime


class ChainStage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One stage of the request chain, what it decided, and how long it took."""

    stage: str  # authentication | impersonation | flow control | authorization | admission
    decision: str
    ms: Milliseconds = 0.0


class RequestStarted(Event, frozen=True, kw_only=True, tag="request_started"):
    """A request that passed authentication. `id` is unique within the server's life."""

    id: Count
    verb: str  # GET LIST WATCH POST PUT PATCH DELETE …, normalised as in kube-apiserver's log
    path: str
    query: str  # raw, without "?"
    resource: str  # "pods", "ciliumnodes.cilium.io"; "" if it is not a resource request
    namespace: str
    name: str
    client: str  # short: the first word of the user agent, e.g. "kubectl"
    user_agent: str
    accept: str = ""  # the header; "" if it was not sent
    user: str = ""  # the authenticated user; "" if unknown
    level: str = ""  # the priority level of the request; "" without flow control
    peer: str = ""  # host:port of the client: tells apart clients with the same name
    audit_id: str = ""  # of the Audit-ID header: names the request in audit log and request log
    flow_schema: str = ""  # "" without flow control
    chain: list[ChainStage] = msgspec.field(default_factory=list)  # the stages before the handler, in order


class RouteStep(msgspec.Struct, frozen=True, gc=False):
    """One predicate of the decision trace; `phase` is the kube-apiserver function that evaluates it."""

    rule: str
    saw: str
    taken: bool
    phase: str = ""


class RequestRouted(Event, frozen=True, kw_only=True, tag="request_routed"):
    """The routing decision, before anything is read."""

    id: Count
    route: str  # cache | cache_snapshot | etcd | none
    reason_id: str
    reason: str
    steps: list[RouteStep]
    limit_honoured: bool | None = None
    consistency: str | None = None
    wait: str = "none"


class RequestFinished(CostEvent, frozen=True, kw_only=True, tag="request_finished"):  # type: ignore[misc]
    """The response is complete; for a WATCH, its stream has ended."""

    id: Count
    status: Count
    route: str  # as finally served: cache | cache_snapshot | etcd | none | "cache,etcd"
    reason_id: str = ""
    ms: Milliseconds
    # ms by phase: queue, wait, etcd, decode, filter, encode, send
    phases: dict[str, Milliseconds] = msgspec.field(default_factory=dict)
    seats: Count = 0
    peak_held: Count = 0  # the peak of bytes held: etcd's responses, objects, the body
    process_growth: Difference | None = None  # growth of the process in bytes; None: small, or not measured
    shared: bool = False  # other requests ran meanwhile and may have caused the growth
    initial: Count = 0  # WATCH: events until it was live
    initial_bytes: Count = 0
    initial_ms: Milliseconds = 0.0  # until the last initial event was sent (without any, the headers)
    error: str = ""  # the Status message of an error answer
    rv: str = ""  # list resourceVersion or object resourceVersion of the answer
    chain: list[ChainStage] = msgspec.field(default_factory=list)  # the stages of the handler: admission
    # Figures that are not known rather than 0, where the request was seen from outside (a trace).
    untold: list[str] = msgspec.field(default_factory=list)

    @property
    def seat_seconds(self) -> float:
        """Seats times the seconds for which they were held: from dispatch to the end (WATCH: until live)."""
        return self.seats * max(0.0, (self.initial_ms or self.ms) - self.phases.get("seats", 0.0)) / 1000.0


class CacheStatus(Event, frozen=True, kw_only=True, tag="cache"):
    """One resource's watch cache. Sent on change, at most 4 times a second per resource."""

    resource: str  # "pods", "ciliumnodes.cilium.io"
    state: str  # cold | initializing | ready | reinitializing | disabled
    rv: Count = 0
    objects: Count = 0
    bytes: Count = 0  # stored bytes of the objects held
    json_bytes: Count = 0  # of their JSON and Table rows, which are kept for the next answers
    json_evicted: Count = 0  # objects whose JSON was dropped to keep within the budget, since start
    oldest_rv: Count = 0
    capacity: Count = 0
    buffered: Count = 0  # events in the event buffer
    events: Count = 0  # received since start
    watchers: Count = 0
    waiting: Count = 0  # readers waiting for a revision
    snapshots: Count = 0
    loaded: Count = 0  # objects read so far while initializing
    loaded_bytes: Count = 0  # their stored bytes
    expected: Count = 0  # objects to read; 0 if unknown
    error: str = ""
    progress_requests: Count = 0
    # Unix time of etcd's last answer, if the cache serves reads although its watch of etcd is behind; else 0.
    stale_since: UnixTime = 0.0
    check: str = ""  # outcome of the last consistency check: success | failure | error; "" before the first
    checked_at: UnixTime = 0.0
    check_ms: Milliseconds = 0.0
    check_objects: Count = 0  # read from etcd by it
    check_bytes: Count = 0
    check_detail: str = ""  # the first difference, or why etcd could not be read


class ProgressTick(Event, frozen=True, kw_only=True, tag="progress_tick"):
    """A cache received a revision by an etcd progress notification, not by an event."""

    resource: str
    rv: Count


class WatcherOpened(Event, frozen=True, kw_only=True, tag="watcher_opened"):
    """A client's WATCH started; `id` is that of its request, `at` its start time."""

    id: Count
    resource: str
    since: str  # the requested resourceVersion, "" for none
    client: str
    namespace: str = ""
    name: str = ""
    selector: str = ""  # labelSelector and fieldSelector as the client wrote them
    form: str = ""  # "Table", "PartialObjectMetadata"; "" for the object itself
    route: str = ""  # cache | etcd
    timeout: Seconds = 0.0  # seconds after which the server ends it
    seats: Count = 0  # seats that it holds until it is live
    observed: bool = False  # known from traces, which do not count its events


class WatcherState(CostEvent, frozen=True, kw_only=True, tag="watcher"):  # type: ignore[misc]
    """The state of one WATCH, and its cost so far: the figures that its RequestFinished will have.

    At most once a second per watcher, and only if its numbers have changed.
    """

    id: Count
    resource: str
    buffered: Count = 0  # events that the client has not read yet
    capacity: Count = 0  # events that may wait for it before it counts as too slow; 0: unbounded
    delivered: Count = 0  # events sent so far, bookmarks and initial events included
    bookmarks: Count = 0
    made: Count = 0  # delivered events that were encoded for this watcher
    shared: Count = 0  # delivered events that were already encoded for another watcher
    live: bool = False  # past the initial events and the replay of the event buffer
    bytes: Count = 0  # sent so far
    initial: Count = 0  # events sent before it was live
    initial_bytes: Count = 0
    initial_ms: Milliseconds = 0.0  # until the last initial event was sent (without any, the headers)


class WatcherClosed(Event, frozen=True, kw_only=True, tag="watcher_closed"):
    """A WATCH ended, for the reason `cause`; the counters are those of WatcherState."""

    id: Count
    resource: str
    delivered: Count
    bookmarks: Count = 0
    cause: str = ""
    made: Count = 0
    shared: Count = 0


class FanOut(Event, frozen=True, kw_only=True, tag="fan_out"):
    """A sample of how one change was sent to the watchers, at most one per second and resource."""

    resource: str
    change: str  # ADDED | MODIFIED | DELETED
    rv: Count
    previous_rv: Count = 0  # of the object before the change
    namespace: str = ""
    name: str = ""
    watchers: Count = 0  # all live watchers of this cache
    concerned: Count = 0  # those matched by the dispatch index
    delivered: Count = 0  # watchers that it was sent to, after their selectors
    leaving: Count = 0  # those of `delivered` whose selector the object no longer matches
    tables: Count = 0  # those of `delivered` with a Table or PartialObjectMetadata
    plain_forms: Count = 0  # different encodings that the others use
    table_forms: Count = 0
    encodings: Count = 0  # encodings made


class EtcdCall(Event, frozen=True, kw_only=True, tag="etcd_call"):
    """One RPC from ktui to etcd. `request` is etcd's text form of it, without values."""

    op: str  # range | txn | compact | lease_grant | status | watch_create | watch_progress | …
    request: str
    request_id: Count = 0  # the API request that caused it; 0: ktui itself
    purpose: str = ""  # "list", "get", "probe", "reflector", "count", "browse", …
    count: Count = 0  # keys returned
    sent_bytes: Count = 0
    received_bytes: Count = 0
    ms: Milliseconds = 0.0
    revision: Count = 0
    error: str = ""


class EtcdUsage(Event, frozen=True, kw_only=True, tag="toll"):
    """The total load of ktui on this etcd since it connected."""

    rpcs: Count
    sent_bytes: Count
    received_bytes: Count


class EtcdHealth(Event, frozen=True, kw_only=True, tag="etcd_health"):
    """Whether etcd answers; if not, `detail` is one sentence.

    `alarm` says why it refuses writes, "" while it accepts them. `stream_recheck_at` (Unix seconds): when an
    etcd that has answered Unimplemented to a RangeStream is asked again; 0: it has not.
    """

    ok: bool
    detail: str = ""
    alarm: str = ""
    stream_recheck_at: Seconds = 0.0


class EtcdProgress(Event, frozen=True, kw_only=True, tag="progress"):
    """etcd's current revision, as last seen by any part of the server.

    `histories`: how often etcd's history was replaced. Then the revision went back, because etcd was
    emptied or restored from a backup, or because another cluster answers.
    """

    head: Count
    compact: Count = 0
    db_bytes: Count = 0
    in_use_bytes: Count = 0  # part of `db_bytes`; the rest are free pages, which defragmentation returns
    histories: Count = 0


class Prefix(Event, frozen=True, kw_only=True, tag="prefix"):
    """Keys under one etcd prefix. `bytes` is keys plus values; `exact` False: estimated from a sample and
    most probably between `low` and `high`."""

    prefix: str  # "/registry/pods/"
    resource: str = ""  # "" when unknown
    count: Count = 0
    bytes: Count = 0
    exact: bool = True
    low: Count = 0
    high: Count = 0
    leased: bool = False
