"""Plan: what a server does to answer one read, in enums and numbers; and the trace of its decision.

`decide_list`, `decide_get` and `decide_watch` return it, the cacher executes it, and
`ktui.kube.routing.sentences` renders it as text.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import NamedTuple

from msgspec import Struct

from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.predicates import Predicate
from ktui.kube.status import StatusError

PROBED = -1
"""Value of `Plan.revision`: the revision that the probe returns."""


class Source(StrEnum):
    """The source of the objects. The values are those of telemetry."""

    CACHE = "cache"
    SNAPSHOT = "cache_snapshot"
    ETCD = "etcd"
    NONE = "none"  # rejected before any read

    @property
    def route(self) -> str:
        """`cache`, `etcd` or `none`, as shown to clients and programs: a snapshot counts as the cache."""
        return "cache" if self is Source.SNAPSHOT else self.value


class Wait(NamedTuple):
    """What a read waits for: a ready cache, then a revision in the cache (3 s at most)."""

    ready: bool = False
    fresh: bool = False


NO_WAIT = Wait()


class Fallback(Enum):
    """What follows if the cache cannot answer because it is late (after 3 s) or lacks the snapshot."""

    NONE = "none"
    ETCD_IF_LATE = "read etcd instead"
    ETCD_IF_GONE = "read etcd at the exact revision"
    TIMEOUT_IF_LATE = "504"
    REJECT_IF_LATE = "429"

    @property
    def reads_etcd(self) -> bool:
        return self in (Fallback.ETCD_IF_LATE, Fallback.ETCD_IF_GONE)


class Consistency(StrEnum):
    """The consistency guarantee of the answer."""

    LINEARIZABLE = "linearizable"
    AT_LEAST = "at_least_rv"
    EXACT = "exact_rv"
    ANY = "any"
    INCONSISTENT_CONTINUE = "inconsistent_continue"


class ListRevision(StrEnum):
    """The revision in the ListMeta of the answer. The values are those of `ktui explain --json`."""

    CACHE = "cache revision"
    CACHE_AFTER_PROBE = "cache revision >= probed revision"
    ETCD = "etcd header revision"
    REQUESTED = "requested revision"
    TOKEN = "token revision"
    PROBED = "probed revision"


class EtcdOp(StrEnum):
    """One read of etcd, counted as kube-apiserver does: a LIST of several pages is one."""

    PROBE = "revision_probe"  # one key, no object: etcd's current revision
    GET_KEY = "get_key"
    GET_KEY_AT_REVISION = "get_key_at_rev"
    PAGE = "range_page"
    REST = "range_rest"
    AT_REVISION = "range_at_rev"
    ALL = "range_full"
    STREAM = "range_stream"  # the whole collection or a page in chunks of one RPC (etcd 3.7)


class TracePhase(StrEnum):
    """The function or part of kube-apiserver that evaluates predicates."""

    API_VALIDATION = "API validation"
    STORE_LIST = "store.List"
    STORE_GET = "store.Get"
    STORE_WATCH = "store.Watch"
    GET_LIST = "Cacher.GetList"
    SHOULD_DELEGATE = "shouldDelegateList"
    CACHER_GET = "Cacher.Get"
    CACHER_WATCH = "Cacher.Watch"
    WATCH_CACHE = "watchCache"
    ETCD = "etcd3 store"
    SHOULD_STREAM = "shouldStream"


class Step(Struct, frozen=True, gc=False):
    """One predicate of the decision trace, the values it saw, and whether it held."""

    predicate: Predicate
    seen: tuple[str | int | bool | None, ...]
    holds: bool
    phase: TracePhase


class Plan(Struct, frozen=True):
    """How a GET, LIST or WATCH is answered.

    `reasons` are ids of `routing.reasons.REASONS`, the decisive one first; `steps` is the decision trace.

    `etcd_ops` are the reads of etcd, in order: a probe comes first. `minimum` is the revision that the source
    must have reached before it answers, 0 for none; with a probe the cache must have reached the probed
    revision. `wait` is what the cache waits for. `revision` is the exact revision to read (0: none in
    particular; `PROBED`); a WATCH starts after it (0: now). `limit` is the requested page size, 0 for none.
    etcd always honours it, the cache only with `limit_honoured`, which is None for a request without limit.
    `fallback` applies if the cache cannot answer.

    `unstreamed` is the read that an etcd before 3.7 gets instead of a `range_stream`, None without one.

    For a WATCH: `initial_events` sends the current objects first, `end_bookmark` a bookmark after them;
    `initial_events_defaulted`: the server added them by default (gate WatchList).

    `error` is the Status that the client receives. If the plan names `source` and a probe, these were read
    before the error. `in_stream`: the error is the only event of a WATCH that is answered 200.
    """

    source: Source
    reasons: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    etcd_ops: tuple[EtcdOp, ...] = ()
    unstreamed: EtcdOp | None = None
    wait: Wait = NO_WAIT
    revision: int = 0
    minimum: int = 0
    limit: int = 0
    limit_honoured: bool | None = None
    consistency: Consistency | None = None
    list_revision: ListRevision | None = None
    fallback: Fallback = Fallback.NONE
    initial_events: bool = False
    end_bookmark: bool = False
    initial_events_defaulted: bool = False
    error: StatusError | None = None
    in_stream: bool = False

    @property
    def reason_id(self) -> str:
        return self.reasons[0]

    @property
    def probe(self) -> bool:
        """True if etcd's current revision is read first."""
        return self.etcd_ops[:1] == (EtcdOp.PROBE,)

    @property
    def unstreamed_ops(self) -> tuple[EtcdOp, ...]:
        """`etcd_ops` of an etcd without RangeStream: the same keys, in pages or at once."""
        if self.unstreamed is None:
            return self.etcd_ops
        return tuple(self.unstreamed if op is EtcdOp.STREAM else op for op in self.etcd_ops)

    @property
    def stream_supported(self) -> bool | None:
        """Whether etcd has RangeStream, as the plan saw it; None if unknown, or if it does not matter."""
        seen = (step.seen[0] for step in self.steps if step.predicate is Predicate.NO_RANGE_STREAM)
        return bool(value) if (value := next(seen, None)) is not None else None


class Trace:
    """Collects the steps. `ask` records a predicate and returns its value, for use in an if statement."""

    __slots__ = ("_steps", "phase")

    def __init__(self, phase: TracePhase) -> None:
        self.phase = phase
        self._steps: list[Step] = []

    def enter(self, phase: TracePhase) -> None:
        """Set the phase of the following predicates."""
        self.phase = phase

    def ask(self, predicate: Predicate, holds: bool, *seen: str | int | bool | None) -> bool:
        self._steps.append(Step(predicate, seen, holds, self.phase))
        return holds

    def ahead_of_etcd(self, state: CacheState, n: int) -> bool:
        """Return True for a revision that etcd is known not to have reached."""
        newest = state.etcd_rv
        return newest is not None and self.ask(Predicate.AHEAD_OF_ETCD, n > newest, n, newest)

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)
