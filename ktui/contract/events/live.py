"""Events of a kube-apiserver that ktui only scrapes: its counters at each scrape, per replica.

Counters are totals since the process began, as the server reports them: the reader subtracts.
None: this server does not report the figure. It is never shown as zero.
"""

from __future__ import annotations

import msgspec

from ktui.contract.events.base import Count, Event, Milliseconds, Seconds, UnixTime


class ResourceCounters(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one replica has counted for one resource since its process began.

    `storage_lists` is the raw counter: in 1.31 to 1.36 it includes a revision probe for each consistent read.
    """

    cache_lists: Count | None = None  # LISTs served from the watch cache
    indexed_lists: Count | None = None  # those of `cache_lists` that an index narrowed
    cache_fetched: Count | None = None  # objects
    cache_returned: Count | None = None
    storage_lists: Count | None = None
    etcd_fetched: Count | None = None
    etcd_evaluated: Count | None = None
    etcd_returned: Count | None = None
    consistent_success: Count | None = None
    consistent_failure: Count | None = None
    consistent_fallback: Count | None = None  # the cache was late, etcd was read
    consistent_rejected: Count | None = None  # the cache was late, the client got a 429 (1.37)
    waits: Count | None = None  # reads that waited for the cache
    wait_ms: Milliseconds | None = None
    fast_waits: Count | None = None  # those of `waits` that took at most a second
    lists: Count | None = None  # LIST requests answered, whatever their status
    self_lists: Count | None = None  # those of `lists` that the server sent to itself
    list_errors: Count | None = None  # those of `lists` answered with 4xx or 5xx, except 429
    list_rejected: Count | None = None  # those of `lists` answered with 429
    list_bytes: Count | None = None
    list_sizes: Count | None = None  # answers whose size was counted
    list_ms: Milliseconds | None = None
    list_timed: Count | None = None
    cluster_ms: Milliseconds | None = None  # `list_ms` of LISTs over all namespaces
    cluster_timed: Count | None = None
    namespace_ms: Milliseconds | None = None
    namespace_timed: Count | None = None
    gets: Count | None = None  # requests by verb, whatever their status
    get_errors: Count | None = None  # those of `gets` answered with 4xx or 5xx, except 404 and 429
    watch_requests: Count | None = None
    creates: Count | None = None
    updates: Count | None = None
    patches: Count | None = None
    deletes: Count | None = None  # of one object or of a collection
    collection_deletes: Count | None = None  # those of `deletes` that LISTed a collection
    terminated_requests: Count | None = None  # ended by the server before an answer: timeouts
    aborted: Count | None = None  # ended by a timeout after which the handler was given up
    init_events: Count | None = None  # initial events sent to new WATCHes
    watch_events: Count | None = None  # sent to clients
    watch_bytes: Count | None = None
    watch_lists: Count | None = None  # WatchLists that became live
    watch_list_ms: Milliseconds | None = None
    terminated_watchers: Count | None = None  # cut off because they read too slowly
    cache_events: Count | None = None  # received from etcd
    initializations: Count | None = None  # of the cache, each a full read of etcd
    capacity_increases: Count | None = None
    capacity_decreases: Count | None = None
    checks_ok: Count | None = None  # comparisons of the cache with etcd
    checks_failed: Count | None = None  # they differed
    checks_errored: Count | None = None  # nothing could be compared
    init_errors: Count | None = None  # attempts to fill the cache that failed
    etcd_gets: Count | None = None
    etcd_lists: Count | None = None  # list operations, a page each
    etcd_writes: Count | None = None
    etcd_errors: Count | None = None
    etcd_timed: Count | None = None
    etcd_ms: Milliseconds | None = None


class ResourceGauges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Current figures of one resource at one replica."""

    watches: Count | None = None  # open WATCHes, the server's own informers included
    rv: Count | None = None  # the watch cache's resourceVersion
    capacity: Count | None = None  # of the event buffer
    objects: Count | None = None
    size_bytes: Count | None = None  # the server's own estimate


class ResourceScrape(Event, frozen=True, kw_only=True, tag="live_resource", gc=False):
    """One resource in one scrape of one replica."""

    replica: str
    resource: str  # "pods", "ciliumnodes.cilium.io"
    counters: ResourceCounters = ResourceCounters()
    gauges: ResourceGauges = ResourceGauges()


class LevelCounters(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one replica has counted for one priority level since its process began."""

    dispatched: Count | None = None
    rejected: Count | None = None
    queue_full: Count | None = None  # this and the next three: `rejected` by reason
    concurrency_limit: Count | None = None
    timed_out: Count | None = None
    cancelled: Count | None = None
    waits: Count | None = None
    wait_ms: Milliseconds | None = None
    # Waits by bucket: upper bound in seconds ("0.005", "+Inf") to the count of waits up to it.
    wait_buckets: dict[str, Count] = msgspec.field(default_factory=dict)


class LevelGauges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Seats and requests of one priority level."""

    nominal: Count | None = None
    current: Count | None = None  # seats after borrowing
    executing_seats: Count | None = None
    executing: Count | None = None  # requests
    queued: Count | None = None


class LevelScrape(Event, frozen=True, kw_only=True, tag="live_level", gc=False):
    """One priority level in one scrape of one replica."""

    replica: str
    level: str
    counters: LevelCounters = LevelCounters()
    gauges: LevelGauges = LevelGauges()


class CallTime(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Calls and their duration since the process began."""

    calls: Count = 0
    ms: Milliseconds = 0.0
    rejected: Count = 0  # those of `calls` that rejected the request


class ReplicaScrape(Event, frozen=True, kw_only=True, tag="live_replica"):
    """The end of one replica's scrape; the events of its resources and levels precede this event.

    A level without an event has not changed: ktui's own server reports only changed levels.
    """

    replica: str
    version: str = ""  # "1.36"
    started: UnixTime = 0.0
    page_bytes: Count = 0
    page_lines: Count = 0
    ms: Milliseconds = 0.0  # from the request to the last byte
    memory_bytes: Count | None = None
    storage_bytes: Count | None = None  # etcd's database as this replica sees it
    hidden_metrics: Count | None = None  # metrics that the server has hidden or disabled
    reading: Count | None = None  # read requests in flight
    writing: Count | None = None
    cpu_seconds: Seconds | None = None  # used since the process began
    tls_errors: Count | None = None  # TLS handshakes that failed
    # Admission webhooks and plugins by name. None: not reported.
    webhooks: dict[str, CallTime] | None = None
    plugins: dict[str, CallTime] | None = None


class ReplicaDown(Event, frozen=True, kw_only=True, tag="live_down"):
    """A replica that does not answer any more. Its next scrape or dump ends that."""

    replica: str
    reason: str  # one sentence


class RunningRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One request that holds seats or waits for them."""

    level: str
    schema: str
    user: str = ""
    verb: str = ""
    path: str = ""
    resource: str = ""
    namespace: str = ""
    seats: Count = 0
    queued: bool = False
    arrived: UnixTime = 0.0


class RequestsDump(Event, frozen=True, kw_only=True, tag="live_requests"):
    """The requests in one replica's flow control at one moment: a sample."""

    replica: str
    requests: list[RunningRequest]


class LevelSample(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One priority level in a dump, with its current requests."""

    level: str
    active_queues: Count = 0
    idle: bool = False
    quiescing: bool = False  # deleted or changed, and still has requests
    waiting: Count = 0
    executing: Count = 0


class QueueSample(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One queue of a level that has requests."""

    level: str
    index: Count = 0
    pending: Count = 0
    executing: Count = 0
    seats: Count = 0


class LevelsDump(Event, frozen=True, kw_only=True, tag="live_levels"):
    """The priority levels and busy queues of one replica's flow control at one moment: a sample."""

    replica: str
    levels: list[LevelSample]
    queues: list[QueueSample] = msgspec.field(default_factory=list)


class LevelConfig(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A PriorityLevelConfiguration. None: not set, or not of this type."""

    name: str
    type: str = ""  # "Limited" | "Exempt"
    shares: Count | None = None
    lendable: Count | None = None  # percent of its seats that others may borrow
    borrowing: Count | None = None  # percent of its seats that it may borrow, None: without limit
    response: str = ""  # "Queue" | "Reject"
    queues: Count | None = None
    hand_size: Count | None = None
    queue_length: Count | None = None


class SchemaConfig(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A FlowSchema: which requests go to which level. The lowest precedence that matches decides."""

    name: str
    level: str = ""
    precedence: Count = 0
    distinguisher: str = ""  # "ByUser" | "ByNamespace"
    subjects: list[str] = []


class FlowConfig(Event, frozen=True, kw_only=True, tag="live_flow_config"):
    """FlowSchemas and PriorityLevelConfigurations. Sent when they change."""

    schemas: list[SchemaConfig]
    levels: list[LevelConfig]


class CacheProbe(Event, frozen=True, kw_only=True, tag="live_probe"):
    """The resourceVersion of one replica's watch cache and etcd's, from two reads of one name."""

    replica: str
    resource: str
    cache_rv: Count
    newest_rv: Count
    ms: Milliseconds = 0.0


class ClientShare(msgspec.Struct, frozen=True, gc=False):
    """How many of a resource's requests one client sent."""

    client: str
    requests: Count = 0


class ResourceAsked(Event, frozen=True, kw_only=True, tag="audit_resource"):
    """The requests for one resource in the part of a followed audit log that was read so far."""

    resource: str
    requests: Count = 0
    lists: Count = 0
    span: Seconds = 0.0  # from the first record of the log to the last
    clients: list[ClientShare] = msgspec.field(default_factory=list)  # with most requests


class Denied(msgspec.Struct, frozen=True, gc=False):
    """A source that could not be read; `reason` is one sentence, `rule` the RBAC rule that would grant it."""

    path: str
    status: Count
    reason: str
    rule: str = ""


class LiveServer(Event, frozen=True, kw_only=True, tag="live_server"):
    """The server that is scraped, and how. Sent when it changes."""

    context: str
    url: str
    origin: str  # "metrics" scraped from the server | "prometheus" that scrapes it
    version: str = ""
    expected: Count | None = None  # replicas by their Leases
    gates: dict[str, bool] = msgspec.field(default_factory=dict)  # as the server reports them
    denied: list[Denied] = msgspec.field(default_factory=list)
    not_ready: list[str] = msgspec.field(default_factory=list)  # checks of /readyz that fail


class LiveStatus(Event, frozen=True, kw_only=True, tag="live_status"):
    """Whether scraping works, and what it has cost the server so far. Sent every few seconds.

    With a `source` ("metrics", "audit log"), `problem` is of that source, and the other fields are not set.
    """

    interval: Seconds = 0.0  # current interval between scrapes
    problem: str = ""  # why the last scrape failed; "" when it did not
    source: str = ""
    requests: Count = 0  # sent by ktui
    received_bytes: Count = 0
    busy_ms: Milliseconds = 0.0  # time that the server took to answer them
