"""The state that the screens show: telemetry folded into immutable rows.

`Revisions` lets a panel check in one comparison whether anything it shows has changed.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct, field
from msgspec import Struct as Row

from ktui.contract.events import (
    CacheStatus,
    EtcdCall,
    EtcdHealth,
    EtcdProgress,
    EtcdUsage,
    FanOut,
    Prefix,
    RouteStep,
    ServerInfo,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)
from ktui.core.access_patterns import AccessPatterns
from ktui.core.live.state import LiveState
from ktui.core.ranking.ranking import Ranking
from ktui.core.rates import Rate
from ktui.core.rows import CacheRow, Head, RequestRow, Rewind, WatcherRow
from ktui.core.traffic import History

READ_LOG = 10_000  # reads kept
WRITE_LOG = 5_000  # writes kept: of their own, so that hidden writes never displace the reads shown
CALL_LOG = 2_000  # etcd calls kept, besides those of a request
CALLS_A_REQUEST = 64  # etcd calls kept with their request
CLOSED_WATCHERS = 200  # watchers kept after their end
FAN_OUTS = 40  # samples of fanned-out changes kept per resource, besides the newest


class Revisions(Row, gc=False):
    """Counters that increase when the named part of the state changes."""

    server: int = 0
    requests: int = 0
    caches: int = 0
    prefixes: int = 0
    head: int = 0
    watchers: int = 0
    calls: int = 0


class LogBudget(Struct):
    """Which requests of a kind are in the log, oldest first, and how many there were since the start."""

    most: int
    ids: deque[int] = field(default_factory=deque)
    seen: int = 0

    @property
    def dropped(self) -> int:
        """Requests that are not in the log any more."""
        return self.seen - len(self.ids)

    def add(self, number: int) -> int | None:
        """Enter a request; returns the one that is dropped for it."""
        self.seen += 1
        self.ids.append(number)
        return self.ids.popleft() if len(self.ids) > self.most else None


class State(Struct):
    """Everything on the screens. Only the reducer changes it."""

    server: ServerInfo | None = None
    health: EtcdHealth | None = None
    etcd_usage: EtcdUsage | None = None
    head: Head = field(default_factory=Head)
    requests: dict[int, RequestRow] = field(default_factory=dict)  # oldest first
    caches: dict[str, CacheRow] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)  # of these, caches that do not follow etcd
    prefixes: dict[str, Prefix] = field(default_factory=dict)
    watchers: dict[int, WatcherRow] = field(default_factory=dict)  # open, oldest first
    closed_watchers: deque[WatcherRow] = field(default_factory=lambda: deque(maxlen=CLOSED_WATCHERS))
    watcher_rates: dict[int, Rate] = field(default_factory=dict)  # of the open ones
    fan_outs: dict[str, FanOut] = field(default_factory=dict)  # newest sample, by resource
    earlier_fan_outs: dict[str, deque[FanOut]] = field(default_factory=dict)  # before it, oldest first
    deletions: dict[str, FanOut] = field(default_factory=dict)  # newest sample of a DELETED
    calls: deque[EtcdCall] = field(default_factory=lambda: deque(maxlen=CALL_LOG))
    access_patterns: AccessPatterns = field(default_factory=AccessPatterns)  # how clients ask
    reads: LogBudget = field(default_factory=lambda: LogBudget(READ_LOG))
    writes: LogBudget = field(default_factory=lambda: LogBudget(WRITE_LOG))
    dropped: int = 0  # events lost: by the server's queue or by the dashboard's
    no_space: str = ""  # etcd's message when it last refused a write for lack of space
    rewind: Rewind | None = None  # the last one
    task_failures: list[str] = field(default_factory=list)  # of the server, not recovered yet
    now: float = 0.0  # time of the newest event (Unix seconds)
    touched: Revisions = field(default_factory=Revisions)
    head_rate: Rate = field(default_factory=Rate)
    event_rates: dict[str, Rate] = field(default_factory=dict)
    history: History = field(default_factory=History)  # of answered reads, for the charts
    ranking: Ranking = field(default_factory=Ranking)  # of all reads, by client and shape
    live: LiveState = field(default_factory=LiveState)  # of a kube-apiserver that is only scraped

    @property
    def stale_caches(self) -> list[CacheRow]:
        """Caches that serve reads and do not follow etcd, the one stale for longest first."""
        return sorted((self.caches[name] for name in self.stale), key=lambda row: row.cache.stale_since)

    @property
    def seen(self) -> int:
        """Requests since the start."""
        return self.reads.seen + self.writes.seen

    @property
    def progress(self) -> bool:
        """True if etcd supports progress notifications: assumed until the server reports otherwise."""
        return self.server is None or self.server.progress != "unsupported"

    # Rates are computed when read: without new events, no event would bring them down.

    @property
    def revisions_per_second(self) -> float:
        """The rate of etcd's current revision."""
        return self.head_rate.per_second(self.now)

    def events_per_second(self, resource: str) -> float:
        """How many events this resource's cache gets from etcd, to a tenth."""
        rate = self.event_rates.get(resource)
        return round(rate.per_second(self.now), 1) if rate is not None else 0.0


# Re-exported so that readers of the state need not know where its parts are defined.
__all__ = [
    "CacheRow",
    "CacheStatus",
    "EtcdCall",
    "EtcdHealth",
    "EtcdProgress",
    "EtcdUsage",
    "FanOut",
    "Head",
    "Prefix",
    "RequestRow",
    "Revisions",
    "Rewind",
    "RouteStep",
    "ServerInfo",
    "State",
    "WatcherClosed",
    "WatcherOpened",
    "WatcherRow",
    "WatcherState",
]
