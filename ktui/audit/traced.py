"""What traces say of a group's requests: their observed routes, objects, and the time of the stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ktui.traces.spans import TracedRequest

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
    """Sums over the traced requests of a group. `told`: how many tell each count."""

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
