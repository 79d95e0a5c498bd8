"""The rows that telemetry is folded into: one per request, cache, watcher; and the badge of each route.

A row is replaced, never changed. So two rows with the same identity have the same content, and tables
cache their painted lines by it. Rows are structs without cycles, which the garbage
collector does not track: ten thousand requests would cost it 20 to 50 ms each time.
"""

from __future__ import annotations

from msgspec import Struct

from ktui.contract.events import (
    CacheStatus,
    EtcdCall,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)


class RequestRow(Struct, frozen=True, eq=False, gc=False):
    """One request so far: started, routed, finished."""

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
        """True if it waits for the cache to catch up."""
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
    def ms(self) -> float:
        return self.finished.ms if self.finished is not None else 0.0


class CacheRow(Struct, frozen=True, eq=False, gc=False):
    """One resource's watch cache: its last state, and its last progress notification."""

    cache: CacheStatus
    rv: int  # the newest revision that it has, from an event or a progress notification
    ticked: int = 0  # revision of its last progress notification

    @property
    def resource(self) -> str:
        return self.cache.resource

    @property
    def live(self) -> bool:
        return self.cache.state == "ready"

    @property
    def stale(self) -> bool:
        """True if it serves reads although its watch of etcd is behind."""
        return self.live and self.cache.stale_since > 0

    @property
    def shown_state(self) -> str:
        """The cache's state; `stale` if it is ready but its watch of etcd is behind."""
        return "stale" if self.stale else self.cache.state

    def lag(self, head: int) -> int:
        """Return by how many revisions the cache is behind etcd's revision `head`."""
        return max(0, head - self.rv) if self.live else 0


class WatcherRow(Struct, frozen=True, eq=False, gc=False):
    """One WATCH: how it began, its last state, how it ended."""

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


class Head(Struct, frozen=True, gc=False):
    """etcd's current revision, its compacted revision, and the size and used bytes of its database."""

    revision: int = 0
    compact: int = 0
    db_bytes: int = 0
    in_use_bytes: int = 0
    histories: int = 0


class Rewind(Struct, frozen=True, gc=False):
    """When (Unix seconds) etcd's history was replaced, and the revisions `before` and `after`."""

    at: float
    before: int
    after: int


class Badge(Struct, frozen=True):
    """How a route is shown: a letter (meaning never depends on colour alone), a style, a word."""

    letter: str
    style: str
    word: str

    @property
    def run(self) -> tuple[str, str]:
        return self.letter, self.style

    @property
    def short(self) -> str:
        """The word for legends: `cache` for `watch cache`, `wait` for `waiting`."""
        return self.word.rpartition(" ")[2].removesuffix("ing")


CACHE = Badge("C", "bold $route-cache", "watch cache")
SNAPSHOT = Badge("S", "bold $route-snapshot", "cache snapshot")
ETCD = Badge("E", "bold $route-etcd", "etcd")
WAITING = Badge("W", "bold $route-wait", "waiting")
ERROR = Badge("!", "bold $route-error", "error")
PENDING = Badge("·", "$ink-muted", "not routed yet")
OTHER = Badge("–", "$ink-muted", "no storage access")

_BY_ROUTE = {
    "cache": CACHE, "cache_snapshot": SNAPSHOT, "etcd": ETCD, "cache,etcd": ETCD, "none": OTHER, "": PENDING,
}  # fmt: skip
LEGEND = (CACHE, SNAPSHOT, ETCD, WAITING, ERROR)


def badge_of_route(route: str) -> Badge:
    """Return the badge of a route, named as in telemetry and in `X-Ktui-Route`."""
    return _BY_ROUTE.get(route, PENDING)


def letter_of(route: str, unknown: str = "?") -> str:
    """Return the badge letter `C`, `S` or `E`, `!` for a refused request, `unknown` without a route."""
    if route == "none":
        return ERROR.letter
    return _BY_ROUTE[route].letter if route and route in _BY_ROUTE else unknown


def badge_of(row: RequestRow) -> Badge:
    """Return a request's badge: an error or a wait takes precedence over the route."""
    if row.failed:
        return ERROR
    if row.waiting:
        return WAITING
    return badge_of_route(row.route)
