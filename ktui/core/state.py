"""The state that the screens show: telemetry folded into immutable rows.

A panel compares a counter of `Revisions` to see whether anything that it shows has changed.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct, field

from ktui.contract.events import EtcdCall, EtcdHealth, EtcdUsage, FanOut, Prefix, ServerInfo
from ktui.core.access_patterns import AccessPatterns
from ktui.core.live.live_state import LiveState
from ktui.core.ranking.ranking import Ranking
from ktui.core.rows import CacheRow, Head, RequestRow, Rewind, WatcherRow
from ktui.core.traffic import History, Rate

READ_LOG = 10_000  # reads kept
WRITE_LOG = 5_000  # writes kept: counted apart, so that hidden writes never displace reads
CALL_LOG = 2_000  # etcd calls kept, in addition to those kept with their request
CALLS_A_REQUEST = 64  # etcd calls kept with their request
CLOSED_WATCHERS = 200  # watchers kept after their end
FAN_OUTS = 40  # earlier samples of fanned-out changes kept per resource


class Revisions(Struct, gc=False):
    """Counters that increase when the named part of the state changes."""

    server: int = 0
    requests: int = 0
    caches: int = 0
    prefixes: int = 0
    head: int = 0
    watchers: int = 0
    calls: int = 0


class LogBudget(Struct):
    """The ids of the reads (or writes) in the log, oldest first, and their number since the start."""

    most: int
    ids: deque[int] = field(default_factory=deque)
    seen: int = 0

    @property
    def dropped(self) -> int:
        """Number of requests that the log dropped."""
        return self.seen - len(self.ids)

    def add(self, number: int) -> int | None:
        """Add a request id; return the id that is dropped for it, None if there is room."""
        self.seen += 1
        self.ids.append(number)
        return self.ids.popleft() if len(self.ids) > self.most else None


class State(Struct):
    """Everything that the screens show. Only the reducer changes it."""

    server: ServerInfo | None = None
    health: EtcdHealth | None = None
    etcd_usage: EtcdUsage | None = None
    head: Head = field(default_factory=Head)
    requests: dict[int, RequestRow] = field(default_factory=dict)  # oldest first
    caches: dict[str, CacheRow] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)  # resources whose ready cache is behind etcd
    prefixes: dict[str, Prefix] = field(default_factory=dict)
    watchers: dict[int, WatcherRow] = field(default_factory=dict)  # open, oldest first
    closed_watchers: deque[WatcherRow] = field(default_factory=lambda: deque(maxlen=CLOSED_WATCHERS))
    watcher_rates: dict[int, Rate] = field(default_factory=dict)  # of the open watchers
    fan_outs: dict[str, FanOut] = field(default_factory=dict)  # newest sample, by resource
    earlier_fan_outs: dict[str, deque[FanOut]] = field(default_factory=dict)  # oldest first
    deletions: dict[str, FanOut] = field(default_factory=dict)  # newest DELETED sample, by resource
    calls: deque[EtcdCall] = field(default_factory=lambda: deque(maxlen=CALL_LOG))
    access_patterns: AccessPatterns = field(default_factory=AccessPatterns)
    reads: LogBudget = field(default_factory=lambda: LogBudget(READ_LOG))
    writes: LogBudget = field(default_factory=lambda: LogBudget(WRITE_LOG))
    dropped: int = 0  # events lost: by the server's queue or by the dashboard's
    no_space: str = ""  # etcd's message when it last refused a write for lack of space
    rewind: Rewind | None = None  # the last time that etcd's history was replaced
    task_failures: list[str] = field(default_factory=list)  # of the server, not recovered yet
    now: float = 0.0  # time of the newest event (Unix seconds)
    touched: Revisions = field(default_factory=Revisions)
    head_rate: Rate = field(default_factory=Rate)
    event_rates: dict[str, Rate] = field(default_factory=dict)
    history: History = field(default_factory=History)  # of answered reads, for the charts
    ranking: Ranking = field(default_factory=Ranking)  # of all reads, by client and shape
    live: LiveState = field(default_factory=LiveState)  # of a kube-apiserver that is only scraped

    @property
    def revision(self) -> int:
        """etcd's newest known revision: a cache may have had a later event than etcd's last report."""
        return max([self.head.revision, *(row.rv for row in self.caches.values() if row.live)])

    @property
    def stale_caches(self) -> list[CacheRow]:
        """Caches that serve reads although they are behind etcd, longest stale first."""
        return sorted((self.caches[name] for name in self.stale), key=lambda row: row.cache.stale_since)

    @property
    def seen(self) -> int:
        """Number of requests since the start."""
        return self.reads.seen + self.writes.seen

    @property
    def progress(self) -> bool:
        """True if etcd supports progress notifications, which is assumed until the server says otherwise."""
        return self.server is None or self.server.progress != "unsupported"

    # Rates are computed when read: without new events, nothing else would lower them.

    @property
    def revisions_per_second(self) -> float:
        """Growth of etcd's revision per second."""
        return self.head_rate.per_second(self.now)

    def events_per_second(self, resource: str) -> float:
        """Return the events per second that a resource's cache receives from etcd, rounded to a tenth."""
        rate = self.event_rates.get(resource)
        return round(rate.per_second(self.now), 1) if rate is not None else 0.0


# Rows are parts of the state, wherever they are defined.
__all__ = ["CacheRow", "Head", "LogBudget", "RequestRow", "Revisions", "Rewind", "State", "WatcherRow"]
