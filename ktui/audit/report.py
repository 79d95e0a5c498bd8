"""The report of an audit: data, as `ktui audit --json` prints it (docs/audit.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.audit.predictions import Move, VersionShare
from ktui.audit.tally import BadLine

UNKNOWN = "unknown"
"""A group's resourceVersion and reason if its query string was not logged."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines by kind. `skipped` are valid but not counted (writes, other messages).

    `traces` counts requests. `doubles`: httplog lines and traces whose request another record counts already
    (an audit Event). `duplicates`: records that repeat another one, in the same file or in another.
    """

    total: int
    audit: int
    httplog: int
    etcd: int
    skipped: int
    malformed: int
    doubles: int = 0
    duplicates: int = 0
    traces: int = 0


@dataclass(frozen=True, slots=True)
class FileReport:
    """One log, its number of `records` about requests, and how it broke off or why it has none."""

    name: str
    lines: int
    problem: str
    records: int


@dataclass(frozen=True, slots=True)
class Observed:
    """Requests of more than 500 ms, as the apiserver measured them: where they were served from, and how many
    `agree` with the prediction.

    `unclear`: either source is possible. `fallback`: those of `etcd` that waited for the cache before.
    Milliseconds of all requests: `queue` (waiting for seats), `etcd_time`, `encode`, `write` (until the
    client had read the bytes), `other` (webhooks, authorization), `rest`.
    """

    slow: int
    cache: int
    etcd: int
    unclear: int
    agree: int
    differ: int
    cause: str
    total: float
    queue: float
    etcd_time: float
    encode: float
    write: float
    other: float
    rest: float
    fallback: int = 0


@dataclass(frozen=True, slots=True)
class TracedReport:
    """Requests that traces describe: where they were served from, and how many `agree` with the prediction.

    `none`: refused, or no object was read. `untold`: the trace does not say. `fallback`: those of `etcd` for
    which the cache was asked first. `scanned`, `returned` and `bytes` are sums, null if no trace has them.
    `probes`: reads of etcd's current revision. `stages`: milliseconds in all, by stage.
    """

    count: int
    cache: int
    etcd: int
    none: int
    untold: int
    fallback: int
    agree: int
    differ: int
    scanned: int | None
    returned: int | None
    bytes: int | None
    probes: int
    stages: dict[str, float]


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests, each counted once. `unrouted`: reads of what is not stored (logs, discovery, /healthz)."""

    list: int
    get: int
    watch: int
    unrouted: int


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The first and last time in ISO 8601 (UTC), and the seconds between them."""

    first: str
    last: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds; percentiles are within 2.2 %, `max` and `total` are exact.

    `buckets`: (upper bound in ms, number of requests between the previous bound and this one).
    """

    p50: float
    p95: float
    p99: float
    max: float
    total: float
    buckets: tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class Seats:
    """Flow-control seats as logged."""

    mean: float
    max: int


@dataclass(frozen=True, slots=True)
class Estimated:
    """Estimated bytes of all requests of a group, and of each request.

    `touched`: of the objects that are tested or sent. `processed` counts objects from etcd once;
    groups are ranked by it.
    """

    etcd_bytes: float
    touched_bytes: float
    processed_bytes: float
    etcd_bytes_each: float
    touched_bytes_each: float


@dataclass(frozen=True, slots=True)
class CheaperVariant:
    """A cheaper variant of the group's example, and its route."""

    id: str
    why: str
    path: str
    route: str


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One client's requests of one shape. `latency` of a WATCH is the time that it was open.

    `route` is what traces tell (`cache, etcd`: both), else the prediction: `cache or etcd` if it depends on
    a query string that was not logged, `another server` for an aggregated API; `possible_routes` has all.
    `routes` is by version from the selected one on, `earlier_routes` before it; `errors` by status code.
    """

    rank: int
    client: str
    user: str
    verb: str
    resource: str
    subresource: str
    scope: str
    selectors: tuple[str, ...]
    resource_version: str
    match: str
    limit: int
    continued: str
    initial_events: bool | None
    count: int
    per_second: float | None
    latency: Latency | None
    init_latency: Latency | None
    errors: dict[str, int]
    seats: Seats | None
    route: str
    reason_id: str
    reason: str
    etcd_ops: tuple[str, ...]
    routes: dict[str, str]
    earlier_routes: dict[str, str]
    estimated: Estimated | None
    warnings: tuple[str, ...]
    cheaper: tuple[CheaperVariant, ...]
    example: str
    possible_routes: tuple[str, ...] = ()
    observed: Observed | None = None
    traced: TracedReport | None = None


@dataclass(frozen=True, slots=True)
class SlowReport:
    """Slow etcd requests of one range. `probably` names the logged requests that may have caused them,
    `ranks` the ranks of their groups."""

    source: str
    what: str
    resource: str
    scope: str
    limit: int
    later_page: bool
    at_revision: bool
    count: int
    failed: int
    took: Latency
    max_keys: int | None
    max_bytes: int | None
    probably: tuple[str, ...]
    ranks: tuple[int, ...]
    example: str


@dataclass(frozen=True, slots=True)
class UngroupedRequests:
    """Requests of the smallest groups, which are not in the report because there were too many groups."""

    groups_folded: int
    list: int
    get: int
    watch: int
    slow: int


@dataclass(frozen=True, slots=True)
class Report:
    """`ranked_by` is `estimated bytes` or `count × latency`; `groups` are the top of `groups_total`.

    `versions`: the selected one and later ones; `earlier`: those before it, oldest first. `carriers`: number
    of records inside other records, by the kind of wrapper. `observed`: of all requests, None if no log
    measures it. `version_from`: "given", or how the log shows it.
    """

    kube_version: str
    feature_gates: dict[str, bool]
    etcd_progress: bool
    summary: str
    move: Move | None
    ranked_by: str
    sizes_from: str
    notes: tuple[str, ...]
    files: tuple[FileReport, ...]
    lines: Lines
    malformed: tuple[BadLine, ...]
    span: TimeSpan | None
    requests: Requests
    versions: tuple[VersionShare, ...]
    earlier: tuple[VersionShare, ...]
    groups_total: int
    groups: tuple[GroupReport, ...]
    others: UngroupedRequests
    etcd: tuple[SlowReport, ...]
    carriers: dict[str, int] = field(default_factory=dict)
    observed: Observed | None = None
    traced: TracedReport | None = None
    live: tuple[str, ...] = ()
    version_from: str = "given"
