"""Where slow requests were served from and where their time went, as the apiserver measured it.

Two measurements prove that objects were read from etcd: the time of decoding them (1.30+), and, for
requests that never read etcd's current revision, any time in etcd. Time in etcd alone proves nothing of
other LISTs: reading the revision (one key) takes long too if etcd is slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ktui.audit.formats.record import Spent
from ktui.core.ranking.shape import RequestShape
from ktui.traces.spans import TracedRequest

SOURCES = ("cache", "etcd", "fallback", "revision")
"""`fallback`: from etcd, after waiting for the cache. `revision`: a short or empty read of etcd, that of the
current revision or (up to 1.29, which does not measure decoding) that of the objects."""
_LATE = 3_000_000  # microseconds that a consistent read waits for its cache
_FASTER = 50  # etcd and the apiserver's decoder are not that much faster than its encoder

PARTS = ("queue", "etcd", "encode", "write", "other")


def source_of(spent: Spent, shape: RequestShape, code: int = 200) -> str:
    """Return one of SOURCES; "" if the log does not measure etcd (httplog), or the request failed."""
    if spent.proven >= 0:
        return SOURCES[spent.proven]
    if spent.etcd < 0 or code >= 400:
        return ""
    probing = shape.verb != "get" and shape.resource_version == "unset"
    if spent.decode:
        parts = spent.queue + spent.etcd + spent.encode + spent.write + spent.other
        return "fallback" if probing and spent.total - parts >= _LATE else "etcd"
    if not probing:
        return "etcd" if spent.etcd else "cache"
    return "cache" if spent.etcd and spent.encode >= _FASTER * spent.etcd else "revision"


class SlowRequests:
    """The requests of a group that took more than 500 ms: their number by source, microseconds by part."""

    __slots__ = ("count", "encode", "etcd", "other", "queue", "sources", "total", "write")
    SOURCES: ClassVar[tuple[str, ...]] = SOURCES

    def __init__(self) -> None:
        self.count = self.total = 0
        self.queue = self.etcd = self.encode = self.write = self.other = 0
        self.sources = dict.fromkeys(self.SOURCES, 0)

    def add(self, spent: Spent, source: str, times: int = 1) -> None:
        """Add one request; `times` -1 removes it. `source` as from `source_of`."""
        self.count += times
        self.total += times * spent.total
        self.queue += times * spent.queue
        self.etcd += times * max(0, spent.etcd)
        self.encode += times * spent.encode
        self.write += times * spent.write
        self.other += times * spent.other
        if source:
            self.sources[source] += times

    def merge(self, other: SlowRequests) -> None:
        self.count += other.count
        self.total += other.total
        for part in PARTS:
            setattr(self, part, getattr(self, part) + getattr(other, part))
        for source, count in other.sources.items():
            self.sources[source] += count


STAGES = ("flow control", "probe", "wait", "list", "etcd", "encode", "send")
ROUTES = ("cache", "etcd", "none", "")
_COUNTS = ("scanned", "returned", "body", "probes")
WIDTH = 2 + len(_COUNTS) + len(STAGES)
"""Numbers of one request: its route, whether it fell back, counts (-1: not told), microseconds by stage."""


def numbers_of(request: TracedRequest) -> tuple[int, ...]:
    """Return what is added up of a request, as whole numbers."""
    return (
        ROUTES.index(request.route) if request.route in ROUTES else len(ROUTES) - 1,
        int(bool(request.fallback)),
        request.scanned,
        request.returned,
        request.body,
        request.probes,
        *(round(request.stages.get(stage, 0.0) * 1000) for stage in STAGES),
    )


class TracedRequests:
    """What traces say of a group's requests: sums of their observed routes, objects, and times of the stages.

    `told`: how many tell each count.
    """

    __slots__ = ("count", "fallback", "routes", "stages", "sums", "told")
    NUMBERS: ClassVar[int] = 2 + len(ROUTES) + 2 * len(_COUNTS) + len(STAGES)

    def __init__(self) -> None:
        self.count = self.fallback = 0
        self.routes = [0] * len(ROUTES)
        self.sums = [0] * len(_COUNTS)
        self.told = [0] * len(_COUNTS)
        self.stages = [0] * len(STAGES)

    def add(self, numbers: Sequence[int], times: int = 1) -> None:
        """Add a request as `numbers_of` returns it; `times` -1 removes it."""
        route, fallback, *rest = numbers
        self.count += times
        self.routes[route] += times
        self.fallback += times * fallback
        for place, number in enumerate(rest[: len(_COUNTS)]):
            if number >= 0:
                self.sums[place] += times * number
                self.told[place] += times
        for place, micros in enumerate(rest[len(_COUNTS) :]):
            self.stages[place] += times * micros

    def merge(self, other: TracedRequests) -> None:
        self.load([mine + its for mine, its in zip(self.numbers(), other.numbers(), strict=True)])

    def numbers(self) -> list[int]:
        return [self.count, self.fallback, *self.routes, *self.sums, *self.told, *self.stages]

    def load(self, numbers: Sequence[int]) -> None:
        """Take the sums that `numbers` returned."""
        rest = iter(numbers)
        self.count, self.fallback = next(rest), next(rest)
        for field in (self.routes, self.sums, self.told, self.stages):
            field[:] = [next(rest) for _ in field]

    def of_route(self, route: str) -> int:
        return self.routes[ROUTES.index(route)]

    def total(self, name: str) -> int | None:
        """Return `scanned`, `returned`, `body` or `probes` of all requests; None if none tells it."""
        place = _COUNTS.index(name)
        return self.sums[place] if self.told[place] else None
