"""Groups of logged requests: of one client and shape, or slow etcd requests of one range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ktui.audit.client import Client
from ktui.audit.formats.record import LoggedRequest, SlowRequest, Spent
from ktui.audit.observed import SlowRequests, source_of
from ktui.audit.traced import TracedRequests, numbers_of
from ktui.core.ranking.histogram import LatencyHistogram
from ktui.core.ranking.shape import RequestShape


class AuditGroupKey(NamedTuple):
    """`query` is False if the log leaves out query strings: the shape is that of the path alone."""

    client: Client
    shape: RequestShape
    query: bool = True


class AuditGroup:
    """The logged requests of one client and shape. `example` is the URI of the first one.

    `index` is the group's number in the Tally's journal.
    """

    __slots__ = (
        "codes", "done", "example", "index", "init", "key", "seats_count", "seats_max", "seats_total",
        "slow", "started", "took", "traced",
    )  # fmt: skip

    def __init__(self, key: AuditGroupKey, example: str, index: int = -1) -> None:
        self.key = key
        self.example = example
        self.index = index
        self.done = self.started = 0
        self.took = LatencyHistogram()
        self.init = LatencyHistogram()
        self.codes: dict[int, int] = {}
        self.seats_total = self.seats_count = self.seats_max = 0
        self.slow: SlowRequests | None = None
        self.traced: TracedRequests | None = None

    def add(self, request: LoggedRequest) -> None:
        if not request.done:
            self.started += 1
            self._learn(request)
            return
        self.done += 1
        if request.took >= 0:
            self.took.add(request.took)
        if 400 <= (code := request.code) <= 999:
            self.codes[code] = self.codes.get(code, 0) + 1
        self._learn(request)
        if request.spent is not None:
            self.slow = self.slow or SlowRequests()
            self.slow.add(request.spent, source_of(request.spent, self.key.shape, request.code))

    def _learn(self, request: LoggedRequest) -> None:
        if request.init >= 0 or request.seats >= 0:
            self.add_seats(request.seats, request.init)
        if request.traced is not None:
            self.add_traced(numbers_of(request.traced))

    def add_traced(self, numbers: Sequence[int]) -> None:
        """Add what a trace says of one request."""
        self.traced = self.traced or TracedRequests()
        self.traced.add(numbers)

    def weigh(self, took: int, code: int, times: int) -> None:
        """Count a request that stands for others, as a sampled trace does, `times` more."""
        self.done += times
        self.took.add(took, times)
        if 400 <= code <= 999:
            self.codes[code] = self.codes.get(code, 0) + times

    def add_seats(self, seats: int, init: int) -> None:
        """Add seats and initial latency of one request, -1 if unknown."""
        if init >= 0:
            self.init.add(init)
        if seats >= 0:
            self.seats_count += 1
            self.seats_total += seats
            self.seats_max = max(self.seats_max, seats)

    def remove_seats(self, seats: int, init: int) -> None:
        if init >= 0:
            self.init.remove(init)
        if seats >= 0:
            self.seats_count -= 1
            self.seats_total -= seats

    def remove(self, took: int, code: int, spent: Spent | None) -> None:
        """Remove a finished request that is counted elsewhere."""
        self.done -= 1
        if took >= 0:
            self.took.remove(took)
        if 400 <= code <= 999:
            self.codes[code] -= 1
            if not self.codes[code]:
                del self.codes[code]
        if spent is not None and self.slow is not None:
            self.slow.add(spent, source_of(spent, self.key.shape, code), -1)

    def merge(self, other: AuditGroup) -> None:
        self.done += other.done
        self.started += other.started
        self.took.merge(other.took)
        self.init.merge(other.init)
        for code, count in other.codes.items():
            self.codes[code] = self.codes.get(code, 0) + count
        self.seats_total += other.seats_total
        self.seats_count += other.seats_count
        self.seats_max = max(self.seats_max, other.seats_max)
        if other.slow is not None:
            self.slow = self.slow or SlowRequests()
            self.slow.merge(other.slow)
        if other.traced is not None:
            self.traced = self.traced or TracedRequests()
            self.traced.merge(other.traced)

    def copy(self) -> AuditGroup:
        made = AuditGroup(self.key, self.example, self.index)
        made.merge(self)
        return made

    @property
    def count(self) -> int:
        """The number of requests; the log may have the start of a WATCH, its end, or both."""
        return max(self.done, self.started)

    @property
    def cost(self) -> int:
        """Microseconds of all requests together; of a WATCH only until it was live, if logged."""
        return self.init.total if self.key.shape.verb == "watch" else self.took.total


class RangeKey(NamedTuple):
    """`source` and `what` as in SlowRequest. `scope`: `all`, `namespace`, `key`, or "" for a write.

    `resource` is an id, or the start of the key if the resource is unknown. `later`: a further
    page; `pinned`: read at a given revision.
    """

    source: str
    what: str
    resource: str
    scope: str
    limit: int
    later: bool
    pinned: bool


class SlowGroup:
    """Slow etcd requests of one kind. `keys` and `size` are the maxima, -1 if never logged."""

    __slots__ = ("example", "failed", "key", "keys", "size", "took")

    def __init__(self, key: RangeKey, example: str) -> None:
        self.key = key
        self.example = example
        self.took = LatencyHistogram()
        self.keys = self.size = -1
        self.failed = 0

    def add(self, slow: SlowRequest) -> None:
        self.took.add(slow.took)
        self.keys = max(self.keys, slow.keys)
        self.size = max(self.size, slow.size)
        self.failed += slow.failed

    def merge(self, other: SlowGroup) -> None:
        self.took.merge(other.took)
        self.keys = max(self.keys, other.keys)
        self.size = max(self.size, other.size)
        self.failed += other.failed

    @property
    def count(self) -> int:
        return self.took.count

    @property
    def cost(self) -> int:
        return self.took.total
