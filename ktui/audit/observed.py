"""Where slow requests were served from and where their time went, as the apiserver measured it.

Two measurements prove that objects were read from etcd: the time of decoding them (1.30+), and, for
requests that never read etcd's current revision, any time in etcd. Time in etcd alone proves nothing of
other LISTs: reading the revision (one key) takes long too if etcd is slow.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import msgspec

from ktui.audit.formats.log_record import Spent
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


class SlowRequests(msgspec.Struct, array_like=True, gc=False):
    """The requests of a group that took more than 500 ms: their number by source, microseconds by part."""

    count: int = 0
    total: int = 0
    queue: int = 0
    etcd: int = 0
    encode: int = 0
    write: int = 0
    other: int = 0
    sources: dict[str, int] = msgspec.field(default_factory=lambda: dict.fromkeys(SOURCES, 0))

    def add(self, spent: Spent, source: str, times: int = 1) -> None:
        """Add one request; `times` -1 removes it. `source` as from `source_of`."""
        self.count += times
        self.total += times * spent.total
        for part in PARTS:  # etcd is -1 if it was not measured
            setattr(self, part, getattr(self, part) + times * max(0, getattr(spent, part)))
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


class TracedRequests(msgspec.Struct, array_like=True, gc=False):
    """What traces say of a group's requests, as sums; `told`: how many tell each count."""

    count: int = 0
    fallback: int = 0
    routes: list[int] = msgspec.field(default_factory=lambda: [0] * len(ROUTES))
    sums: list[int] = msgspec.field(default_factory=lambda: [0] * len(_COUNTS))
    told: list[int] = msgspec.field(default_factory=lambda: [0] * len(_COUNTS))
    stages: list[int] = msgspec.field(default_factory=lambda: [0] * len(STAGES))

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
        self.count += other.count
        self.fallback += other.fallback
        for mine, its in zip(self._lists, other._lists, strict=True):
            mine[:] = map(operator.add, mine, its)

    @property
    def _lists(self) -> tuple[list[int], ...]:
        return self.routes, self.sums, self.told, self.stages

    @property
    def sound(self) -> bool:
        """True if each list has its length, which data from a file may lack."""
        return tuple(map(len, self._lists)) == (len(ROUTES), len(_COUNTS), len(_COUNTS), len(STAGES))

    def of_route(self, route: str) -> int:
        return self.routes[ROUTES.index(route)]

    def total(self, name: str) -> int | None:
        """Return `scanned`, `returned`, `body` or `probes` of all requests; None if none tells it."""
        place = _COUNTS.index(name)
        return self.sums[place] if self.told[place] else None
