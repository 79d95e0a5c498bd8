"""The report of an audit: plain data, as `ktui audit --json` prints it (docs/audit.md)."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.audit.tally import BadLine, FileCount
from ktui.audit.version_shares import Move, VersionShare


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines by kind. `skipped` are valid but not counted (writes, other messages).

    `doubles`: httplog lines whose request is already counted by an audit Event.
    """

    total: int
    audit: int
    httplog: int
    etcd: int
    skipped: int
    malformed: int
    doubles: int = 0


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests, each once. `unrouted`: reads of something that is not stored (logs, discovery, /healthz)."""

    list: int
    get: int
    watch: int
    unrouted: int


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Moments in ISO 8601, UTC."""

    first: str
    last: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds; percentiles are within 2.2 %, `max` and `total` are exact.

    Of requests that are in both logs `total` counts one duration, the group's average.
    `buckets`: number of requests with less than this many milliseconds and at least the previous bound.
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
    """Estimated bytes of all requests of a group together, and of each of them.

    `touched`: of the objects that are looked at or sent. `processed` counts objects
    from etcd once; groups are ranked by it.
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
    """One client's requests of one shape. `latency` of a WATCH is how long it was open.

    `routes` by version from the selected one on, `earlier_routes` before it; `errors` by status
    code, 400 and above.
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


@dataclass(frozen=True, slots=True)
class SlowReport:
    """Slow etcd requests of one range. `probably` names the logged requests that may have caused them;
    `ranks` are those of their groups."""

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
    """Requests in no group: there were too many groups, and these were the smallest."""

    groups_folded: int
    list: int
    get: int
    watch: int
    slow: int


@dataclass(frozen=True, slots=True)
class Report:
    """`ranked_by` is `estimated bytes` or `count × latency`; `groups` are the top of `groups_total`.

    `versions`: the selected one and those after it; `earlier`: those before it, oldest first.
    """

    kube_version: str
    feature_gates: dict[str, bool]
    etcd_progress: bool
    summary: str
    move: Move | None
    ranked_by: str
    sizes_from: str
    notes: tuple[str, ...]
    files: tuple[FileCount, ...]
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
