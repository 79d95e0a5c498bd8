"""The cost of one phase's requests, as the server counted it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ktui.contract.events import RequestFinished
from ktui.core.ranking.ranking import TotalCost, by_answer
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.core.rows import letter_of

REJECTED = 429
SHARES = (0.5, 0.95, 0.99)
NO_STORAGE = "none"


@dataclass(slots=True)
class LevelFigures:
    """The requests of one priority level: how many waited in its queues (`waits`, µs) or were rejected."""

    requests: int = 0
    rejected: int = 0
    seat_seconds: float = 0.0
    waits: LatencyHistogram = field(default_factory=LatencyHistogram)

    @property
    def queued(self) -> int:
        return self.waits.count

    def add(self, event: RequestFinished) -> None:
        self.requests += 1
        # otherwise a cache that is not ready rejected it
        self.rejected += event.status == REJECTED and not event.seats
        self.seat_seconds += event.seat_seconds
        if wait := event.phases.get("seats"):
            self.waits.add(round(wait * 1000))

    def merge(self, other: LevelFigures) -> None:
        self.requests += other.requests
        self.rejected += other.rejected
        self.seat_seconds += other.seat_seconds
        self.waits.merge(other.waits)

    def document(self, seconds: float) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "mean_seats": round(self.seat_seconds / seconds if seconds > 0 else 0.0, 3),
            "queued": self.queued,
            "queued_ms_p99": round(self.waits.percentile(0.99) / 1000.0, 3),
            "rejected": self.rejected,
        }


@dataclass(slots=True)
class LoadFigures:
    """Figures of requests. `routes` counts answers by route, `spent` adds their costs, `useful` the costs of
    those without an error, `times` has their durations.

    Watches are not in `times`, as they last as long as the client wants. `unanswered` are requests without an
    answer.
    """

    spent: TotalCost = field(default_factory=TotalCost)
    useful: TotalCost = field(default_factory=TotalCost)
    routes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    verb_routes: Counter[tuple[str, str]] = field(default_factory=Counter)
    times: LatencyHistogram = field(default_factory=LatencyHistogram)
    levels: dict[str, LevelFigures] = field(default_factory=dict)  # by priority level
    # waits until the cache was fresh enough
    waits: LatencyHistogram = field(default_factory=LatencyHistogram)
    unanswered: int = 0

    def add(
        self, verb: str, event: RequestFinished, before: TotalCost | None = None, level: str = ""
    ) -> None:
        """Count an answered request; `before` is the part of its cost that was added before."""
        if level:
            self.levels.setdefault(level, LevelFigures()).add(event)
        spent = by_answer(event)
        if before is not None:
            spent = spent.since(before)
            spent.count = 1
        self.spent.merge(spent)
        if event.status < 400:
            self.useful.merge(spent)
        self.routes[event.route or NO_STORAGE] += 1
        self.statuses[event.status] += 1
        self.verbs[verb] += 1
        self.verb_routes[verb, event.route] += 1
        if verb != "WATCH":
            self.times.add(round(event.ms * 1000))
            self.waits.add(round(event.phases.get("wait", 0.0) * 1000))

    def merge(self, other: LoadFigures) -> None:
        for name in ("spent", "useful", "times", "waits"):
            getattr(self, name).merge(getattr(other, name))
        for name in ("routes", "statuses", "verbs", "verb_routes"):
            getattr(self, name).update(getattr(other, name))
        for level, held in other.levels.items():
            self.levels.setdefault(level, LevelFigures()).merge(held)
        self.unanswered += other.unanswered

    @property
    def requests(self) -> int:
        return self.statuses.total()

    @property
    def rejected(self) -> int:
        return self.statuses[REJECTED]

    @property
    def failed(self) -> int:
        """Answers with an error other than 429, and requests without an answer."""
        return self.unanswered + sum(
            count for status, count in self.statuses.items() if status >= 400 and status != REJECTED
        )

    @property
    def letters(self) -> Counter[str]:
        """Answers by the letter of their route: C, S, E; `–` if storage was not read."""
        letters: Counter[str] = Counter()
        for route, count in self.routes.items():
            letters["–" if route == NO_STORAGE else letter_of(route)] += count
        return letters

    def milliseconds(self, share: float) -> float:
        """Return the duration (ms) that `share` of the answers did not exceed."""
        return self.times.percentile(share) / 1000.0

    def document(self, seconds: float) -> dict[str, Any]:
        spent = self.spent
        per = 1.0 / seconds if seconds > 0 else 0.0
        amplification = spent.amplification
        return {
            "requests": self.requests, "requests_per_second": round(self.requests * per, 3),
            "routes": dict(sorted(self.routes.items())), "verbs": dict(sorted(self.verbs.items())),
            "levels": {level: held.document(seconds) for level, held in sorted(self.levels.items())},
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "rejected": self.rejected, "failed": self.failed,
            "ms": {f"p{round(share * 100)}": round(self.milliseconds(share), 3) for share in SHARES},
            "wait_ms_p95": round(self.waits.percentile(0.95) / 1000.0, 3), "etcd_rpcs": spent.etcd_rpcs,
            "etcd_rpcs_per_second": round(spent.etcd_rpcs * per, 3), "etcd_keys": spent.etcd_keys,
            "etcd_bytes": spent.etcd_bytes, "etcd_bytes_per_second": round(spent.etcd_bytes * per, 1),
            "cached_bytes": spent.cached_bytes, "returned_objects": spent.returned,
            "returned_bytes": spent.encoded_bytes,
            "amplification": None if amplification is None else round(amplification, 3),
            "seat_seconds": round(spent.seat_seconds, 3), "cpu_ms": round(spent.cpu_ms, 3),
        }  # fmt: skip
