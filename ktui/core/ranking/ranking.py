"""Reads grouped by client and shape: what each group has cost the control plane so far.

The shape is the audit's: everything that routing depends on, nothing that differs from one
call to the next. The number of groups is bounded; folded groups are counted in `others`.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ktui.contract.events import Cost, RequestFinished, WatcherState, figures
from ktui.core.access_patterns import OWN_AGENT
from ktui.core.format import duration, integer, long_bytes, short_count
from ktui.core.ranking.sketches import LatencyHistogram, TopGroups
from ktui.core.traffic import Rate

if TYPE_CHECKING:
    from ktui.core.ranking.shape import RequestShape
    from ktui.core.rows import RequestRow, WatcherRow


class GroupKey(NamedTuple):
    """`client`: as the log names it, the user agent's first word without its version."""

    client: str
    shape: RequestShape


class TotalCost(Cost, kw_only=True):
    """The total cost of `count` requests."""

    count: int = 0
    seat_seconds: float = 0.0

    def merge(self, other: TotalCost) -> None:
        for name in TotalCost.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def since(self, before: TotalCost) -> TotalCost:
        """Return the difference to `before`."""
        more = TotalCost()
        for name in TotalCost.__struct_fields__:
            setattr(more, name, getattr(self, name) - getattr(before, name))
        return more


def by_answer(event: RequestFinished) -> TotalCost:
    return TotalCost(*figures(event), count=1, seat_seconds=event.seat_seconds)


def by_watch(state: WatcherState, seats: int) -> TotalCost:
    """Return the cost of a WATCH so far, with the figures that its `RequestFinished` will have.

    A WATCH is not gzipped, so the bytes sent are the bytes encoded.
    """
    spent = TotalCost(*figures(state), count=1, seat_seconds=seats * state.initial_ms / 1000.0)
    spent.returned, spent.encoded_bytes, spent.sent_bytes = state.delivered, state.bytes, state.bytes
    return spent


@dataclass(slots=True)
class RankedWatch:
    """One open WATCH. `counted` is the cost that its group already includes."""

    key: GroupKey
    row: RequestRow
    letter: str
    counted: TotalCost = field(default_factory=TotalCost)
    timed: bool = False  # True once the time until it was live is counted
    events: int = 0  # sent up to its last report, without the initial ones; and their bytes
    bytes: int = 0

    def grown_to(self, spent: TotalCost) -> TotalCost:
        """Return the growth since the last call; `spent` is the cost so far."""
        more, self.counted = spent.since(self.counted), spent
        return more


class Flow:
    """Events and bytes sent to the WATCHes of a group after they were live."""

    def __init__(self) -> None:
        self.opened: dict[int, float] = {}  # opening time (Unix seconds) by request id
        self._events = 0
        self._bytes = 0
        self._event_rate = Rate()
        self._byte_rate = Rate()

    def add(self, at: float, events: int, size: int) -> None:
        """Add events and bytes; readings within one second count as one, however many WATCHes there are."""
        self._events += events
        self._bytes += size
        self._event_rate.add(float(int(at)), self._events)
        self._byte_rate.add(float(int(at)), self._bytes)

    def open_at(self, now: float) -> Open | None:
        """Return the open WATCHes at the time `now`; None if none is open."""
        if not self.opened:
            return None
        return Open(
            count=len(self.opened),
            seconds=int(max(0.0, now - min(self.opened.values()))),
            events=round(self._event_rate.per_second(now), 1),
            bytes=round(self._byte_rate.per_second(now)),
        )


class Open(Struct, frozen=True):
    """The open WATCHes of a group: how many, the age of the oldest, and their rate."""

    count: int
    seconds: int
    events: float
    bytes: int

    @property
    def age(self) -> str:
        return f"{self.seconds}s" if self.seconds < 10 else duration(self.seconds)

    @property
    def speed(self) -> str:
        """`12 ev/s`, `0.4 ev/s`."""
        return f"{self.events:.1f} ev/s" if 0 < self.events < 9.95 else f"{short_count(self.events)} ev/s"

    def words(self) -> str:
        """`open for 3m, 12 ev/s`, `60 open for up to 3m, 12 ev/s`."""
        many = f"{integer(self.count)} open for up to" if self.count > 1 else "open for"
        return f"{many} {self.age}, {self.speed}"

    def size_words(self) -> str:
        """`1.2 kB/s`."""
        return f"{long_bytes(self.bytes)}/s"


MOST_GROUPS = 512
MOST_NAMESPACES, OTHER_NAMESPACES = 512, "…others"  # the latter is not a name that Kubernetes allows
REFUSED = (404, 429)
KEPT_IDS = 1_000  # requests whose ids a group keeps
_MINUTE, _PART = 60, 5  # seconds; a minute is counted in such parts
MOST_FIRST_PAGES = 1_024
_FOLLOWING = ("at revision", "at latest")


class Group:
    """All answered requests of one client in one shape, and its open WATCHes. `example` is the newest."""

    def __init__(self, key: GroupKey, example: RequestRow) -> None:
        self.key = key
        self.example = example
        self.spent = TotalCost()
        self.flow = Flow()
        self.took = LatencyHistogram()  # a WATCH: until it was live
        self.routes: Counter[str] = Counter()  # by badge letter
        self.ids: deque[int] = deque(maxlen=KEPT_IDS)
        self.first_at = example.at
        self._parts: deque[tuple[int, int]] = deque(maxlen=_MINUTE // _PART + 1)

    @property
    def count(self) -> int:
        return self.spent.count

    @property
    def observed(self) -> bool:
        """True if its requests are known from traces, which do not count the bytes processed."""
        done = self.example.finished
        return done is not None and bool(done.untold)

    @property
    def cost(self) -> int:
        """Bytes processed, in traces microseconds: decides which groups are kept, and their order."""
        return self.took.total if self.observed else self.spent.processed_bytes

    @property
    def failed(self) -> int:
        return self.routes["!"]

    def begin(self, row: RequestRow, letter: str) -> None:
        """Count one more request: an answered one, or a WATCH that has opened."""
        self.example = row
        self.routes[letter] += 1
        self.ids.append(row.id)
        part = int(row.at) // _PART
        before = self._parts.pop() if self._parts and self._parts[-1][0] == part else (part, 0)
        self._parts.append((part, before[1] + 1))

    def timed(self, ms: float) -> None:
        """Record a request's duration in ms; for a WATCH the time until it was live."""
        self.took.add(round(ms * 1000))

    def last_minute(self, now: float) -> int:
        """Return the number of requests in the last minute, to within five seconds."""
        oldest = (int(now) - _MINUTE) // _PART
        return sum(count for part, count in self._parts if part > oldest)

    def milliseconds(self, share: float) -> float:
        """Return the duration in ms that `share` of the requests did not exceed (within 2.2 %)."""
        micros = self.took.max if share >= 1.0 else self.took.percentile(share)
        return micros / 1000


class FoldedGroups(Struct):
    """The sum of the groups that were dropped from the ranking."""

    groups: int = 0
    spent: TotalCost = msgspec.field(default_factory=TotalCost)

    def fold(self, group: Group) -> None:
        self.groups += 1
        self.spent.merge(group.spent)


class Ranking:
    """Cost by client and shape since the dashboard was connected.

    A WATCH counts while it is open, from the server's report each second; its end adds only the rest.
    A WATCH that was open before the dashboard started counts in full.
    """

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self.others = FoldedGroups()
        self.total = TotalCost()
        self.since = 0.0  # Unix seconds of the first request
        self._groups: TopGroups[GroupKey, Group] = TopGroups(most, self.others.fold)
        self._open: dict[int, RankedWatch] = {}  # by request
        self._first_pages: dict[GroupKey, GroupKey] = {}  # by the key without the revision
        self.namespaces: dict[str, TotalCost] = {}  # by name, "" for reads of all namespaces

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, row: RequestRow, event: RequestFinished, letter: str) -> None:
        """Count an answered read; `letter` is its badge.

        Not counted: requests for no stored resource, ktui's own, and groups of which every request was
        refused before anything was read (a cache that is being filled, a resource that does not exist).
        """
        if row.id in self._open:
            self.watch_ended(event, row, letter)
            return
        key, refused = self._key_of(row), event.status in REFUSED and not event.processed_bytes
        if key is None or (refused and self._groups.get(key) is None):
            return
        group = self._count_request(key, row, letter)
        group.timed(event.initial_ms if row.started.verb == "WATCH" else event.ms)
        self._spend(group, by_answer(event), row)

    def watch_reported(self, row: RequestRow | None, watcher: WatcherRow, letter: str) -> None:
        """Update the cost of an open WATCH; `row` is its request, None if it was dropped from the log."""
        state, watch = watcher.state, self._open.get(watcher.id)
        if watch is None and row is not None and (key := self._key_of(row)) is not None:
            self._count_request(key, row, letter)
            watch = self._open[row.id] = RankedWatch(key, row, letter)
        if watch is None or state is None:
            return
        group = self._group_of(watch.key, watch.row)
        self._spend(group, watch.grown_to(by_watch(state, watcher.opened.seats)), watch.row)
        if state.live and not watch.timed:
            watch.timed = True
            group.timed(state.initial_ms)
        group.flow.opened[watcher.id] = watcher.opened.at
        events, size = state.delivered - state.initial, state.bytes - state.initial_bytes
        group.flow.add(state.at, events - watch.events, size - watch.bytes)
        watch.events, watch.bytes = events, size

    def watch_closed(self, request: int) -> None:
        """Count a WATCH as closed. Its total cost follows with its RequestFinished."""
        watch = self._open.get(request)
        group = self._groups.get(watch.key) if watch is not None else None
        if group is not None:
            group.flow.opened.pop(request, None)

    def watch_ended(self, event: RequestFinished, row: RequestRow | None = None, letter: str = "") -> None:
        """Add the cost of a WATCH since its last report. No effect for a request that is no open WATCH."""
        watch = self._open.pop(event.id, None)
        if watch is None:
            return
        group, row, letter = self._group_of(watch.key, watch.row), row or watch.row, letter or watch.letter
        group.flow.opened.pop(row.id, None)
        if group.example.id == row.id:
            group.example = row
        if letter != watch.letter:
            group.routes = group.routes - Counter((watch.letter,)) + Counter((letter,))
        if not watch.timed:
            group.timed(event.initial_ms)
        self._spend(group, watch.grown_to(by_answer(event)), watch.row)

    def group(self, key: GroupKey) -> Group | None:
        return self._groups.get(key)

    def ranked(self) -> list[Group]:
        """Return the groups, most expensive first: by bytes processed (traces: by time), then by count."""
        return sorted(self._groups, key=lambda group: (-group.cost, -group.count, group.first_at))

    def _key_of(self, row: RequestRow) -> GroupKey | None:
        """Return the request's key; None if it reads no stored resource or is ktui's own.

        All pages of a LIST have the key of its first page.
        """
        if row.started.user_agent.startswith(OWN_AGENT):
            return None
        from ktui.core.ranking.shape import shape_of_uri  # the rules: not before the first frame

        shape = shape_of_uri(row.target)
        if shape is None:
            return None
        key = GroupKey(row.started.client, shape)
        if shape.verb != "list" or not (shape.limit or shape.continued):
            return key
        # Only the first page has a resourceVersion, the others have a token.
        common = GroupKey(key.client, replace(shape, continued="", resource_version="unset", match=""))
        if shape.continued in _FOLLOWING:
            return self._first_pages.get(common, common)
        if len(self._first_pages) >= MOST_FIRST_PAGES:
            self._first_pages.clear()
        self._first_pages[common] = key
        return key

    def _count_request(self, key: GroupKey, row: RequestRow, letter: str) -> Group:
        self.since = self.since or row.at
        group = self._group_of(key, row)
        group.begin(row, letter)
        return group

    def _group_of(self, key: GroupKey, row: RequestRow) -> Group:
        return self._groups.get(key) or self._groups.add(key, Group(key, row))

    def _spend(self, group: Group, spent: TotalCost, row: RequestRow) -> None:
        group.spent.merge(spent)
        self.total.merge(spent)
        namespace = row.started.namespace
        if namespace not in self.namespaces and len(self.namespaces) >= MOST_NAMESPACES:
            namespace = OTHER_NAMESPACES
        self.namespaces.setdefault(namespace, TotalCost()).merge(spent)
