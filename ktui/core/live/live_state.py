"""The last minutes of a scraped kube-apiserver, by replica. Events supply the time, no clock is read."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ktui.contract.events.live import (
    CacheProbe,
    FlowConfig,
    LevelScrape,
    LevelsDump,
    LiveServer,
    LiveStatus,
    ReplicaDown,
    ReplicaScrape,
    RequestsDump,
    ResourceAsked,
    ResourceScrape,
    RunningRequest,
)
from ktui.core.live.resource_routes import ResourceRoutes, summed_routes
from ktui.core.live.window import ListHistory, ReplicaRow, Scrape, ScrapeSeries

A_FRAME = 100  # series of one replica that are summed per frame: 2 ms


class Sums(msgspec.Struct):
    """Sums by resource, window and replicas, kept until the next scrape, and lists derived from them by key.

    `kept` has the times of the scrapes that each sum was made from. Screens spread the work over frames.
    """

    kept: dict[Any, tuple[tuple[float, ...], ResourceRoutes]] = msgspec.field(default_factory=dict)
    lists: dict[Any, tuple[tuple[int, int], Any]] = msgspec.field(default_factory=dict)
    waiting: dict[Any, tuple[str, list[ReplicaRow], float | None]] = msgspec.field(default_factory=dict)
    in_frames: bool = False  # True: requested sums are made in the next frames instead of at once
    made: int = 0

    def begin_frame(self, most: int) -> bool:
        """Make waiting sums of about `most` series in total. Return True if they are to be shown now:
        they include the first sum of their key, or no sum waits any more.
        """
        self.in_frames = True
        show = False
        while self.waiting and most > 0:
            key = next(iter(self.waiting))
            resource, rows, seconds = self.waiting.pop(key)
            show = show or key not in self.kept or not self.waiting
            self._make(key, resource, rows, seconds)
            most -= len(rows)
        return show

    def of(self, resource: str, rows: list[ReplicaRow], seconds: float | None) -> ResourceRoutes | None:
        """Return the sum of the last scrapes. With `in_frames` return the previous sum until the new one
        is made, None if there is no previous one.
        """
        key = (resource, seconds, *(row.name for row in rows))
        found = self.kept.get(key)
        if found is not None and found[0] == _scrapes(resource, rows):
            return found[1]
        if not self.in_frames:
            return self._make(key, resource, rows, seconds)
        self.waiting.setdefault(key, (resource, rows, seconds))
        return found[1] if found is not None else None

    def _make(self, key: Any, resource: str, rows: list[ReplicaRow], seconds: float | None) -> ResourceRoutes:
        self.made += 1
        routes = summed_routes(resource, rows, seconds)
        self.kept[key] = _scrapes(resource, rows), routes
        return routes

    def listed(self, key: Any, touched: int, make: Callable[[], Any], whole: bool = False) -> Any:
        """Return the cached result of `make`. It is made again after another event or sum; with `whole` only
        once no sum waits.
        """
        found = self.lists.get(key)
        if found is None or (found[0] != (touched, self.made) and not (whole and self.waiting)):
            listed = make()
            found = self.lists[key] = ((touched, self.made), listed)
        return found[1]

    def clear(self) -> None:
        """Drop everything: the set of replicas has changed."""
        self.kept.clear()
        self.waiting.clear()
        self.lists.clear()


def _scrapes(resource: str, rows: list[ReplicaRow]) -> tuple[float, ...]:
    return tuple([row.resources[resource].last.at for row in rows])


MOST_REPLICAS = 32  # each restart is a new replica; those scraped longest ago are dropped
KEPT_DUMPS = 120  # samples of running requests
GONE_AFTER = 3.0  # intervals without a scrape after which a replica counts as not reached

LIVE_EVENTS = (
    LiveServer, LiveStatus, ReplicaDown, ReplicaScrape, ResourceScrape, LevelScrape, RequestsDump, LevelsDump,
    FlowConfig, CacheProbe, ResourceAsked,
)  # fmt: skip


class UserRow(msgspec.Struct, frozen=True):
    """A user in a priority level: seats held and requests seen per sample, averaged over the samples kept."""

    user: str
    level: str
    seats: float
    executing: float
    queued: float
    path: str  # the most frequent one


class LiveState(msgspec.Struct):
    """What was scraped. Only `fold` writes to it."""

    server: LiveServer | None = None
    status: LiveStatus | None = None
    problems: dict[str, str] = msgspec.field(default_factory=dict)  # of additional sources, by source
    flow: FlowConfig | None = None
    asked: dict[str, ResourceAsked] = msgspec.field(default_factory=dict)  # by resource
    replicas: dict[str, ReplicaRow] = msgspec.field(default_factory=dict)
    dumps: deque[RequestsDump] = msgspec.field(default_factory=lambda: deque(maxlen=KEPT_DUMPS))
    history: ListHistory = msgspec.field(default_factory=ListHistory)
    now: float = 0.0
    touched: int = 0
    sums: Sums = msgspec.field(default_factory=Sums)  # over replicas

    def begin_frame(self) -> None:
        """Call before each frame: compute some of the sums that screens requested."""
        self.touched += self.sums.begin_frame(A_FRAME)

    @property
    def problem(self) -> str:
        """Why no new figures arrive; "" while they do."""
        own = [self.status.problem] if self.status is not None and self.status.problem else []
        return "; ".join([*own, *(f"{source}: {text}" for source, text in self.problems.items() if text)])

    @property
    def present(self) -> list[ReplicaRow]:
        """The replicas with a recent scrape, in the order of their first scrape."""
        interval = self.status.interval if self.status is not None else 0.0
        oldest = self.now - GONE_AFTER * interval if interval else 0.0
        return [row for row in self.replicas.values() if row.down is None and row.scrape.at >= oldest]

    def covered(self, seconds: float | None = None) -> float:
        """Return how many of the last `seconds` (None: all) rates cover; 0 before a second scrape."""
        found = [row.scrapes.ends(seconds) for row in self.replicas.values() if row.scrapes.points]
        return max((last.at - first.at for first, last in found), default=0.0)

    @property
    def resources(self) -> list[str]:
        return sorted({name for row in self.replicas.values() for name in row.resources})

    @property
    def levels(self) -> list[str]:
        return sorted({name for row in self.replicas.values() for name in row.levels})

    def running(self) -> Iterator[tuple[str, RunningRequest]]:
        """Yield (replica, request) for the requests of each present replica's newest sample."""
        for row in self.present:
            for request in row.dump.requests if row.dump is not None else ():
                yield row.name, request

    def users(self) -> list[UserRow]:
        """Return the users who held seats or waited, most seats first."""
        seen: dict[tuple[str, str], list[RunningRequest]] = {}
        for dump in self.dumps:
            for request in dump.requests:
                seen.setdefault((request.user, request.level), []).append(request)
        samples = max(1, len(self.dumps) / max(1, len({dump.replica for dump in self.dumps})))
        rows = []
        for key, found in seen.items():
            seats = [request.seats for request in found if not request.queued]
            queued = len(found) - len(seats)
            path = Counter(request.path for request in found).most_common(1)[0][0]
            rows.append(UserRow(*key, sum(seats) / samples, len(seats) / samples, queued / samples, path))
        return sorted(rows, key=lambda row: (-row.seats, -row.queued, row.user))


def fold(live: LiveState, event: Any) -> None:
    """Apply one of the events of contract/events/live.py to the state."""
    live.now = max(live.now, event.at)
    live.touched += 1
    if isinstance(event, LiveStatus):
        if event.source:
            live.problems[event.source] = event.problem
        else:
            live.status = event
    elif isinstance(event, LiveServer):
        live.server = event
    elif isinstance(event, ResourceAsked):
        live.asked[event.resource] = event
    elif isinstance(event, FlowConfig):
        live.flow = event
    elif isinstance(event, (RequestsDump, LevelsDump, CacheProbe, ReplicaDown)):
        _fold_sample(live, event)
    elif isinstance(event, ReplicaScrape):
        _fold_replica(live, event)
    else:
        row = live.replicas.get(event.replica)
        if row is None:  # its ReplicaScrape follows
            row = _add_replica(live, ReplicaScrape(at=event.at, replica=event.replica))
        series = row.resources if isinstance(event, ResourceScrape) else row.levels
        name = event.resource if isinstance(event, ResourceScrape) else event.level
        if name not in series:
            series[name] = ScrapeSeries()
            if row.scrape.at < event.at:  # metrics of a resource or level begin with its first request
                _add_scrape(live, row, series[name], _before_first(event, row.scrape.at))
        _add_scrape(live, row, series[name], event)


def _add_scrape(live: LiveState, row: ReplicaRow, series: ScrapeSeries, scrape: Scrape) -> None:
    if isinstance(scrape, ResourceScrape):
        before = series.last if series.points else None
        scrape = series.reads.add(before, scrape, row.minor)
        if before is not None:
            live.history.add(before, scrape)
    series.add(scrape)


def _fold_replica(live: LiveState, event: ReplicaScrape) -> None:
    row = live.replicas.get(event.replica) or _add_replica(live, event)
    row.scrape, row.down = event, None
    row.scrapes.add(event)
    for level in row.levels.values():  # ktui's own server reports only those that have changed
        if level.last.at < event.at:
            level.add(msgspec.structs.replace(level.last, at=event.at))


def _add_replica(live: LiveState, scrape: ReplicaScrape) -> ReplicaRow:
    live.sums.clear()
    while len(live.replicas) >= MOST_REPLICAS:
        del live.replicas[min(live.replicas, key=lambda name: live.replicas[name].scrape.at)]
    row = live.replicas[scrape.replica] = ReplicaRow(scrape)
    return row


def _fold_sample(live: LiveState, event: RequestsDump | LevelsDump | CacheProbe | ReplicaDown) -> None:
    row = live.replicas.get(event.replica)
    if isinstance(event, RequestsDump):
        live.dumps.append(event)
    if row is None:
        return
    if isinstance(event, RequestsDump):
        row.dump, row.down = event, None
    elif isinstance(event, LevelsDump):
        row.levels_dump = event
    elif isinstance(event, ReplicaDown):
        row.down = row.down or event
    else:
        row.probes[event.resource] = event


def fold_all(live: LiveState, events: Iterable[Any]) -> None:
    for event in events:
        if isinstance(event, LIVE_EVENTS):
            fold(live, event)


def _before_first(scrape: Scrape, at: float) -> Scrape:
    """Return `scrape` with all counters 0, dated `at`: the time of the previous scrape."""
    counters = scrape.counters
    zero: dict[str, Any] = {
        name: 0 for name in counters.__struct_fields__ if isinstance(getattr(counters, name), (int, float))
    }
    return msgspec.structs.replace(scrape, at=at, counters=type(counters)(**zero))


def routes_of(live: LiveState, resource: str, seconds: float | None = None) -> ResourceRoutes | None:
    """Return a resource's routes over the last `seconds` (None: everything kept).

    None if no replica reports the resource, or if its first sum is made in one of the next frames.
    """
    rows = [row for row in live.replicas.values() if resource in row.resources]
    return live.sums.of(resource, rows, seconds) if rows else None


def all_routes(live: LiveState, seconds: float | None = None) -> list[ResourceRoutes]:
    """Return the routes of every resource, first the one whose LISTs read most objects."""

    def make() -> list[ResourceRoutes]:
        found = [routes_of(live, resource, seconds) for resource in live.resources if resource]
        rows = [row for row in found if row is not None]
        return sorted(rows, key=lambda row: (-(row.fetched or 0), -(row.lists or 0), row.resource))

    listed: list[ResourceRoutes] = live.sums.listed(("routes", seconds), live.touched, make)
    return listed
