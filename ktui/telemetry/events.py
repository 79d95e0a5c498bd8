"""The telemetry stream: every decision and every cost, as small typed events.

One JSON object a line, tagged by `type`. Readers skip types and fields they do
not know, so that an older ktui can read a newer recording. Times are seconds:
`at` is wall time (Unix), `ms` are durations in milliseconds. Byte counts are
bytes. `seq` is given by the bus, gapless within one server's life: a gap that a
reader sees is what was dropped.
"""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all events."""

    seq: int = 0
    at: float = 0.0


class ServerInfo(Event, frozen=True, kw_only=True, tag="server"):
    """Who serves, over which etcd. First event of every stream, again when it changes."""

    ktui_version: str
    kube_version: str
    etcd_version: str
    etcd_kind: str  # "embedded" | "external" | "snapshot"
    endpoints: list[str]
    writable: bool
    progress: str  # "supported" | "assumed" | "unsupported"
    etcd_prefix: str = "/registry"
    pid: int = 0
    name: str = ""  # what the header calls it: "demo", a file name, a host
    feature_gates: dict[str, bool] = {}  # those that differ from the defaults of `kube_version`
    warnings: list[str] = []  # about the source, for people: a snapshot without a hash, no Kubernetes in it


class RequestStarted(Event, frozen=True, kw_only=True, tag="request_started"):
    """A request passed authentication. `id` is unique within the server's life."""

    id: int
    verb: str  # GET LIST WATCH POST PUT PATCH DELETE …, normalised as in kube-apiserver's log
    path: str
    query: str  # raw, without "?"
    resource: str  # "pods", "ciliumnodes.cilium.io"; "" when not a resource request
    namespace: str
    name: str
    client: str  # short: the first word of the user agent, e.g. "kubectl"
    user_agent: str


class RouteStep(msgspec.Struct, frozen=True):
    """One predicate of a decision's walk; `phase` is the function of kube-apiserver that asks it."""

    rule: str
    saw: str
    taken: bool
    phase: str = ""


class RequestRouted(Event, frozen=True, kw_only=True, tag="request_routed"):
    """The routing decision, before anything was read."""

    id: int
    route: str  # cache | cache_snapshot | etcd | none
    reason_id: str
    reason: str
    steps: list[RouteStep]
    limit_honoured: bool | None = None
    consistency: str | None = None
    wait: str = "none"


class RequestFinished(Event, frozen=True, kw_only=True, tag="request_finished"):
    """The answer is out (for a WATCH: the stream has ended)."""

    id: int
    status: int
    route: str  # as finally answered: cache | cache_snapshot | etcd | none | "cache,etcd"
    reason_id: str = ""
    ms: float
    phases: dict[str, float] = {}  # ms by phase: queue, wait, etcd, decode, filter, encode, send
    fetched: int = 0
    evaluated: int = 0
    matched: int = 0
    returned: int = 0
    etcd_gets: int = 0
    etcd_lists: int = 0
    etcd_rpcs: int = 0
    etcd_keys: int = 0
    etcd_bytes: int = 0  # as etcd's answers came in
    cached_bytes: int = 0  # stored bytes of the objects taken from a cache
    decoded_bytes: int = 0  # stored bytes that had to be parsed for this request
    encoded_bytes: int = 0  # the body before gzip
    sent_bytes: int = 0  # the body after gzip
    seats: int = 0
    busy_ms: float = 0.0  # for which its own steps ran on the event loop, and gzip in its thread
    initial: int = 0  # WATCH: events until it was live
    initial_bytes: int = 0
    initial_ms: float = 0.0  # until the last of them was out: so long flow control holds the seats
    error: str = ""  # the Status message of an error answer
    rv: str = ""  # list resourceVersion or object resourceVersion of the answer

    @property
    def processed_bytes(self) -> int:
        """What the control plane took in hand: out of etcd and out of the cache."""
        return self.etcd_bytes + self.cached_bytes

    @property
    def amplification(self) -> float | None:
        """Bytes processed for each byte returned (before gzip); None when nothing was returned."""
        return self.processed_bytes / self.encoded_bytes if self.encoded_bytes else None

    @property
    def seat_seconds(self) -> float:
        """Seats times the seconds for which they were held: a WATCH gives them back once it is live."""
        return self.seats * (self.initial_ms or self.ms) / 1000.0


class EtcdCall(Event, frozen=True, kw_only=True, tag="etcd_call"):
    """One RPC that ktui made. `request` is etcd's own text form, values left out."""

    op: str  # range | txn | compact | lease_grant | status | watch_create | watch_progress | …
    request: str
    request_id: int = 0  # the API request that caused it; 0: ktui's own housekeeping
    purpose: str = ""  # "list", "get", "probe", "reflector", "count", "browse", …
    count: int = 0  # keys returned
    sent_bytes: int = 0
    received_bytes: int = 0
    ms: float = 0.0
    revision: int = 0
    error: str = ""


class Toll(Event, frozen=True, kw_only=True, tag="toll"):
    """What ktui itself has cost this etcd since it attached."""

    rpcs: int
    sent_bytes: int
    received_bytes: int


class EtcdHealth(Event, frozen=True, kw_only=True, tag="etcd_health"):
    """Whether etcd answers; `detail` is one clear sentence when it does not."""

    ok: bool
    detail: str = ""


class Progress(Event, frozen=True, kw_only=True, tag="progress"):
    """etcd's head revision, as last seen by anybody in the server."""

    head: int
    compact: int = 0
    db_bytes: int = 0


class CacheState(Event, frozen=True, kw_only=True, tag="cache"):
    """One resource's watch cache. Sent on change, at most 4 times a second a resource."""

    resource: str  # "pods", "ciliumnodes.cilium.io"
    state: str  # cold | initializing | ready | reinitializing | disabled
    rv: int = 0
    objects: int = 0
    bytes: int = 0  # stored bytes of the objects held
    oldest_rv: int = 0
    capacity: int = 0
    buffered: int = 0  # events in the ring
    events: int = 0  # received since start
    watchers: int = 0
    waiting: int = 0  # readers waiting until fresh
    snapshots: int = 0
    loaded: int = 0  # objects read so far while initializing
    loaded_bytes: int = 0  # their stored bytes
    expected: int = 0  # objects to read, when known
    error: str = ""
    progress_requests: int = 0


class ProgressTick(Event, frozen=True, kw_only=True, tag="progress_tick"):
    """A cache learnt a revision from an etcd progress notification (no event of its own)."""

    resource: str
    rv: int


class Prefix(Event, frozen=True, kw_only=True, tag="prefix"):
    """Keys under one etcd prefix. `bytes` is keys plus values; `exact` False: extrapolated from a sample."""

    prefix: str  # "/registry/pods/"
    resource: str = ""  # "" when unknown
    count: int = 0
    bytes: int = 0
    exact: bool = True
    leased: bool = False


class WatcherOpened(Event, frozen=True, kw_only=True, tag="watcher_opened"):
    """A client's WATCH began; `id` is that of its request, `at` the time of its beginning."""

    id: int
    resource: str
    since: str  # the resourceVersion that it named, "" for none
    client: str
    namespace: str = ""
    name: str = ""
    selector: str = ""  # labelSelector and fieldSelector as the client wrote them
    form: str = ""  # "Table", "PartialObjectMetadata"; "" for the object itself
    route: str = ""  # cache | etcd
    timeout: float = 0.0  # seconds that the server lets it last


class WatcherState(Event, frozen=True, kw_only=True, tag="watcher"):
    """How one WATCH stands. At most once a second a watcher, and only when its numbers have moved."""

    id: int
    resource: str
    buffered: int = 0  # events that it has not read yet
    capacity: int = 0  # events that may wait for it before it counts as too slow; 0: no bound
    delivered: int = 0  # events sent since it began, bookmarks and initial events among them
    bookmarks: int = 0
    made: int = 0  # of the delivered, those that were encoded for it
    shared: int = 0  # of the delivered, those whose encoding another watcher had caused before
    live: bool = False  # past the initial events and the replay of the ring
    bytes: int = 0  # sent since it began
    initial: int = 0  # events sent before it was live
    initial_bytes: int = 0
    initial_ms: float = 0.0  # from the request's arrival until they were out; 0: they are not yet


class WatcherClosed(Event, frozen=True, kw_only=True, tag="watcher_closed"):
    id: int
    resource: str
    delivered: int
    bookmarks: int = 0
    cause: str = ""
    made: int = 0
    shared: int = 0


class FanOut(Event, frozen=True, kw_only=True, tag="fan_out"):
    """One change on its way to the watchers. At most once a second a resource: a sample."""

    resource: str
    change: str  # ADDED | MODIFIED | DELETED
    rv: int
    previous_rv: int = 0  # of the object before the change
    namespace: str = ""
    name: str = ""
    watchers: int = 0  # all that are live on this cache
    concerned: int = 0  # those that the dispatch index put it to
    delivered: int = 0  # those that got it, after their selectors
    leaving: int = 0  # of these, those whose selector a MODIFIED object has left
    tables: int = 0  # of these, those who take a Table or PartialObjectMetadata
    plain_forms: int = 0  # different encodings that the others ask for
    table_forms: int = 0
    encodings: int = 0  # encodings made


class Dropped(Event, frozen=True, kw_only=True, tag="dropped"):
    """This subscriber was too slow: `count` events were not sent to it."""

    count: int


AnyEvent = (
    ServerInfo
    | RequestStarted
    | RequestRouted
    | RequestFinished
    | EtcdCall
    | Toll
    | EtcdHealth
    | Progress
    | CacheState
    | ProgressTick
    | Prefix
    | WatcherOpened
    | WatcherState
    | WatcherClosed
    | FanOut
    | Dropped
)
