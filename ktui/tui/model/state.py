"""What the screens know: the telemetry folded into rows that never change once made.

A row is replaced, never altered, so its identity stands for its content: tables
cache what they have painted by it. `Revisions` tells a panel in one comparison
whether anything it shows has moved.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ktui.telemetry.events import (
    CacheState,
    EtcdCall,
    EtcdHealth,
    FanOut,
    Prefix,
    Progress,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    Toll,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)
from ktui.tui.model.rates import Rate

REQUEST_LOG = 10_000  # requests kept
CALL_LOG = 2_000  # etcd calls kept beside those of a request
CALLS_A_REQUEST = 64  # etcd calls kept with their request
CLOSED_WATCHERS = 200  # watchers kept after their end


@dataclass(frozen=True, slots=True, eq=False)
class RequestRow:
    """One request as far as it has come: started, routed, finished."""

    started: RequestStarted
    routed: RequestRouted | None = None
    finished: RequestFinished | None = None
    calls: tuple[EtcdCall, ...] = ()

    @property
    def id(self) -> int:
        return self.started.id

    @property
    def at(self) -> float:
        return self.started.at

    @property
    def done(self) -> bool:
        return self.finished is not None

    @property
    def route(self) -> str:
        """cache | cache_snapshot | etcd | none | "cache,etcd", or "" before it was routed."""
        if self.finished is not None and self.finished.route:
            return self.finished.route
        return self.routed.route if self.routed is not None else ""

    @property
    def waiting(self) -> bool:
        """Routed to a cache that must catch up first, and not answered yet."""
        return self.finished is None and self.routed is not None and self.routed.wait != "none"

    @property
    def status(self) -> int:
        return self.finished.status if self.finished is not None else 0

    @property
    def failed(self) -> bool:
        return self.status >= 400

    @property
    def reason_id(self) -> str:
        if self.routed is not None:
            return self.routed.reason_id
        return self.finished.reason_id if self.finished is not None else ""

    @property
    def reason(self) -> str:
        return self.routed.reason if self.routed is not None else ""

    @property
    def steps(self) -> list[RouteStep]:
        return self.routed.steps if self.routed is not None else []

    @property
    def target(self) -> str:
        """Path with its query, as the client sent them."""
        return f"{self.started.path}?{self.started.query}" if self.started.query else self.started.path

    @property
    def scanned(self) -> int:
        """Objects taken from cache or etcd to answer it."""
        return self.finished.fetched if self.finished is not None else 0

    @property
    def ms(self) -> float:
        return self.finished.ms if self.finished is not None else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class CacheRow:
    """One resource's watch cache: its last state and what progress taught it since."""

    cache: CacheState
    rv: int  # the newest revision it knows: by event or by progress notification
    ticked: int = 0  # revision of its last progress notification
    events_per_second: float = 0.0

    @property
    def resource(self) -> str:
        return self.cache.resource

    @property
    def live(self) -> bool:
        return self.cache.state == "ready"

    def lag(self, head: int) -> int:
        """Revisions that etcd is ahead of this cache."""
        return max(0, head - self.rv) if self.live else 0


@dataclass(frozen=True, slots=True, eq=False)
class WatcherRow:
    """One WATCH: how it began, how it stands, how it ended."""

    opened: WatcherOpened
    state: WatcherState | None = None
    closed: WatcherClosed | None = None

    @property
    def id(self) -> int:
        return self.opened.id

    @property
    def resource(self) -> str:
        return self.opened.resource

    @property
    def _counted(self) -> WatcherClosed | WatcherState | None:
        return self.closed or self.state

    @property
    def delivered(self) -> int:
        return self._counted.delivered if self._counted is not None else 0

    @property
    def bookmarks(self) -> int:
        return self._counted.bookmarks if self._counted is not None else 0

    @property
    def made(self) -> int:
        return self._counted.made if self._counted is not None else 0

    @property
    def shared(self) -> int:
        return self._counted.shared if self._counted is not None else 0

    @property
    def buffered(self) -> int:
        return self.state.buffered if self.state is not None and self.closed is None else 0

    @property
    def capacity(self) -> int:
        return self.state.capacity if self.state is not None else 0


@dataclass(frozen=True, slots=True)
class Head:
    """etcd's head revision and how fast it moves (revisions/s)."""

    revision: int = 0
    per_second: float = 0.0
    compact: int = 0
    db_bytes: int = 0


@dataclass(slots=True)
class Revisions:
    """Counters that move when the named part of the state has changed."""

    server: int = 0
    requests: int = 0
    caches: int = 0
    prefixes: int = 0
    head: int = 0
    watchers: int = 0
    calls: int = 0


@dataclass(slots=True)
class State:
    """Everything on the screens. Only the reducer writes to it."""

    server: ServerInfo | None = None
    health: EtcdHealth | None = None
    toll: Toll | None = None
    head: Head = field(default_factory=Head)
    requests: dict[int, RequestRow] = field(default_factory=dict)  # oldest first
    caches: dict[str, CacheRow] = field(default_factory=dict)
    prefixes: dict[str, Prefix] = field(default_factory=dict)
    watchers: dict[int, WatcherRow] = field(default_factory=dict)  # open, oldest first
    closed_watchers: deque[WatcherRow] = field(default_factory=lambda: deque(maxlen=CLOSED_WATCHERS))
    watcher_rates: dict[int, Rate] = field(default_factory=dict)  # of the open ones
    fan_outs: dict[str, FanOut] = field(default_factory=dict)  # newest sample, by resource
    deletions: dict[str, FanOut] = field(default_factory=dict)  # newest sample of a DELETED
    calls: deque[EtcdCall] = field(default_factory=lambda: deque(maxlen=CALL_LOG))
    seen: int = 0  # requests that have passed by since the start
    forgotten: int = 0  # of these, no longer kept
    dropped: int = 0  # events lost on the way: by the server's queue or by ours
    now: float = 0.0  # time of the newest event (Unix seconds)
    touched: Revisions = field(default_factory=Revisions)
    head_rate: Rate = field(default_factory=Rate)
    event_rates: dict[str, Rate] = field(default_factory=dict)

    @property
    def last_request(self) -> RequestRow | None:
        return next(reversed(self.requests.values()), None)


# Kept here so that readers of the state need not know the events' module.
__all__ = [
    "CacheRow",
    "CacheState",
    "EtcdCall",
    "EtcdHealth",
    "FanOut",
    "Head",
    "Prefix",
    "Progress",
    "RequestRow",
    "Revisions",
    "RouteStep",
    "ServerInfo",
    "State",
    "Toll",
    "WatcherClosed",
    "WatcherOpened",
    "WatcherRow",
    "WatcherState",
]
