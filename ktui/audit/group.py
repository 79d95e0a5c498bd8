"""Requests of one client in one shape, and slow etcd requests of one range, counted together."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ktui.audit.client import Client
from ktui.audit.record import LoggedRequest, SlowRequest
from ktui.core.ranking.histogram import LatencyHistogram
from ktui.core.ranking.shape import RequestShape


class AuditGroupKey(NamedTuple):
    client: Client
    shape: RequestShape


class AuditGroup:
    """The logged requests of one client in one shape. `example` is the first URI."""

    __slots__ = (
        "codes", "done", "doubles", "example", "init", "key", "seats_count", "seats_max", "seats_total",
        "started", "took",
    )  # fmt: skip

    def __init__(self, key: AuditGroupKey, example: str) -> None:
        self.key = key
        self.example = example
        self.done = self.started = 0
        self.doubles = 0  # of the done, those counted by their audit Event
        self.took = LatencyHistogram()
        self.init = LatencyHistogram()
        self.codes: Counter[int] = Counter()
        self.seats_total = self.seats_count = self.seats_max = 0

    def add(self, request: LoggedRequest) -> None:
        if not request.done:
            self.started += 1
            return
        self.done += 1
        self.took.add(request.took)
        if 400 <= request.code <= 999:
            self.codes[request.code] += 1
        if request.init >= 0:
            self.init.add(request.init)
        if request.seats >= 0:
            self.seats_count += 1
            self.seats_total += request.seats
            self.seats_max = max(self.seats_max, request.seats)

    def double(self, code: int) -> None:
        """Count an httplog line whose request is counted by its audit Event."""
        self.doubles += 1
        if self.codes[code] > 1:
            self.codes[code] -= 1
        else:
            del self.codes[code]

    def learn(self, other: AuditGroup) -> None:
        """Add seats and initialisation of the same requests, from their httplog lines."""
        self.init.merge(other.init)
        self.seats_count += other.seats_count
        self.seats_total += other.seats_total
        self.seats_max = max(self.seats_max, other.seats_max)

    @property
    def count(self) -> int:
        """Each request once: a WATCH may have its start in the log, its end, or both."""
        return max(self.done - self.doubles, self.started)

    @property
    def cost(self) -> int:
        """Microseconds of the apiserver's work: of a WATCH only its start, if known."""
        if self.key.shape.verb == "watch":
            return self.init.total
        return self.took.total * (self.done - self.doubles) // self.done if self.doubles else self.took.total


class RangeKey(NamedTuple):
    """`source` and `what` as in SlowRequest. `scope`: `all`, `namespace`, `key`, or "" for a write.

    `resource` is an id, or the start of the key if the resource is unknown. `later`: not the
    first page; `pinned`: read at a concrete revision.
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

    @property
    def count(self) -> int:
        return self.took.count

    @property
    def cost(self) -> int:
        return self.took.total
