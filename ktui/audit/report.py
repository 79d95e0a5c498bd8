"""The report of an audit: plain data, as `ktui audit --json` prints it (docs/audit.md)."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.audit.tally import BadLine, FileCount
from ktui.audit.version_shares import Move, VersionShare


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines by what they were. `skipped` were understood and are not counted (writes, other messages).

    `doubles`: of the httplog lines those whose request an audit Event counts already.
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
    """Requests, each once. `unrouted`: reads of what is not stored (logs, discovery, /healthz)."""

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

    Of requests that stand in both logs `total` counts one time, taken from the average of the group.
    `buckets`: how many took less than this many milliseconds and at least the bound before.
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
    """Bytes of all requests of a group together, and of each of them: estimates.

    `touched`: of the objects that are looked at or sent. `processed` counts those once that
    come out of etcd; groups are ranked by it.
    """

    etcd_bytes: float
    touched_bytes: float
    processed_bytes: float
    etcd_bytes_each: float
    touched_bytes_each: float


@dataclass(frozen=True, slots=True)
class CheaperVariant:
    """A cheaper form of the group's example, and where it would be served."""

    id: str
    why: str
    path: str
    route: str


@dataclass(frozen=True, slots=True)
class GroupReport:
    """One client's requests of one shape. `latency` of a WATCH is how long it lived.

    `routes` by version from the chosen one on, `earlier_routes` before it; `errors` by status
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
    """What is in no group: the groups were too many, and these the smallest."""

    groups_folded: int
    list: int
    get: int
    watch: int
    slow: int


@dataclass(frozen=True, slots=True)
class Report:
    """`ranked_by` is `estimated bytes` or `count × latency`; `groups` are the top of `groups_total`.

    `versions`: the chosen one and those after it; `earlier`: those before it, oldest first.
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
